// The SQL statements with which shops and the operator list deliveries and make them due again.

import type { DeliveryState } from '../webhooks/delivery.ts';
import { DELIVERY_STATES } from '../webhooks/delivery.ts';
import type { Queryable, Row } from '../../platform/database/port.ts';
import { amount, column, integer, nullable, oneOf, rowDecoder, text, timestamp } from '../../platform/database/rows.ts';
import type { RecordedEvent } from '../events.ts';
import { MATCHES, decodeRecordedEvent } from './deliveries.ts';

const decodeDelivery = rowDecoder('delivery', {
  sequence: column('id', amount),
  id: column('public_id', text),
  webhookId: column('webhook_id', text),
  shopId: column('shop_id', text),
  url: text,
  eventId: column('event_id', text),
  type: text,
  state: oneOf(DELIVERY_STATES),
  attempts: integer,
  dueAt: column('due_at', timestamp),
  lastAttemptAt: column('last_attempt_at', nullable(timestamp)),
  lastStatus: column('last_status', nullable(integer)),
  lastError: column('last_error', nullable(text)),
  lastDurationMs: column('last_duration_ms', nullable(integer)),
  deliveredAt: column('delivered_at', nullable(timestamp)),
  createdAt: column('created_at', timestamp),
});

/**
 * A delivery with its event and webhook. `sequence` numbers the deliveries of all shops and is not published. A newer delivery has a larger
 * `sequence`. Times are in milliseconds.
 */
export type Delivery = ReturnType<typeof decodeDelivery>;

/** SQL: the id of a delivery as callers know it. Old deliveries have no stored public id, so their id is made of their number. */
const PUBLIC_ID = `coalesce(delivery.public_id, 'dlv_' || delivery.id)`;

/** SQL condition: the stored public id is in the array $2, or there is no stored public id and the number is in the array $3. */
const NAMED = `(delivery.public_id = any($2::text[]) or (delivery.public_id is null and delivery.id = any($3::bigint[])))`;

/** The parameters $2 and $3 of NAMED, made from ids as callers know them. */
function toNames(ids: readonly string[]): [string[], string[]] {
  const numbers = ids.flatMap((id) => /^dlv_(\d{1,18})$/.exec(id)?.[1] ?? []);
  return [[...ids], numbers];
}

const COLUMNS = `delivery.id, ${PUBLIC_ID} as public_id, delivery.webhook_id, webhook.shop_id, webhook.url, delivery.event_id, event.type,
  delivery.state, delivery.attempts, delivery.due_at, delivery.last_attempt_at, delivery.last_status,
  delivery.last_error, delivery.last_duration_ms, delivery.delivered_at, delivery.created_at`;

/**
 * SQL: makes a delivery due now, with a new retry schedule. If a worker is sending the delivery, the worker can then record only a success.
 */
const AGAIN = `state = 'pending', attempts = 0, due_at = $1, rescheduled_at = $1, leased_until = null,
  claims = claims + 1`;

export type DeliveryQuery = { state: DeliveryState | null; before: string | null; limit: number };

/** Deliveries of a webhook, of a shop, or of all shops, newest first. `before`: only deliveries with a smaller `sequence`. */
export async function listDeliveries(
  db: Queryable,
  of: { webhookId?: string; shopId?: string },
  query: DeliveryQuery,
): Promise<Delivery[]> {
  const rows = await db.query(
    `select ${COLUMNS} from main.delivery
     join main.webhook on webhook.id = delivery.webhook_id
     join main.event on event.id = delivery.event_id
     where ($1::text is null or delivery.webhook_id = $1) and ($2::text is null or webhook.shop_id = $2)
       and ($3::text is null or delivery.state = $3) and ($4::bigint is null or delivery.id < $4)
     order by delivery.id desc limit $5`,
    [of.webhookId ?? null, of.shopId ?? null, query.state, query.before, query.limit],
  );
  return rows.map(decodeDelivery);
}

export async function findDelivery(db: Queryable, webhookId: string, id: string): Promise<Delivery | null> {
  const [row] = await db.query(
    `select ${COLUMNS} from main.delivery
     join main.webhook on webhook.id = delivery.webhook_id
     join main.event on event.id = delivery.event_id
     where delivery.webhook_id = $1 and ${NAMED}`,
    [webhookId, ...toNames([id])],
  );
  return row ? decodeDelivery(row) : null;
}

/** The event that a delivery sends. `id`: as callers know it. */
export async function findDeliveredEvent(db: Queryable, webhookId: string, id: string): Promise<RecordedEvent | null> {
  const [row] = await db.query(
    `select event.id as event_id, event.type, event.sequence, event.data, event.created_at
     from main.delivery join main.event on event.id = delivery.event_id
     where delivery.webhook_id = $1 and ${NAMED}`,
    [webhookId, ...toNames([id])],
  );
  if (!row) return null;
  const event = decodeRecordedEvent(row);
  return { ...event, sequence: String(event.sequence) };
}

