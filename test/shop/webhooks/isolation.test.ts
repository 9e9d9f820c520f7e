// A receiver that is dead, slow or overloaded does not delay deliveries to other receivers.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../../src/platform/database/port.ts';
import type { WebhookWorkerOptions } from '../../../src/shop/webhooks/worker.ts';
import { WebhookWorker } from '../../../src/shop/webhooks/worker.ts';
import type { DispatchLimits } from '../../../src/shop/webhooks/dispatcher.ts';
import { DISPATCH_LIMITS } from '../../../src/shop/webhooks/dispatcher.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';
import type { Receiver } from './fixtures.ts';
import { createId } from '../../../src/platform/core/time-ordered-id.ts';
import { insertEvents } from '../../../src/shop/queries/events.ts';
import { NOW, respondWith, makeShop, makeDispatcher, quiet, record, startReceiver, subscribe } from './fixtures.ts';
import { SecretKeys } from '../../../src/platform/core/secret-keys.ts';

const LIMIT_MS = 60_000;
/** Several times as long as the delay between a call of `nudge` and the round that the worker then starts. */
const NUDGED_MS = 150;
/** A response on this machine takes less time than this. */
const FAST_MS = 1_000;
const LIMITS: DispatchLimits = {
  sendsMax: 8,
  failingSendsMax: 4,
  perWebhookMax: 2,
  fastLeasesMax: 6,
  fastSendMs: LIMIT_MS,
  closeWaitMs: 100,
};

