// Delivery of events: to which webhooks an event is sent, with which body, how often, and which result is recorded.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { Database } from '../../../src/platform/database/port.ts';
import { updateRecovered } from '../../../src/shop/queries/delivery-log.ts';
import type { Webhook } from '../../../src/shop/queries/webhooks.ts';
import { deleteWebhook, updateWebhook, updateWebhookSecret } from '../../../src/shop/queries/webhooks.ts';
import { EVENTS_KEPT_MS } from '../../../src/shop/events.ts';
import { DISPATCH_LIMITS, DELIVERY_LEASE_MS } from '../../../src/shop/webhooks/dispatcher.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import type { Received, Receiver } from './fixtures.ts';
import {
  NOW,
  respondWith,
  createTestClock,
  deliveriesOf,
  isSignedWith,
  makeShop,
  makeDispatcher,
  record,
  reread,
  startReceiver,
  subscribe,
} from './fixtures.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ROTATION_OVERLAP_MS = DAY_MS;
const FAILING_MAX_MS = 5 * DAY_MS;
/** The published delays between attempts: 5 s, 5 min, 30 min, then hours. */
const RETRY_DELAYS_MS = [5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS)];

forOneEngine('webhook deliveries', (engine) => {
  let db: Database;
  let receiver: Receiver;
  let shopId: string;

  before(async () => {
    db = await engine.open();
    receiver = await startReceiver();
  });
  after(() => receiver.close());
  beforeEach(async () => {
    await db.query('truncate main.webhook, main.delivery, main.event cascade');
    receiver.received.length = 0;
    receiver.respond = respondWith(204);
    shopId = await makeShop(db);
  });

  const newest = (): Received => {
    const last = receiver.received.at(-1);
    assert.ok(last, 'nothing was received');
    return last;
  };

  test('an event is sent exactly once to each webhook of its shop that subscribes to its type', async () => {
    const all = await subscribe(db, { shopId, url: `${receiver.url}/all` });
    await subscribe(db, { shopId, url: `${receiver.url}/products`, events: ['product.*'] });
    await subscribe(db, { shopId, url: `${receiver.url}/low`, events: ['inventory.low', 'product.deleted'] });
    await subscribe(db, { shopId: await makeShop(db), url: `${receiver.url}/stranger` });
    await record(db, shopId, 'product.updated');
    await record(db, shopId, 'inventory.low');
    const dispatcher = makeDispatcher(db);
    assert.equal(await dispatcher.run(), 4);
    assert.equal(await dispatcher.run(), 0);
    const sent = receiver.received.map(({ path, body }) => `${path} ${JSON.parse(body).type}`).sort();
    assert.deepEqual(sent, [
      '/hook/all inventory.low',
      '/hook/all product.updated',
      '/hook/low inventory.low',
      '/hook/products product.updated',
    ]);
    const [first] = await deliveriesOf(db, all.id);
    assert.deepEqual(
      { state: first?.state, attempts: first?.attempts, status: first?.lastStatus, error: first?.lastError },
      { state: 'delivered', attempts: 1, status: 204, error: null },
    );
  });

  test('an event is not sent to a webhook that was created later', async () => {
    await record(db, shopId, 'product.created', NOW - 1);
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId, 'product.created', NOW + 7);
    await makeDispatcher(db).run();
    assert.equal(receiver.received.length, 1);
    const { body, headers } = newest();
    const { sequence, ...rest } = JSON.parse(body);
    assert.deepEqual(rest, {
      type: 'product.created',
      timestamp: new Date(NOW + 7).toISOString(),
      data: { id: 'prod_1', name: 'Mug' },
    });
    assert.ok(Number.isInteger(sequence));
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['webhook-id'], (await deliveriesOf(db, webhook.id))[0]?.eventId);
  });

  test('the package standardwebhooks accepts a delivery, and rejects a delivery whose body was changed', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId);
    await makeDispatcher(db, { time: createTestClock(Date.now()) }).run();
    const { body, headers } = newest();
    const verifier = new StandardWebhook(webhook.secret);
    assert.equal(
      (verifier.verify(body, headers as Record<string, string>) as { type: string }).type,
      'product.created',
    );
    assert.throws(() => verifier.verify(body.replace('Mug', 'Jug'), headers as Record<string, string>));
  });

  const CHANGES: Record<string, (webhook: Webhook) => Promise<unknown>> = {
    deleted: (webhook) => deleteWebhook(db, shopId, webhook.id),
    disabled: (webhook) =>
      updateWebhook(db, shopId, webhook.id, { state: { ...webhook, enabled: false, disabledAt: NOW }, now: NOW }),
    moved: (webhook) =>
      updateWebhook(db, shopId, webhook.id, { state: { ...webhook, url: `${receiver.url}/new` }, now: NOW }),
  };
  for (const [what, change] of Object.entries(CHANGES)) {
    test(`after a webhook was ${what}, only the requests that had begun reach its old URL, however many deliveries are leased`, async () => {
      const webhook = await subscribe(db, { shopId, url: `${receiver.url}/old` });
      const dispatcher = makeDispatcher(db, { limits: { ...DISPATCH_LIMITS, fastSendMs: 60_000 } });
      const recordMany = async () => {
        for (let events = 0; events < 30; events += 1) await record(db, shopId);
      };
      // From now on the receiver counts as fast, so that more deliveries are leased than are sent at a time.
      await recordMany();
      await dispatcher.run();
      await recordMany();
      const held: (() => void)[] = [];
      receiver.respond = (_request, response) => void held.push(() => response.writeHead(204).end());
      receiver.received.length = 0;
      assert.equal(await dispatcher.dispatch(), 30);
      while (held.length < DISPATCH_LIMITS.perWebhookMax) await new Promise((resolve) => setImmediate(resolve));
      await change(await reread(db, webhook));
      receiver.respond = respondWith(204);
      for (const respond of held) respond();
      await dispatcher.settled();
      await dispatcher.run();
      const sentTo = (path: string) => receiver.received.filter((request) => request.path === `/hook${path}`).length;
      assert.equal(sentTo('/old'), DISPATCH_LIMITS.perWebhookMax);
      assert.equal(sentTo('/new'), what === 'moved' ? 30 - DISPATCH_LIMITS.perWebhookMax : 0);
    });
  }

  test('for a day after a rotation, deliveries are signed with the old and the new secret', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    await updateWebhookSecret(db, shopId, webhook.id, { secret, previousUntil: NOW + ROTATION_OVERLAP_MS, now: NOW });
    const dispatcher = makeDispatcher(db);
    const verified = async () => {
      await record(db, shopId);
      await dispatcher.run();
      return { old: isSignedWith(newest(), webhook.secret), new: isSignedWith(newest(), secret) };
    };
    assert.deepEqual(await verified(), { old: true, new: true });
    dispatcher.clock.pass(ROTATION_OVERLAP_MS - 1);
    assert.deepEqual(await verified(), { old: true, new: true });
    dispatcher.clock.pass(1);
    assert.deepEqual(await verified(), { old: false, new: true });
    assert.equal(String(newest().headers['webhook-signature']).split(' ').length, 1);
  });

  test('after several rotations each replaced secret signs deliveries until the end of its own day, at most ten secrets in all', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    const dispatcher = makeDispatcher(db);
    const secrets = [webhook.secret];
    const rotate = async () => {
      const secret = `whsec_${Buffer.alloc(24, secrets.length).toString('base64')}`;
      secrets.push(secret);
      const now = dispatcher.clock.clock();
      await updateWebhookSecret(db, shopId, webhook.id, { secret, previousUntil: now + ROTATION_OVERLAP_MS, now });
    };
    const verified = async () => {
      await record(db, shopId);
      await dispatcher.run();
      return secrets.map((secret) => isSignedWith(newest(), secret));
    };
    await rotate();
    dispatcher.clock.pass(HOUR_MS);
    await rotate();
    assert.deepEqual(await verified(), [true, true, true]);
    dispatcher.clock.pass(ROTATION_OVERLAP_MS - HOUR_MS - 1);
    assert.deepEqual(await verified(), [true, true, true]);
    dispatcher.clock.pass(1);
    assert.deepEqual(await verified(), [false, true, true]);
    dispatcher.clock.pass(HOUR_MS);
    assert.deepEqual(await verified(), [false, false, true]);
    for (let times = 0; times < 12; times += 1) {
      dispatcher.clock.pass(1);
      await rotate();
    }
    assert.deepEqual((await verified()).filter(Boolean).length, 10);
    assert.deepEqual((await verified()).slice(-10), Array<boolean>(10).fill(true));
  });

  test('a failed delivery is repeated after each published delay, and is dead after the last attempt', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId);
    receiver.respond = respondWith(500);
    const dispatcher = makeDispatcher(db);
    assert.equal(await dispatcher.run(), 1);
    for (const delayMs of RETRY_DELAYS_MS) {
      dispatcher.clock.pass(delayMs - 1);
      assert.equal(await dispatcher.run(), 0, `an attempt came before the delay of ${delayMs} ms had passed`);
      dispatcher.clock.pass(1);
      assert.equal(await dispatcher.run(), 1, `no attempt was made after ${delayMs} ms`);
    }
    dispatcher.clock.pass(10 * DAY_MS);
    assert.equal(await dispatcher.run(), 0);
    assert.equal(receiver.received.length, RETRY_DELAYS_MS.length + 1);
    assert.equal(
      new Set(receiver.received.map(({ headers, body }) => `${String(headers['webhook-id'])} ${body}`)).size,
      1,
    );
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size, 10);
    const [delivery] = await deliveriesOf(db, webhook.id);
    assert.deepEqual(
      { state: delivery?.state, attempts: delivery?.attempts, error: delivery?.lastError },
      { state: 'dead', attempts: 10, error: 'the receiver responded with status 500' },
    );
  });

  test('jitter only lengthens a delay, by a tenth at most', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId);
    receiver.respond = respondWith(500);
    await makeDispatcher(db, { random: () => 0.999_999 }).run();
    assert.equal((await deliveriesOf(db, webhook.id))[0]?.dueAt, NOW + 5_500);
  });

  test('Retry-After lengthens a delay to at most a day, and never shortens it', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    const forms: [string, number][] = [
      ['120', 120_000],
      [new Date(NOW + 600_000).toUTCString(), 600_000],
      ['1', 5_000],
      ['999999999', DAY_MS],
      ['soon', 5_000],
      ['-5', 5_000],
    ];
    for (const [text, waitMs] of forms) {
      receiver.respond = respondWith(503, { 'retry-after': text });
      await record(db, shopId);
      await makeDispatcher(db).run();
      assert.equal((await deliveriesOf(db, webhook.id)).at(-1)?.dueAt, NOW + waitMs, text);
    }
  });

  test('a response with the status 410 disables the webhook immediately', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    receiver.respond = respondWith(410);
    await record(db, shopId);
    const dispatcher = makeDispatcher(db);
    await dispatcher.run();
    const disabled = await reread(db, webhook);
    assert.equal(disabled.enabled, false);
    assert.match(disabled.disabledReason ?? '', /410/);
    assert.equal(disabled.disabledAt, NOW);

    dispatcher.clock.pass(60_000);
    await record(db, shopId, 'product.deleted', NOW + 60_000);
    assert.equal(await dispatcher.run(), 0, 'an event was sent to a disabled webhook');

    receiver.respond = respondWith(200);
    const fields = { ...disabled, enabled: true, disabledReason: null, disabledAt: null, failingSince: null };
    await updateWebhook(db, shopId, webhook.id, { state: fields, now: NOW });
    const now = dispatcher.clock.clock();
    await db.transaction((tx) => updateRecovered(tx, webhook.id, { since: NOW, now, limit: 100 }));
    assert.equal(await dispatcher.run(), 2);
    assert.deepEqual(
      (await deliveriesOf(db, webhook.id)).map(({ type, state }) => `${type} ${state}`),
      ['product.created delivered', 'product.deleted delivered'],
    );
  });

  test('an event recorded before its webhook was disabled is delivered after the webhook is enabled again', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId, 'product.created', NOW + 1);
    const off = { ...webhook, enabled: false, disabledReason: 'test', disabledAt: NOW + 2 };
    await updateWebhook(db, shopId, webhook.id, { state: off, now: NOW + 2 });
    const dispatcher = makeDispatcher(db);
    dispatcher.clock.set(NOW + 3);
    assert.equal(await dispatcher.run(), 0);
    await updateWebhook(db, shopId, webhook.id, { state: webhook, now: NOW + 4 });
    assert.equal(await dispatcher.run(), 1);
  });

  test('a webhook is disabled when its deliveries have failed for five days', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    const dispatcher = makeDispatcher(db);
    const attemptOne = async (status: number, atMs: number) => {
      receiver.respond = respondWith(status);
      dispatcher.clock.set(NOW + atMs);
      // Marks earlier deliveries as dead, so that only the new delivery is attempted.
      await db.query(`update main.delivery set state = 'dead'`);
      await record(db, shopId, 'product.created', NOW + atMs);
      assert.equal(await dispatcher.run(), 1);
      return reread(db, webhook);
    };
    assert.equal((await attemptOne(500, 0)).failingSince, NOW);
    assert.equal((await attemptOne(200, DAY_MS)).failingSince, null);
    assert.equal((await attemptOne(500, 2 * DAY_MS)).failingSince, NOW + 2 * DAY_MS);
    assert.equal((await attemptOne(500, 2 * DAY_MS + FAILING_MAX_MS - 1)).enabled, true);
    const disabled = await attemptOne(500, 2 * DAY_MS + FAILING_MAX_MS);
    assert.equal(disabled.enabled, false);
    assert.match(disabled.disabledReason ?? '', /five days/);
  });

  test('a failed attempt is not recorded if its lease has expired and another dispatcher has taken over the delivery', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId);
    const statuses = [500, 200];
    const held: (() => void)[] = [];
    receiver.respond = (_request, response) => {
      const status = statuses.shift() ?? 204;
      held.push(() => response.writeHead(status).end());
    };
    const time = createTestClock();
    const first = makeDispatcher(db, { time });
    const second = makeDispatcher(db, { time });
    assert.equal(await first.dispatch(), 1);
    assert.equal(await second.dispatch(), 0, 'a delivery was sent during its lease');
    time.pass(DELIVERY_LEASE_MS);
    assert.equal(await second.dispatch(), 1, 'no delivery was sent after the lease expired');
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
    held[0]?.();
    await first.close();
    assert.equal(
      (await deliveriesOf(db, webhook.id))[0]?.attempts,
      0,
      'the failure of the dispatcher whose lease had expired was recorded',
    );
    held[1]?.();
    await second.close();
    assert.equal((await deliveriesOf(db, webhook.id))[0]?.state, 'delivered');
  });

  test('a success that was recorded after the lease expired is not undone by the failure of a later attempt', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId);
    const statuses = [200, 500];
    const held: (() => void)[] = [];
    receiver.respond = (_request, response) => {
      const status = statuses.shift() ?? 204;
      held.push(() => response.writeHead(status).end());
    };
    const time = createTestClock();
    const [first, second] = [makeDispatcher(db, { time }), makeDispatcher(db, { time })];
    assert.equal(await first.dispatch(), 1);
    time.pass(DELIVERY_LEASE_MS);
    assert.equal(await second.dispatch(), 1, 'no delivery was sent after the lease expired');
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
    held[0]?.();
    await first.close();
    const deliveredAt = time.clock();
    const read = async () => {
      const [delivery] = await deliveriesOf(db, webhook.id);
      return [delivery?.state, delivery?.attempts, delivery?.lastStatus, delivery?.deliveredAt];
    };
    assert.deepEqual(await read(), ['delivered', 1, 200, deliveredAt]);
    time.pass(1_000);
    held[1]?.();
    await second.close();
    assert.deepEqual(await read(), ['delivered', 1, 200, deliveredAt]);
  });

  test('several recoveries within ten minutes make a failed delivery due only once, and a recovery ten minutes later makes the delivery due again', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    for (let n = 0; n < 5; n += 1) await record(db, shopId);
    receiver.respond = respondWith(503, { 'retry-after': '3600' });
    const time = createTestClock();
    // A dispatcher sends a failing webhook one delivery at a time, so each delivery needs a dispatch of its own.
    const sendAll = async () => {
      for (let n = 0; n < 12; n += 1) {
        const dispatcher = makeDispatcher(db, { time });
        await dispatcher.dispatch();
        await dispatcher.close();
      }
    };
    await sendAll();
    time.pass(1_000);
    const recover = () => updateRecovered(db, webhook.id, { since: NOW, now: time.clock(), limit: 2 });
    const revived: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      revived.push((await recover()).revived);
      await sendAll();
      time.pass(1_000);
    }
    assert.deepEqual(revived, [2, 2, 1, 0]);
    time.pass(10 * 60_000);
    assert.equal((await recover()).revived, 2, 'a recovery ten minutes later did not make the deliveries due again');
  });

  test('two dispatchers send each delivery once', async () => {
    await subscribe(db, { shopId, url: receiver.url });
    await subscribe(db, { shopId, url: receiver.url });
    for (let n = 0; n < 30; n += 1) await record(db, shopId);
    const dispatchers = [makeDispatcher(db), makeDispatcher(db)];
    const counts = await Promise.all(dispatchers.map((dispatcher) => dispatcher.run()));
    assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), 60);
    assert.equal(receiver.received.length, 60);
  });

  test('old events are deleted, except events with a pending delivery', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId);
    await makeDispatcher(db).run();
    receiver.respond = respondWith(500);
    await record(db, shopId);
    await makeDispatcher(db).run();
    const later = makeDispatcher(db, { time: createTestClock(NOW + EVENTS_KEPT_MS + 1) });
    await later.run();
    assert.deepEqual(
      (await deliveriesOf(db, webhook.id)).map(({ state }) => state),
      ['pending'],
    );
  });
});
