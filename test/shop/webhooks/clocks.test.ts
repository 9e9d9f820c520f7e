// Tests that webhooks lose no event and send no event twice when the clocks of processes differ, or when a clock is set back or forward.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import { insertDeliveries } from '../../../src/shop/queries/deliveries.ts';
import { updateRecovered } from '../../../src/shop/queries/delivery-log.ts';
import { updateWebhook } from '../../../src/shop/queries/webhooks.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { Receiver, Subscribed } from './fixtures.ts';
import {
  NOW,
  createTestClock,
  deliveriesOf,
  makeDispatcher,
  makeShop,
  record,
  respondWith,
  startReceiver,
  subscribe,
} from './fixtures.ts';

const MINUTE_MS = 60_000;
/**
 * The webhook is created or disabled at `NOW`. An event that is recorded after that has the time `NOW + aheadMs`. An event that is recorded
 * before that has the time `NOW - aheadMs`. If `aheadMs` is negative, the times contradict the order of the events.
 */
const DIFFERENCES = [
  { name: 'another process is 2 s behind', aheadMs: -2_000 },
  { name: 'another process is 2 s ahead', aheadMs: 2_000 },
  { name: 'the clock was set back by 10 minutes', aheadMs: -10 * MINUTE_MS },
  { name: 'the clock was set forward by 31 minutes', aheadMs: 31 * MINUTE_MS },
];

forEachEngine('webhooks and clocks', (engine) => {
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
    receiver.respond = (_request, response) => response.writeHead(204).end();
    shopId = await makeShop(db);
  });

  const enable = (webhook: Subscribed, now: number) =>
    updateWebhook(db, shopId, webhook.id, { state: { ...webhook, enabled: true, disabledAt: null }, now });
  const disable = (webhook: Subscribed, now: number) =>
    updateWebhook(db, shopId, webhook.id, { state: { ...webhook, enabled: false, disabledAt: now }, now });

  for (const { name, aheadMs } of DIFFERENCES) {
    test(`when ${name}, a webhook receives the events recorded after its creation, and no earlier event`, async () => {
      await record(db, shopId, 'product.deleted', NOW - aheadMs);
      await subscribe(db, { shopId, url: receiver.url });
      await record(db, shopId, 'product.created', NOW + aheadMs);
      const dispatcher = makeDispatcher(db, { time: createTestClock(NOW + aheadMs) });
      await dispatcher.run();
      await dispatcher.run();
      assert.deepEqual(
        receiver.received.map(({ body }) => JSON.parse(body).type),
        ['product.created'],
      );
    });

    test(`when ${name}, a webhook that is enabled again receives the events recorded before it was disabled, and a recovery sends the events recorded while it was disabled`, async () => {
      const webhook = await subscribe(db, { shopId, url: receiver.url });
      await record(db, shopId, 'product.created', NOW - aheadMs);
      await disable(webhook, NOW);
      await record(db, shopId, 'product.updated', NOW + aheadMs);
      const time = createTestClock(NOW + aheadMs);
      await makeDispatcher(db, { time }).run();
      await enable(webhook, NOW + aheadMs);
      time.pass(Math.max(0, -aheadMs));
      await makeDispatcher(db, { time }).run();
      const types = () => receiver.received.map(({ body }) => JSON.parse(body).type);
      assert.deepEqual(types(), ['product.created']);
      const since = Math.min(NOW, NOW - aheadMs);
      const recover = () => updateRecovered(db, webhook.id, { since, now: time.clock(), limit: 10 });
      assert.deepEqual(await recover(), { missed: 1, revived: 0 });
      assert.deepEqual(await recover(), { missed: 0, revived: 0 });
      await makeDispatcher(db, { time }).run();
      assert.deepEqual(types(), ['product.created', 'product.updated']);
    });
  }

  test('a delivery that this process is sending is not sent again when the clock is set forward', async () => {
    await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId);
    const received = Promise.withResolvers<() => void>();
    receiver.respond = (_request, response) => received.resolve(() => response.writeHead(204).end());
    const dispatcher = makeDispatcher(db);
    assert.equal(await dispatcher.dispatch(), 1);
    const respond = await received.promise;
    dispatcher.clock.pass(31 * MINUTE_MS);
    assert.equal(await dispatcher.dispatch(), 0);
    respond();
    await dispatcher.settled();
    assert.equal(await dispatcher.run(), 0);
    assert.equal(receiver.received.length, 1);
  });

  test('a delivery under the lease of a process that has died is not sent before the lease ends, unless the clock is set far back', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    await record(db, shopId);
    await makeDispatcher(db).run();
    await db.query(`update main.delivery set state = 'pending', leased_until = $1`, [new Date(NOW + MINUTE_MS)]);
    const time = createTestClock(NOW);
    assert.equal(await makeDispatcher(db, { time }).run(), 0, 'the delivery was sent during the lease');
    await db.query(`update main.delivery set due_at = $1`, [new Date(NOW - 10 * MINUTE_MS)]);
    time.set(NOW - 10 * MINUTE_MS);
    assert.equal(await makeDispatcher(db, { time }).run(), 1);
    assert.equal((await deliveriesOf(db, webhook.id))[0]?.state, 'delivered');
  });

  test('after the clock is set back, a new delivery and a retry are sent at once', async () => {
    const webhook = await subscribe(db, { shopId, url: receiver.url });
    const time = createTestClock(NOW);
    const dispatcher = makeDispatcher(db, { time });
    receiver.respond = respondWith(500);
    await record(db, shopId, 'product.created');
    assert.equal(await dispatcher.run(), 1);
    await record(db, shopId, 'product.updated');
    await insertDeliveries(db, NOW, 10);
    time.pass(-10 * MINUTE_MS);
    receiver.respond = (_request, response) => response.writeHead(204).end();
    assert.equal(await dispatcher.run(), 2, 'a delivery still waits for a due time from before the clock was set back');
    receiver.respond = respondWith(500);
    await record(db, shopId, 'product.deleted', time.clock());
    assert.equal(await dispatcher.run(), 1);
    assert.equal(await makeDispatcher(db, { time }).run(), 0, 'a retry was sent before it was due');
    const states = (await deliveriesOf(db, webhook.id)).map(({ state }) => state);
    assert.deepEqual(states, ['delivered', 'delivered', 'pending']);
  });
});
