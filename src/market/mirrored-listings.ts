// Orders that marketplaces told before they came into the own book: from then on they are shown from there alone, and what the
// chain ends must not go on being listed as a marketplace last told it. It never fails: the next look at each marketplace, which
// leaves such orders out, does the same.

import type { Database } from '../database/port.ts';
import { updateListingsOfOwnOrders } from './queries/listing-snapshots.ts';

export type TakenContext = { indexer: Pick<Database, 'within'> };

/** Nobody waits longer than this for an indexer that does not answer. */
const TIMEOUT_MS = 1_000;

/** Retires the mirrored listings of orders that the own book has. To be called once they are committed. */
export async function retireMirroredListings(
  { indexer }: TakenContext,
  orders: readonly { chain: string; orderHash: string }[],
  at: number,
): Promise<void> {
  const db = indexer.within(TIMEOUT_MS);
  for (const [chain, taken] of Map.groupBy(orders, (order) => order.chain)) {
    const orderHashes = taken.map((order) => order.orderHash);
    await updateListingsOfOwnOrders(db, chain, { orderHashes, at }).catch(() => undefined);
  }
}
