// Retires mirrored listings of orders that the own book now has. These orders are then served from the own book alone, and the chain
// decides when they end. Failures are ignored: the next complete list of the marketplace retires the listings as well.

import type { Chains } from '../core/chains.ts';
import type { Database } from '../database/port.ts';
import { recordNothing } from '../database/write-recording.ts';
import { updateListingsOfOwnOrders } from './queries/listing-writes.ts';

/** The deadline of all statements for the orders of one chain. */
const TIMEOUT_MS = 1_000;

/**
 * Must be called after the orders were committed. `at` is the time of the change, in milliseconds. `record` records the changed listings.
 * Never rejects.
 */
export async function retireMirroredListings(
  { indexer, chains }: { indexer: Pick<Database, 'within'>; chains: Chains },
  orders: readonly { chain: string; orderHash: string }[],
  at: number,
  record = recordNothing,
): Promise<void> {
  const db = indexer.within(TIMEOUT_MS);
  for (const [chain, ordersOfChain] of Map.groupBy(orders, (order) => order.chain)) {
    const orderHashes = ordersOfChain.map((order) => order.orderHash);
    await updateListingsOfOwnOrders(db, chain, { orderHashes, at, chains, record }).catch(() => undefined);
  }
}
