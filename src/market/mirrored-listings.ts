// Retires mirrored listings of orders that have come into the own book: from then on the order is served from the own book, and
// ends when the chain ends it. Failures are ignored: the next snapshot of each marketplace leaves such orders out as well.

import type { Database } from '../database/port.ts';
import { updateListingsOfOwnOrders } from './queries/listing-writes.ts';

/** The longest that a caller waits for the indexer. */
const TIMEOUT_MS = 1_000;

/** Must be called after the orders were committed. `at` is the time of the change, in milliseconds. Never rejects. */
export async function retireMirroredListings(
  { indexer }: { indexer: Pick<Database, 'within'> },
  orders: readonly { chain: string; orderHash: string }[],
  at: number,
): Promise<void> {
  const db = indexer.within(TIMEOUT_MS);
  for (const [chain, ordersOfChain] of Map.groupBy(orders, (order) => order.chain)) {
    const orderHashes = ordersOfChain.map((order) => order.orderHash);
    await updateListingsOfOwnOrders(db, chain, { orderHashes, at }).catch(() => undefined);
  }
}
