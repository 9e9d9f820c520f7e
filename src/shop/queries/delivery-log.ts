// Deliveries as people see them: listed, sent again, recovered. The worker's side is deliveries.ts.

import type { DeliveryState } from '../webhooks/delivery.ts';
import type { Queryable, Row } from '../../database/port.ts';
import { MATCHES } from './deliveries.ts';

/** Times in milliseconds. */
export type Delivery = {
  /** Decimal text; newer ones are larger. */
  id: string;
  webhookId: string;
  shopId: string;
  url: string;
  eventId: string;
  type: string;
  state: DeliveryState;
  attempts: number;
  dueAt: number;
  lastAttemptAt: number | null;
  lastStatus: number | null;
  lastError: string | null;
  lastDurationMs: number | null;
  deliveredAt: number | null;
  createdAt: number;
};

const COLUMNS = `delivery.id, delivery.webhook_id, webhook.shop_id, webhook.url, delivery.event_id, event.type,
  delivery.state, delivery.attempts, delivery.due_at, delivery.last_attempt_at, delivery.last_status,
  delivery.last_error, delivery.last_duration_ms, delivery.delivered_at, delivery.created_at`;

/** A fresh schedule, due now. Whoever holds a lease loses the right to record a failure. */
const AGAIN = `state = 'pending', attempts = 0, due_at = $1, leased_until = null, claims = claims + 1`;

export type DeliveryQuery = { state: DeliveryState | null; before: string | null; limit: number };

/** Deliveries of a subscription, or of every subscription of a shop, or of all; newest first, older than the given id. */
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
  return rows.map(toDelivery);
}

export async function findDelivery(db: Queryable, webhookId: string, id: string): Promise<Delivery | null> {
  const [row] = await db.query(
    `select ${COLUMNS} from main.delivery
     join main.webhook on webhook.id = delivery.webhook_id
     join main.event on event.id = delivery.event_id
     where delivery.webhook_id = $1 and delivery.id = $2`,
    [webhookId, id],
  );
  return row ? toDelivery(row) : null;
}

/** Records an event for one subscription alone and its delivery; returns the id of the delivery. */
export async function insertDirectDelivery(
  db: Queryable,
  delivery: { webhookId: string; shopId: string; eventId: string; type: string; data: object; now: number },
): Promise<string> {
  const { webhookId, shopId, eventId, type, data, now } = delivery;
  const [row] = await db.query<{ id: string }>(
    `with event as (
       insert into main.event (id, shop_id, type, data, created_at, fanned_out) values ($1, $2, $3, $4, $5, true)
     )
     insert into main.delivery (webhook_id, event_id, due_at, created_at) values ($6, $1, $5, $5) returning id`,
    [eventId, shopId, type, JSON.stringify(data), new Date(now), webhookId],
  );
  return String(row?.id);
}

/** Makes one delivery due again, whatever became of it; false when the subscription has none such. */
export async function updateDeliveryAgain(db: Queryable, webhookId: string, id: string, now: number): Promise<boolean> {
  const rows = await db.query(`update main.delivery set ${AGAIN} where webhook_id = $2 and id = $3 returning id`, [
    new Date(now),
    webhookId,
    id,
  ]);
  return rows.length > 0;
}

/** Makes those of the given deliveries due again whose subscription is enabled; returns their ids. */
export async function updateDeliveriesAgain(db: Queryable, ids: readonly string[], now: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `update main.delivery set ${AGAIN} from main.webhook
     where delivery.id = any($2::bigint[]) and webhook.id = delivery.webhook_id and webhook.enabled
     returning delivery.id`,
    [new Date(now), ids],
  );
  return rows.map((row) => row.id);
}

/** Makes up to `limit` dead deliveries due again, of one shop or of all; returns their ids. Disabled subscriptions are left out. */
export async function updateDeadAgain(
  db: Queryable,
  { shopId, now, limit }: { shopId: string | null; now: number; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `update main.delivery set ${AGAIN} where id in (
       select delivery.id from main.delivery join main.webhook on webhook.id = delivery.webhook_id
       where delivery.state = 'dead' and webhook.enabled and ($2::text is null or webhook.shop_id = $2)
       order by delivery.id limit $3
     ) returning id`,
    [new Date(now), shopId, limit],
  );
  return rows.map((row) => row.id);
}

export type Recovered = { missed: number; revived: number };

/**
 * Makes every event of the subscription since then due that was not delivered: the dead, those that wait for a later try,
 * and those for which no delivery was made because it was disabled. Up to `limit` of either kind, oldest first.
 */
export async function updateRecovered(
  tx: Queryable,
  webhookId: string,
  { since, now, limit }: { since: number; now: number; limit: number },
): Promise<Recovered> {
  const params = [new Date(now), webhookId, new Date(since), limit];
  const missed = await tx.query(
    `insert into main.delivery (webhook_id, event_id, due_at, created_at)
     select webhook.id, event.id, $1, $1
     from main.webhook join main.event on ${MATCHES}
     where webhook.id = $2 and event.fanned_out and event.created_at >= greatest($3, webhook.created_at)
       and not exists (select from main.delivery where webhook_id = webhook.id and event_id = event.id)
     order by event.sequence limit $4
     on conflict (webhook_id, event_id) do nothing returning id`,
    params,
  );
  const revived = await tx.query(
    `update main.delivery set ${AGAIN} where id in (
       select delivery.id from main.delivery join main.event on event.id = delivery.event_id
       where delivery.webhook_id = $2 and event.created_at >= $3
         and (delivery.state = 'dead' or (delivery.state = 'pending' and delivery.due_at > $1
           and (delivery.leased_until is null or delivery.leased_until <= $1)))
       order by delivery.id limit $4 for update of delivery
     ) returning id`,
    params,
  );
  return { missed: missed.length, revived: revived.length };
}

function toDelivery(row: Row): Delivery {
  const toMs = (value: unknown) => (value === null ? null : (value as Date).getTime());
  return {
    id: String(row['id']),
    webhookId: row['webhook_id'] as string,
    shopId: row['shop_id'] as string,
    url: row['url'] as string,
    eventId: row['event_id'] as string,
    type: row['type'] as string,
    state: row['state'] as DeliveryState,
    attempts: row['attempts'] as number,
    dueAt: (row['due_at'] as Date).getTime(),
    lastAttemptAt: toMs(row['last_attempt_at']),
    lastStatus: row['last_status'] as number | null,
    lastError: row['last_error'] as string | null,
    lastDurationMs: row['last_duration_ms'] as number | null,
    deliveredAt: toMs(row['delivered_at']),
    createdAt: (row['created_at'] as Date).getTime(),
  };
}
