// The locks that every writer of orders takes, and two writers that the expiry sweep runs. `expireOrders` stores that orders have expired.
// `startOrders` updates the figures when the start time of an order has come. Queries for fillable orders compare the start and expiry times
// with the clock themselves, so they do not depend on these writers.

import { findChainCursor } from '../chain-log/queries/chain-cursors.ts';
import type { Queryable, Statements } from '../../platform/database/port.ts';
import {
  deleteStarts,
  listStartedAssets,
  listStartedOrders,
  lockBooks,
  refreshBookAssets,
} from './queries/book-figures.ts';
import { insertOrderChanges } from './queries/order-changes.ts';
import { listDueOrders, updateExpiredOrders } from './queries/order-states.ts';

type Transactions = Pick<Statements, 'transaction'>;

/** Stores the status `expired` for at most `limit` active orders whose expiry time has passed. Returns how many such orders were found. */
export function expireOrders(main: Transactions, now: number, limit: number): Promise<number> {
  return main.transaction(async (tx) => {
    const due = await listDueOrders(tx, now, limit);
    await lockChainsAndBooks(tx, due);
    const expired = await updateExpiredOrders(
      tx,
      due.map(({ orderId }) => orderId),
      now,
    );
    await insertOrderChanges(
      tx,
      expired.map(({ orderId, at }) => ({ orderId, kind: 'expire', at })),
    );
    await refreshBookAssets(tx, due, now);
    return due.length;
  });
}

/** Updates the figures of at most `limit` assets for which the start time of an order has come. Returns the number of these assets. */
export function startOrders(main: Transactions, now: number, limit: number): Promise<number> {
  return main.transaction(async (tx) => {
    const due = await listStartedAssets(tx, now, limit);
    await lockChainsAndBooks(tx, due);
    await refreshBookAssets(tx, due, now);
    await insertOrderChanges(
      tx,
      (await listStartedOrders(tx, due, now)).map(({ orderId, at }) => ({ orderId, kind: 'list', at })),
    );
    await deleteStarts(tx, due, now);
    return due.length;
  });
}

/** Locks the cursors of the orders' chains, then the order books of their collections, each in sorted order to prevent deadlocks. */
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
