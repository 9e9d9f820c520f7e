// One receiver that is dead, slow or swamped is its own trouble: deliveries to the others go on as if it were not there.

import assert from 'node:assert/strict';
import { afterEach, before, beforeEach, test } from 'node:test';
import type { Database } from '../../../src/database/port.ts';
import type { WebhookWorkerOptions } from '../../../src/shop/webhooks/worker.ts';
import { WebhookWorker } from '../../../src/shop/webhooks/worker.ts';
import type { DispatchLimits } from '../../../src/shop/webhooks/dispatcher.ts';
import { DISPATCH_LIMITS } from '../../../src/shop/webhooks/dispatcher.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';
import type { Receiver } from './fixtures.ts';
import { NOW, answerWith, makeShop, makeDispatcher, quiet, record, startReceiver, subscribe } from './fixtures.ts';

const LIMIT_MS = 10_000;
const LIMITS: DispatchLimits = { sendsMax: 8, failingSendsMax: 4, perWebhookMax: 2, closeWaitMs: 100 };

forEachEngine('webhook isolation', (engine) => {
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
    hanging.answer = () => undefined;
  });
  afterEach(async () => {
    await good.close();
    await hanging.close();
  });

  test('while one receiver hangs on its deliveries, all of another one arrive', async () => {
    await subscribe(db, { shopId, url: hanging.url });
    await subscribe(db, { shopId, url: good.url });
    for (let n = 0; n < 40; n += 1) await record(db, shopId);
    const webhooks = startWorker({ main: db, periodMs: 50 });
    try {
      await until(() => good.received.length === 40, LIMIT_MS, 'the good receiver was kept waiting');
      assert.ok(hanging.received.length <= DISPATCH_LIMITS.perWebhookMax, `${hanging.received.length} hang at once`);
    } finally {
      await hanging.close();
      await webhooks.stop();
    }
  });

  test('a claim takes the first delivery of every subscription before the second of any', async () => {
    await subscribe(db, { shopId, url: `${good.url}/swamped` });
    for (let n = 0; n < 50; n += 1) await record(db, shopId);
    // Fanned out before the others subscribe: all fifty are due before anything of theirs is.
    await makeDispatcher(db, { limits: { ...LIMITS, sendsMax: 0 } }).dispatch();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await subscribe(db, { shopId, url: `${good.url}/${name}`, now: NOW + 1 });
    await record(db, shopId, 'product.created', NOW + 1);
    const sendsMax = names.length + 1;
    const dispatcher = makeDispatcher(db, { limits: { ...LIMITS, sendsMax } });
    dispatcher.clock.pass(1);
    assert.equal(await dispatcher.dispatch(), sendsMax);
    await until(() => good.received.length === sendsMax, LIMIT_MS, 'the first turn was not sent');
    const first = good.received.map(({ path }) => path.replace('/hook/', ''));
    assert.deepEqual(first.toSorted(), [...names, 'swamped']);
    await dispatcher.close();
  });

  test('many dead receivers take only their share of the sends, and one place each', async () => {
    for (let n = 0; n < 10; n += 1) await subscribe(db, { shopId, url: `${hanging.url}/${n}` });
    await db.query('update main.webhook set failing_since = $1', [new Date(NOW)]);
    for (let n = 0; n < 3; n += 1) await record(db, shopId);
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    assert.equal(await dispatcher.dispatch(), LIMITS.failingSendsMax);
    assert.equal(await dispatcher.dispatch(), 0, 'their share is used up');
    await subscribe(db, { shopId, url: good.url });
    await record(db, shopId);
    assert.equal(await dispatcher.dispatch(), 1, 'a receiver that works has room');
    await until(() => good.received.length === 1, LIMIT_MS, 'the good receiver was kept waiting');
    const places = hanging.received.map(({ path }) => path);
    assert.equal(new Set(places).size, places.length, 'one place each');
    await hanging.close();
    await dispatcher.close();
  });

  test('no more is under way to one receiver than its share, however often the worker turns', async () => {
    await subscribe(db, { shopId, url: hanging.url });
    for (let n = 0; n < 9; n += 1) await record(db, shopId);
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    assert.equal(await dispatcher.dispatch(), LIMITS.perWebhookMax);
    assert.equal(await dispatcher.dispatch(), 0);
    await hanging.close();
    await dispatcher.close();
  });

  test('a nudge delivers at once, and a database that fails does not stop the worker for good', async () => {
    await subscribe(db, { shopId, url: good.url });
    let isBroken = true;
    let asked = 0;
    const main: Database = {
      ...db,
      within: (timeoutMs, lane) => ({
        ...db.within(timeoutMs, lane),
        query: (sql, params) => {
          asked += 1;
          return isBroken ? Promise.reject(new Error('out of reach')) : db.within(timeoutMs, lane).query(sql, params);
        },
      }),
    };
    const webhooks = startWorker({ main, periodMs: 60_000 });
    try {
      await until(() => asked === 1, LIMIT_MS, 'the worker did not turn');
      webhooks.nudge();
      assert.equal(asked, 1, 'a nudge after a failure must not make it spin');
    } finally {
      await webhooks.stop();
    }
    isBroken = false;
    await record(db, shopId);
    const again = startWorker({ main, periodMs: 60_000 });
    try {
      await until(() => good.received.length === 1, LIMIT_MS, 'the first turn delivers');
      await record(db, shopId);
      again.nudge();
      await until(() => good.received.length === 2, LIMIT_MS, 'the nudge was not heard');
    } finally {
      await again.stop();
    }
  });

  test('a worker that is closed gives back what it could not finish: it is due at once, not after the lease', async () => {
    await subscribe(db, { shopId, url: hanging.url });
    await record(db, shopId);
    const dispatcher = makeDispatcher(db, { limits: LIMITS });
    await dispatcher.dispatch();
    await until(() => hanging.received.length === 1, LIMIT_MS, 'nothing was sent');
    await dispatcher.close();
    hanging.answer = answerWith(204);
    assert.equal(await makeDispatcher(db).run(), 1);
  });
});

function startWorker(options: Pick<WebhookWorkerOptions, 'main' | 'periodMs'>): WebhookWorker {
  const worker = new WebhookWorker({ clock: () => NOW, log: quiet, random: () => 0, allowPrivate: true, ...options });
  worker.start();
  return worker;
}
