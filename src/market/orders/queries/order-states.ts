// Writes the states of orders to the primary database, so that reads can find active orders with an index. The states are derived in
// market/orders/status.ts.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';
import type { OrderState } from '../status.ts';
import type { OrderedAsset } from './book-figures.ts';
import { decodeDueAsset } from './book-figures.ts';

export type OrderChange = OrderedAsset & { orderId: string; from: OrderState; to: OrderState };

export async function updateOrderStates(tx: Queryable, changes: readonly OrderChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(
    `update main.book_order as stored set status = changed.status, dormant = changed.dormant,
       filled_quantity = changed.filled_quantity, ended_at = changed.ended_at, tx = changed.tx
     from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::timestamptz[], $6::text[])
       as changed (id, status, dormant, filled_quantity, ended_at, tx)
     where stored.id = changed.id`,
    [
      changes.map(({ orderId }) => orderId),
      changes.map(({ to }) => to.status),
      changes.map(({ to }) => to.dormant),
      changes.map(({ to }) => to.filledQuantity.toString()),
      changes.map(({ to }) => (to.endedAt === null ? null : new Date(to.endedAt))),
      changes.map(({ to }) => to.tx),
    ],
  );
}

const decodeId = rowDecoder('book_order', { id: text });

/** An active order whose expiry time has passed. */
export type DueOrder = OrderedAsset & { orderId: string; chain: string };

export async function listDueOrders(db: Queryable, now: number, limit: number): Promise<DueOrder[]> {
  const rows = await db.query(
    `select id, chain, collection_id, token_id as asset from main.book_order
     where status = 'active' and expires_at <= $1 order by expires_at limit $2`,
    [new Date(now), limit],
  );
  return rows.map((row) => ({ orderId: decodeId(row).id, ...decodeDueAsset(row) }));
}

const decodeExpired = rowDecoder('book_order', { orderId: column('id', text), at: column('expires_at', timestamp) });

/** Marks each given order as expired if it is active and its expiry time has passed. Returns the marked orders with their expiry times. */
export async function updateExpiredOrders(
  tx: Queryable,
  orderIds: readonly string[],
  now: number,
): Promise<{ orderId: string; at: number }[]> {
  const rows = await tx.query(
    `update main.book_order set status = 'expired', dormant = null, ended_at = expires_at
     where id = any($2) and status = 'active' and expires_at <= $1 returning id, expires_at`,
    [new Date(now), orderIds],
  );
  return rows.map(decodeExpired);
}