forOneEngine('webhook isolation', (engine) => {
  let db: Database;
  let good: Receiver;
  let hanging: Receiver;
  let shopId: string;

  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await db.query('truncate main.webhook, main.delivery, main.event cascade');
    shopId = await makeShop(db);
    good = await startReceiver();
    hanging = await startReceiver();
    hanging.respond = () => undefined;
  });
  afterEach(async () => {
    await good.close();
    await hanging.close();
  });

  test('while one receiver does not respond, all deliveries to another receiver arrive', async () => {
    await subscribe(db, { shopId, url: hanging.url });
    await subscribe(db, { shopId, url: good.url });
    for (let n = 0; n < 40; n += 1) await record(db, shopId);
    const webhooks = startWorker({ main: db, periodMs: 50 });
    try {
      await until(() => good.received.length === 40, LIMIT_MS, 'the working receiver had to wait');
      assert.ok(
        hanging.received.length <= DISPATCH_LIMITS.perWebhookMax,
        `${hanging.received.length} requests hang at the same time`,
      );
    } finally {
      await hanging.close();
      await webhooks.stop();
    }
  });

  test('a claim leases the first delivery of every webhook before the second delivery of any webhook', async () => {
    await subscribe(db, { shopId, url: `${good.url}/overloaded` });
    for (let n = 0; n < 50; n += 1) await record(db, shopId);
    // These fifty deliveries are created before the other webhooks exist. So they are due first.
    await makeDispatcher(db, { limits: { ...LIMITS, sendsMax: 0 } }).dispatch();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await subscribe(db, { shopId, url: `${good.url}/${name}`, now: NOW + 1 });
    await record(db, shopId, 'product.created', NOW + 1);
    const sendsMax = names.length + 1;
    const dispatcher = makeDispatcher(db, { limits: { ...LIMITS, sendsMax } });
    dispatcher.clock.pass(1);
    assert.equal(await dispatcher.dispatch(), sendsMax);
    await until(() => good.received.length === sendsMax, LIMIT_MS, 'the first deliveries were not sent');
    const first = good.received.map(({ path }) => path.replace('/hook/', ''));
    assert.deepEqual(first.toSorted(), [...names, 'overloaded']);
    await dispatcher.close();
  });

  test('all failing receivers together get at most `failingSendsMax` sends at a time', async () => {
    for (let n = 0; n < 10; n += 1) await subscribe(db, { shopId, url: `${hanging.url}/${n}` });
    await db.query('update main.webhook set failing_since = $1', [new Date(NOW)]);
    for (let n = 0; n < 3; n += 1) await record(db, shopId);
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    assert.equal(await dispatcher.dispatch(), LIMITS.failingSendsMax);
    assert.equal(await dispatcher.dispatch(), 0, 'failing receivers got more sends than `failingSendsMax`');
    await subscribe(db, { shopId, url: good.url });
    await record(db, shopId);
    assert.equal(await dispatcher.dispatch(), 1, 'nothing was sent to the working receiver');
    await until(() => good.received.length === 1, LIMIT_MS, 'the working receiver had to wait');
    const paths = hanging.received.map(({ path }) => path);
    assert.equal(new Set(paths).size, paths.length, 'a failing receiver got more than one send');
    await hanging.close();
    await dispatcher.close();
  });

  test('one webhook gets at most `perWebhookMax` sends at a time, however often the dispatcher runs', async () => {
    await subscribe(db, { shopId, url: hanging.url });
    for (let n = 0; n < 9; n += 1) await record(db, shopId);
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    assert.equal(await dispatcher.dispatch(), LIMITS.perWebhookMax);
    assert.equal(await dispatcher.dispatch(), 0);
    await hanging.close();
    await dispatcher.close();
  });

  test('deliveries that another process has leased do not block later deliveries of their webhook', async () => {
    await subscribe(db, { shopId, url: hanging.url });
    for (let n = 0; n < 5; n += 1) await record(db, shopId);
    const [first, second] = [makeDispatcher(db, { limits: LIMITS }), makeDispatcher(db, { limits: LIMITS })];
    assert.equal(await first.dispatch(), LIMITS.perWebhookMax);
    assert.equal(await second.dispatch(), LIMITS.perWebhookMax);
    await until(() => hanging.received.length === 2 * LIMITS.perWebhookMax, LIMIT_MS, 'not everything was sent');
    const ids = hanging.received.map(({ headers }) => headers['webhook-id']);
    assert.equal(new Set(ids).size, ids.length, 'a delivery was sent by both processes');
    await hanging.close();
    await first.close();
    await second.close();
  });

  /** A receiver that holds its responses until the test calls `answer`. `openMax` is the most requests held at once. */
  function holdResponses() {
    const open: ServerResponse[] = [];
    const held = { openMax: 0 };
    good.respond = (_request, response) => {
      open.push(response);
      held.openMax = Math.max(held.openMax, open.length);
    };
    const answer = async (status: number) => {
      await until(() => open.length > 0, LIMIT_MS, 'nothing was sent');
      open.shift()?.writeHead(status).end();
    };
    return { held, answer, open };
  }

  const countLeases = async () =>
    (await db.query('select id from main.delivery where leased_until is not null')).length;
  const untilDelivered = (count: number) =>
    until(
      async () => (await db.query(`select id from main.delivery where state = 'delivered'`)).length === count,
      LIMIT_MS,
      'the result was not recorded',
    );

  test('while a receiver is fast, more of its deliveries are leased, but at most `perWebhookMax` are sent at a time', async () => {
    await subscribe(db, { shopId, url: good.url });
    for (let n = 0; n < 20; n += 1) await record(db, shopId);
    const { held, answer } = holdResponses();
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    assert.equal(await dispatcher.dispatch(), LIMITS.perWebhookMax);
    await answer(204);
    await untilDelivered(1);
    const stillLeased = LIMITS.perWebhookMax - 1;
    assert.equal(await dispatcher.dispatch(), LIMITS.fastLeasesMax - stillLeased);
    for (let n = 0; n < LIMITS.fastLeasesMax; n += 1) await answer(204);
    await dispatcher.settled();
    assert.equal(held.openMax, LIMITS.perWebhookMax);
    assert.equal(await countLeases(), 0);
    good.respond = respondWith(204);
    assert.equal(await dispatcher.run(), 20 - 1 - LIMITS.fastLeasesMax);
    assert.equal(new Set(good.received.map(({ headers }) => headers['webhook-id'])).size, good.received.length);
    await dispatcher.close();
  });

  test('a receiver still counts as fast after all its deliveries have ended', async () => {
    await subscribe(db, { shopId, url: good.url });
    for (let n = 0; n < 20; n += 1) await record(db, shopId);
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    assert.equal(await dispatcher.dispatch(), LIMITS.perWebhookMax);
    await dispatcher.settled();
    assert.equal(await dispatcher.dispatch(), LIMITS.fastLeasesMax);
    await dispatcher.close();
  });

  test('deliveries are sent while the deliveries of many new events are created', async () => {
    await subscribe(db, { shopId, url: good.url });
    const events = Array.from({ length: 1_000 }, () => ({
      id: createId('evt', NOW),
      type: 'product.created',
      data: '{}',
    }));
    await insertEvents(db, { shopId, createdAt: NOW }, events);
    const countNew = async () => (await db.query('select id from main.event where not fanned_out')).length;
    let frees = 0;
    const dispatcher = makeDispatcher(db, { limits: LIMITS, onFree: () => (frees += 1) });
    assert.equal(await dispatcher.dispatch({ fanOut: true }), LIMITS.perWebhookMax);
    const afterFirst = await countNew();
    assert.ok(afterFirst > 0 && afterFirst < 1_000, `${afterFirst} events were left`);
    assert.ok(frees > 0, 'the dispatcher did not ask for another dispatch');
    await dispatcher.dispatch({ fanOut: false });
    assert.ok((await countNew()) < afterFirst, 'the next dispatch did not continue');
    await dispatcher.close();
  });

  test('when a fast receiver fails, the deliveries that wait for it are released unsent', async () => {
    await subscribe(db, { shopId, url: good.url });
    for (let n = 0; n < 20; n += 1) await record(db, shopId);
    const { answer } = holdResponses();
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    await dispatcher.dispatch();
    await answer(204);
    await untilDelivered(1);
    await dispatcher.dispatch();
    await until(() => good.received.length === LIMITS.perWebhookMax + 1, LIMIT_MS, 'the next delivery was not sent');
    await answer(500);
    await answer(500);
    await dispatcher.settled();
    assert.equal(await countLeases(), 0);
    assert.equal(good.received.length, LIMITS.perWebhookMax + 1);
    assert.equal(
      await makeDispatcher(db, { limits: LIMITS }).dispatch(),
      1,
      'not exactly one delivery was sent to the failing receiver',
    );
    await answer(204);
    await dispatcher.close();
  });

  test('a fast receiver that begins to hang does not delay deliveries to other receivers', async () => {
    await subscribe(db, { shopId, url: hanging.url });
    for (let n = 0; n < 20; n += 1) await record(db, shopId);
    hanging.respond = (_request, response) => {
      if (hanging.received.length === 1) response.writeHead(204).end();
    };
    const limits = { ...LIMITS, sendsMax: LIMITS.fastLeasesMax, fastSendMs: FAST_MS };
    const dispatcher = makeDispatcher(db, { limits, timeoutMs: 2 * LIMIT_MS });
    await dispatcher.dispatch();
    await untilDelivered(1);
    await dispatcher.dispatch();
    await subscribe(db, { shopId, url: good.url });
    await record(db, shopId);
    const hasArrived = async () => {
      await dispatcher.dispatch();
      return good.received.length === 1;
    };
    await until(hasArrived, LIMIT_MS, 'the working receiver had to wait');
    await hanging.close();
    await dispatcher.close();
  });

  test('a closed dispatcher releases the deliveries that it has leased and not sent', async () => {
    await subscribe(db, { shopId, url: good.url });
    for (let n = 0; n < 20; n += 1) await record(db, shopId);
    const { answer, open } = holdResponses();
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    await dispatcher.dispatch();
    await answer(204);
    await untilDelivered(1);
    await dispatcher.dispatch();
    await until(() => open.length === LIMITS.perWebhookMax, LIMIT_MS, 'the next delivery was not sent');
    await dispatcher.close();
    assert.equal(await countLeases(), 0);
    assert.equal(good.received.length, LIMITS.perWebhookMax + 1);
  });

  test('a nudge starts a round before the period ends, except during the wait after a failure', async () => {
    await subscribe(db, { shopId, url: good.url });
    let isBroken = true;
    let statements = 0;
    const main: Database = {
      ...db,
      within: (timeoutMs, lane) => ({
        ...db.within(timeoutMs, lane),
        query: (sql, params) => {
          statements += 1;
          return isBroken
            ? Promise.reject(new Error('the database is unavailable'))
            : db.within(timeoutMs, lane).query(sql, params);
        },
      }),
    };
    let failures = 0;
    const log = { ...quiet, warn: () => (failures += 1) };
    const webhooks = startWorker({ main, periodMs: 60_000, log });
    try {
      await until(() => failures === 1, LIMIT_MS, 'the first round did not fail');
      const before = statements;
      webhooks.nudge();
      await setTimeout(NUDGED_MS);
      assert.equal(statements, before, 'a nudge started a round during the wait after a failure');
    } finally {
      await webhooks.stop();
    }
    isBroken = false;
    await record(db, shopId);
    const second = startWorker({ main, periodMs: 60_000 });
    try {
      await until(() => good.received.length === 1, LIMIT_MS, 'the first round did not deliver');
      await record(db, shopId);
      second.nudge();
      await until(() => good.received.length === 2, LIMIT_MS, 'the nudge did not deliver');
    } finally {
      await second.stop();
    }
  });

  test('the unfinished deliveries of a closed dispatcher are due immediately', async () => {
    await subscribe(db, { shopId, url: hanging.url });
    await record(db, shopId);
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    await dispatcher.dispatch();
    await until(() => hanging.received.length === 1, LIMIT_MS, 'nothing was sent');
    await dispatcher.close();
    hanging.respond = respondWith(204);
    assert.equal(await makeDispatcher(db).run(), 1);
  });
});

function startWorker(
  options: Pick<WebhookWorkerOptions, 'main' | 'periodMs'> & Partial<WebhookWorkerOptions>,
): WebhookWorker {
  const worker = new WebhookWorker({
    clock: () => NOW,
    log: quiet,
    random: () => 0,
    secretKeys: new SecretKeys([]),
    allowPrivate: true,
    ...options,
  });
  worker.start();
  return worker;
}
