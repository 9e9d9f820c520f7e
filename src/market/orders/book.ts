// The locks that every writer of orders takes, and two writers that the expiry sweep runs. `expireOrders` stores that orders have expired.
// `startOrders` updates the figures when the start time of an order has come. Queries for fillable orders compare the start and expiry times
// with the clock themselves, so they do not depend on these writers.

import { findChainCursor } from '../chain-log/queries/chain-cursors.ts';
import type { Queryable, Statements } from '../../platform/database/port.ts';
import {
  deleteStarts,
  insertStartedOrders,
  listStartedAssets,
  lockBooks,
  lockExistingBooks,
  refreshBookAssets,
  refreshTopBids,
} from './queries/book-figures.ts';
import { listDueOrders, updateExpiredOrders } from './queries/order-states.ts';

type Transactions = Pick<Statements, 'transaction'>;

/** Stores the status `expired` for at most `limit` active orders whose expiry time has passed. Returns how many such orders were found. */
export function expireOrders(main: Transactions, now: number, limit: number): Promise<number> {
  return main.transaction(async (tx) => {
    const found = await listDueOrders(tx, now, limit);
    const due = await lockStoredOrders(tx, found);
    await updateExpiredOrders(
      tx,
      due.map(({ orderId }) => orderId),
      now,
    );
    await refreshBookAssets(
      tx,
      due.flatMap(({ collectionId, asset }) => (asset === null ? [] : [{ collectionId, asset }])),
      now,
    );
    await refreshTopBids(
      tx,
      due.flatMap(({ collectionId, asset }) => (asset === null ? [collectionId] : [])),
      now,
    );
    return found.length;
  });
}

/** Updates the figures of at most `limit` assets for which the start time of an order has come. Returns the number of these assets. */
export function startOrders(main: Transactions, now: number, limit: number): Promise<number> {
  return main.transaction(async (tx) => {
    const found = await listStartedAssets(tx, now, limit);
    const due = await lockStoredOrders(tx, found);
    await refreshBookAssets(tx, due, now);
    await refreshTopBids(
      tx,
      due.flatMap(({ collectionId, asset }) => (asset === '' ? [collectionId] : [])),
      now,
    );
    await insertStartedOrders(tx, due, now);
    await deleteStarts(tx, due, now);
    return found.length;
  });
}

type Location = { chain: string; collectionId: string };

/**
 * Locks the cursors of the orders' chains, then the order books of their collections, each in sorted order to prevent deadlocks. Adds the
 * books that are missing, for writers of new orders.
 */
export async function lockChainsAndBooks(tx: Queryable, orders: readonly Location[]): Promise<void> {
  await lockChains(tx, orders);
  await lockBooks(
    tx,
    orders.map(({ collectionId }) => collectionId),
  );
}

/**
 * Takes the same locks for orders that were read before. Adds no book: while this function waits, the collection of an order may be removed,
 * with its book and its orders. Returns the other orders.
 */
export async function lockStoredOrders<Order extends Location>(
  tx: Queryable,
  orders: readonly Order[],
): Promise<Order[]> {
  await lockChains(tx, orders);
  const locked = await lockExistingBooks(
    tx,
    orders.map(({ collectionId }) => collectionId),
  );
  return orders.filter(({ collectionId }) => locked.has(collectionId));
}

async function lockChains(tx: Queryable, orders: readonly Location[]): Promise<void> {
  for (const chain of [...new Set(orders.map((order) => order.chain))].sort()) {
    await findChainCursor(tx, chain, 'for share');
  }
}
