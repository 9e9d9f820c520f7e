// Retires the mirrored listings of orders that are now in the order book. From then on, these orders are served only from the order book,
// and the chain decides when they end. Failures are ignored, because the ingestion of the marketplace's next complete list also retires
// these listings.

import type { Chains } from '../../platform/core/chains.ts';
import type { Database } from '../../platform/database/port.ts';
import { recordNothing } from '../../platform/database/write-recording.ts';
import { updateListingsOfOwnOrders } from './queries/listing-writes.ts';

/** All statements of one call share this deadline. */
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
