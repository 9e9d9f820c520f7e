// Writes the states of orders, so that reads find active orders by an index. Primary database. The states are derived in
// orders/status.ts.

import type { Queryable } from '../../database/port.ts';
import type { OrderState } from '../status.ts';

/** A state that differs from the stored one. */
export type OrderChange = { orderId: string; collectionId: string; from: OrderState; to: OrderState };

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

/** Marks up to `limit` active orders whose expiry time has passed as expired. Returns the number of orders that were marked. */
export async function updateExpiredOrders(db: Queryable, now: number, limit: number): Promise<number> {
  const rows = await db.query(
    `update main.book_order set status = 'expired', dormant = null, ended_at = expires_at where id in (
       select id from main.book_order where status = 'active' and expires_at <= $1 limit $2 for update skip locked
     ) returning id`,
    [new Date(now), limit],
  );
  return rows.length;
}
