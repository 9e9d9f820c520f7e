// What the operator learns of the queue of webhooks: whether the worker is late, whose receivers fail, and the queue of each webhook.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import { findDeliveryQueue, listWebhookQueues } from '../../../src/shop/queries/delivery-queue.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { makeShop, subscribe } from './fixtures.ts';

const MINUTE_S = 60;

forOneEngine('the queue of webhooks', (engine) => {
  let db: Database;
  let shopId: string;
  let events = 0;

  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await db.query('truncate main.webhook, main.delivery, main.event cascade');
    shopId = await makeShop(db);
  });

  const webhook = async () => (await subscribe(db, { shopId, url: 'http://127.0.0.1/hook' })).id;

  /** Adds pending deliveries that have been due for `dueSeconds`. A negative number: they become due later. */
  const enqueue = async (webhookId: string, count: number, dueSeconds: number) => {
    const first = events + 1;
    events += count;
    await db.query(
      `insert into main.event (id, shop_id, type, data, created_at, fanned_out)
       select 'evt_' || number, $1, 'product.updated', '{}', now(), true from generate_series($2::int, $3::int) as number`,
      [shopId, first, events],
    );
    await db.query(
      `insert into main.delivery (webhook_id, event_id, due_at, created_at)
       select $1, 'evt_' || number, now() - make_interval(secs => $4::int), now() from generate_series($2::int, $3::int) as number`,
      [webhookId, first, events, dueSeconds],
    );
  };

  test('the worker is late if a delivery to a working receiver is due and is not being sent', async () => {
    await enqueue(await webhook(), 3, 10 * MINUTE_S);
    const { pending, due, oldestDueAgeSeconds } = await findDeliveryQueue(db);
    assert.deepEqual({ pending, due }, { pending: 3, due: 3 });
    assert.ok(oldestDueAgeSeconds >= 10 * MINUTE_S, `${oldestDueAgeSeconds}`);
  });

  test('deliveries that wait for a failing, slow or disabled receiver do not make the worker late', async () => {
    const failing = await webhook();
    await enqueue(failing, 5, 60 * MINUTE_S);
    await db.query(`update main.webhook set failing_since = now() - interval '1 hour' where id = $1`, [failing]);
    const slow = await webhook();
    await enqueue(slow, 4, 30 * MINUTE_S);
    await db.query(
      `update main.delivery set leased_until = now() + interval '1 minute'
       where id = (select min(id) from main.delivery where webhook_id = $1)`,
      [slow],
    );
    const disabled = await webhook();
    await enqueue(disabled, 2, 90 * MINUTE_S);
    await db.query(`update main.webhook set enabled = false, disabled_at = now() where id = $1`, [disabled]);
    await enqueue(await webhook(), 1, -MINUTE_S);
    const queue = await findDeliveryQueue(db);
    assert.deepEqual(queue, {
      pending: 10,
      due: 9,
      events: 0,
      oldestDueAgeSeconds: 0,
      failingWebhooks: 1,
      failingDue: 5,
    });
    // A worker that died holds leases which have ended.
    await db.query(
      `update main.delivery set leased_until = now() - interval '1 second' where leased_until is not null`,
    );
    const { oldestDueAgeSeconds } = await findDeliveryQueue(db);
    assert.ok(oldestDueAgeSeconds >= 30 * MINUTE_S && oldestDueAgeSeconds < 60 * MINUTE_S, `${oldestDueAgeSeconds}`);
  });

  test('the long queue of one webhook does not hide that a delivery of another is late', async () => {
    const [one, other] = [await webhook(), await webhook()].toSorted();
    await enqueue(one ?? '', 10_500, -MINUTE_S);
    await enqueue(other ?? '', 1, 20 * MINUTE_S);
    const { due, oldestDueAgeSeconds } = await findDeliveryQueue(db);
    assert.equal(due, 1);
    assert.ok(oldestDueAgeSeconds >= 20 * MINUTE_S, `${oldestDueAgeSeconds}`);
  });

  test('each webhook is listed with its state, since when, and how many deliveries wait, the ones in trouble first', async () => {
    const works = await webhook();
    await enqueue(works, 2, MINUTE_S);
    const failing = await webhook();
    await enqueue(failing, 3, MINUTE_S);
    await db.query(`update main.webhook set failing_since = '2026-01-02T00:00:00Z' where id = $1`, [failing]);
    await db.query(
      `update main.delivery set state = 'dead' where id = (select min(id) from main.delivery where webhook_id = $1)`,
      [failing],
    );
    const disabled = await webhook();
    await db.query(
      `update main.webhook set enabled = false, disabled_at = '2026-01-03T00:00:00Z', disabled_reason = 'gone' where id = $1`,
      [disabled],
    );
    const listed = await listWebhookQueues(db, { shopId, limit: 10 });
    assert.deepEqual(
      listed.map(({ id, pending, dead, disabledReason }) => ({ id, pending, dead, disabledReason })),
      [
        { id: disabled, pending: 0, dead: 0, disabledReason: 'gone' },
        { id: failing, pending: 2, dead: 1, disabledReason: null },
        { id: works, pending: 2, dead: 0, disabledReason: null },
      ],
    );
    assert.deepEqual(
      listed.map(({ failingSince, disabledAt }) => failingSince ?? disabledAt),
      [Date.UTC(2026, 0, 3), Date.UTC(2026, 0, 2), null],
    );
    assert.deepEqual(await listWebhookQueues(db, { shopId: await makeShop(db), limit: 10 }), []);
  });
});
