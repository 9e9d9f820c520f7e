// The lock that every writer of orders takes, and the two writers that follow the clock: orders that have expired, and orders that can
// be filled from now on. Reads of orders compare with the clock themselves; the stored statuses and the figures follow here.

import { findChainCursor } from '../chain-log/queries/chain-cursors.ts';
import type { Queryable, Statements } from '../database/port.ts';
import { deleteStarts, listStartedAssets, lockBooks, refreshBookAssets } from './queries/book-figures.ts';
import { listDueOrders, updateExpiredOrders } from './queries/order-states.ts';

type Transactions = Pick<Statements, 'transaction'>;

/** Marks at most `limit` orders whose expiry time has passed as expired. Returns how many were found. */
export function expireOrders(main: Transactions, now: number, limit: number): Promise<number> {
  return main.transaction(async (tx) => {
    const due = await listDueOrders(tx, now, limit);
    await lockChainsAndBooks(tx, due);
    await updateExpiredOrders(
      tx,
      due.map(({ orderId }) => orderId),
      now,
    );
    await refreshBookAssets(tx, due, now);
    return due.length;
  });
}

/** Counts at most `limit` assets that have an order which has started. Returns how many were found. */
export function startOrders(main: Transactions, now: number, limit: number): Promise<number> {
  return main.transaction(async (tx) => {
    const due = await listStartedAssets(tx, now, limit);
    await lockChainsAndBooks(tx, due);
    await refreshBookAssets(tx, due, now);
    await deleteStarts(tx, due, now);
    return due.length;
  });
}

/** Locks chains, then books, each in sorted order, like every other writer of orders. */
export async function lockChainsAndBooks(
  tx: Queryable,
  orders: readonly { chain: string; collectionId: string }[],
): Promise<void> {
  for (const chain of [...new Set(orders.map((order) => order.chain))].sort()) {
    await findChainCursor(tx, chain, 'for share');
  }
  await lockBooks(
    tx,
    orders.map(({ collectionId }) => collectionId),
  );
}
