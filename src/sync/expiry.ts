// The sweep that records what the clock has ended. Nothing depends on it being prompt: reads look at the clock themselves.
// It keeps the indexes of active rows short.

import type { Clock } from '../clock.ts';
import { updateExpiredOrders } from '../db/book-orders.ts';
import type { Database } from '../db/database.ts';
import { updateExpiredListings } from '../db/listings.ts';

const BATCH_SIZE = 500;
/** Bounds one sweep; what is left is the next one's. */
const BATCHES_MAX = 200;

/** Records expired orders and listings, in short statements; returns how many. */
export async function sweepExpired(main: Database, indexer: Database, clock: Clock): Promise<number> {
  const orders = await sweep((limit) => updateExpiredOrders(main, clock(), limit));
  const listings = await sweep((limit) => updateExpiredListings(indexer, clock(), limit));
  return orders + listings;
}

async function sweep(update: (limit: number) => Promise<number>): Promise<number> {
  let total = 0;
  for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
    const updated = await update(BATCH_SIZE);
    total += updated;
    if (updated < BATCH_SIZE) break;
  }
  return total;
}