/** Records an event and its delivery to one webhook only. Returns the id of the delivery. `data` is JSON text. */
export async function insertDirectDelivery(
  db: Queryable,
  delivery: { webhookId: string; shopId: string; eventId: string; type: string; data: string; now: number },
): Promise<string> {
  const { webhookId, shopId, eventId, type, data, now } = delivery;
  const [row] = await db.query(
    `with event as (
       insert into main.event (id, shop_id, type, data, created_at, fanned_out) values ($1, $2, $3, $4, $5, true)
     )
     insert into main.delivery (webhook_id, event_id, due_at, created_at) values ($6, $1, $5, $5) returning public_id`,
    [eventId, shopId, type, data, new Date(now), webhookId],
  );
  return toPublicId(row ?? {});
}

/** Makes a delivery due now, whatever its state. Returns false if the webhook has no such delivery. */
export async function updateDeliveryAgain(db: Queryable, webhookId: string, id: string, now: number): Promise<boolean> {
  const rows = await db.query(`update main.delivery set ${AGAIN} where webhook_id = $4 and ${NAMED} returning id`, [
    new Date(now),
    ...toNames([id]),
    webhookId,
  ]);
  return rows.length > 0;
}

/** Makes these deliveries due now, except deliveries of disabled webhooks. Returns the ids of the deliveries that were made due. */
export async function updateDeliveriesAgain(db: Queryable, ids: readonly string[], now: number): Promise<string[]> {
  const rows = await db.query(
    `update main.delivery set ${AGAIN} where id in (
       select delivery.id from main.delivery join main.webhook on webhook.id = delivery.webhook_id
       where ${NAMED} and webhook.enabled order by delivery.id for update of delivery
     ) returning ${PUBLIC_ID} as public_id`,
    [new Date(now), ...toNames(ids)],
  );
  return rows.map(toPublicId);
}

/** Makes up to `limit` dead deliveries of enabled webhooks due now, of one shop or of all shops. Returns their ids. */
export async function updateDeadAgain(
  db: Queryable,
  { shopId, now, limit }: { shopId: string | null; now: number; limit: number },
): Promise<string[]> {
  const rows = await db.query(
    `update main.delivery set ${AGAIN} where id in (
       select delivery.id from main.delivery join main.webhook on webhook.id = delivery.webhook_id
       where delivery.state = 'dead' and webhook.enabled and ($2::text is null or webhook.shop_id = $2)
       order by delivery.id limit $3 for update of delivery
     ) returning ${PUBLIC_ID} as public_id`,
    [new Date(now), shopId, limit],
  );
  return rows.map(toPublicId);
}

/**
 * `missed`: how many deliveries were created for events without a delivery. `revived`: how many failed deliveries (dead, or waiting for a
 * retry) were made due now.
 */
export type Recovered = { missed: number; revived: number };

/**
 * A recovery skips deliveries that were rescheduled less than this time ago. A caller repeats the recovery until the recovery changes no
 * delivery. All repetitions together take less than this time, so each delivery is rescheduled only once.
 */
const RECOVERED_AGAIN_AFTER_MS = 10 * 60_000;

/**
 * SQL condition: the event was recorded at or after the time $3, or its sequence is larger than that of such an event of the same shop (the
 * shop of webhook $2). Therefore an event that was recorded after the clock was set back is included too.
 */
const SINCE = `event.sequence >= (select min(first.sequence) from main.event as first
  where first.shop_id = (select shop_id from main.webhook where id = $2) and first.created_at >= $3)`;

/**
 * For events recorded at or after `since`: creates missing deliveries (while a webhook is disabled, no deliveries are made for it), and
 * makes failed deliveries due now. At most `limit` of each kind, oldest first. A delivery that was rescheduled less than
 * RECOVERED_AGAIN_AFTER_MS ago is skipped. A repeated recovery therefore ends, even if deliveries fail again.
 */
export async function updateRecovered(
  tx: Queryable,
  webhookId: string,
  { since, now, limit }: { since: number; now: number; limit: number },
): Promise<Recovered> {
  const params = [new Date(now), webhookId, new Date(since), limit];
  const rescheduledBefore = new Date(now - RECOVERED_AGAIN_AFTER_MS);
  const missed = await tx.query(
    `insert into main.delivery (webhook_id, event_id, due_at, created_at)
     select webhook.id, event.id, $1, $1
     from main.webhook join main.event on ${MATCHES}
     where webhook.id = $2 and event.fanned_out and event.sequence > webhook.created_sequence and ${SINCE}
       and not exists (select from main.delivery where webhook_id = webhook.id and event_id = event.id)
     order by event.sequence limit $4
     on conflict (webhook_id, event_id) do nothing returning id`,
    params,
  );
  const revived = await tx.query(
    `update main.delivery set ${AGAIN} where id in (
       select delivery.id from main.delivery join main.event on event.id = delivery.event_id
       where delivery.webhook_id = $2 and ${SINCE}
         and (delivery.state = 'dead' or (delivery.state = 'pending' and delivery.due_at > $1
           and (delivery.leased_until is null or delivery.leased_until <= $1)))
         and (delivery.rescheduled_at is null or delivery.rescheduled_at <= $5)
       order by delivery.id limit $4 for update of delivery
     ) returning id`,
    [...params, rescheduledBefore],
  );
  return { missed: missed.length, revived: revived.length };
}

const decodePublicId = rowDecoder('delivery', { id: column('public_id', text) });

function toPublicId(row: Row): string {
  return decodePublicId(row).id;
}
