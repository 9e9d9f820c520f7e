// Which signed orders the own book knows, whatever became of them. Primary database.

import type { Queryable } from '../../database/port.ts';

/** Of the given orders, as `chain hash`, those that the own book has. */
export async function listOwnOrderHashes(db: Queryable, orders: readonly string[]): Promise<Set<string>> {
  if (orders.length === 0) return new Set();
  const rows = await db.query<{ chain: string; order_hash: string }>(
    `select chain, order_hash from main.book_order
     where order_hash is not null and (chain, order_hash) in (select * from unnest($1::text[], $2::text[]))`,
    [orders.map((order) => order.split(' ')[0]), orders.map((order) => order.split(' ')[1])],
  );
  return new Set(rows.map((row) => `${row.chain} ${row.order_hash}`));
}
