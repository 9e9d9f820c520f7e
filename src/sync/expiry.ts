// The sweep that records what the clock has ended. Nothing depends on it being prompt: reads look at the clock themselves.
// It keeps the indexes of active rows short.

import type { Clock } from '../clock.ts';
import { updateExpiredOrders } from '../db/book-orders.ts';
import type { Database } from '../db/database.ts';
import { deleteKeptAnswers } from '../db/idempotency.ts';
import { updateExpiredListings } from '../db/listings.ts';

const BATCH_SIZE = 500;
/** A database that takes longer for a batch does not answer: the next sweep tries again. */
const BATCH_TIMEOUT_MS = 10_000;
/** Bounds one sweep; what is left is the next one's. */
const BATCHES_MAX = 200;

/** Answers to idempotency keys are kept for a day. */
const KEPT_MS = 24 * 60 * 60_000;

/** Records expired orders and listings and forgets old answers, in short statements; returns how many rows that were. */
export async function sweepExpired(main: Database, indexer: Database, clock: Clock): Promise<number> {
  const orders = await sweep((limit) => updateExpiredOrders(main.within(BATCH_TIMEOUT_MS), clock(), limit));
  const listings = await sweep((limit) => updateExpiredListings(indexer.within(BATCH_TIMEOUT_MS), clock(), limit));
  const answers = await sweep((limit) => deleteKeptAnswers(main.within(BATCH_TIMEOUT_MS), clock() - KEPT_MS, limit));
  return orders + listings + answers;
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
