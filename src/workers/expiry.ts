// The sweep that records what the clock has ended. Nothing depends on it being prompt: reads look at the clock themselves.
// It keeps the indexes of active rows short.

import type { Clock } from '../core/clock.ts';
import { updateExpiredOrders } from '../orders/queries/order-states.ts';
import type { Database } from '../database/port.ts';
import { IDEMPOTENCY_KEPT_MS } from '../shop/idempotency.ts';
import { deleteStoredResponses } from '../shop/queries/idempotency.ts';
import { updateExpiredListings } from '../market/queries/listing-writes.ts';
import { deleteOldViews } from '../market/queries/recent-views.ts';
import type { Task } from '../tasks/task.ts';
import type { WorkerContext } from './context.ts';

const PERIOD_MS = 30_000;
/** More than a sweep of that many batches takes. */
const DEADLINE_MS = 10 * 60_000;
const BATCH_SIZE = 500;
/** A database that takes longer for a batch does not answer: the next sweep tries again. */
const BATCH_TIMEOUT_MS = 10_000;
/** Bounds one sweep; what is left is the next one's. */
const BATCHES_MAX = 200;

/** What was shown counts for minutes; when its tokens were last looked at, for hours. */
const SHOWN_KEPT_MS = 24 * 60 * 60_000;

export function createExpiryTask({ main, indexer, clock }: WorkerContext): Task {
  return {
    name: 'expiry',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal) => {
      const rows = await sweepExpired(main, indexer, clock, signal);
      return { read: rows, changed: rows, refused: 0 };
    },
  };
}

/** Records expired orders and listings and forgets what is too old to be of use, in short statements; returns how many rows that were. */
export async function sweepExpired(
  main: Database,
  indexer: Database,
  clock: Clock,
  signal?: AbortSignal,
): Promise<number> {
  const sweep = (update: (limit: number) => Promise<number>) => sweepBatches(update, signal);
  const orders = await sweep((limit) => updateExpiredOrders(main.within(BATCH_TIMEOUT_MS), clock(), limit));
  const listings = await sweep((limit) => updateExpiredListings(indexer.within(BATCH_TIMEOUT_MS), clock(), limit));
  const answers = await sweep((limit) =>
    deleteStoredResponses(main.within(BATCH_TIMEOUT_MS), clock() - IDEMPOTENCY_KEPT_MS, limit),
  );
  const shown = await sweep((limit) => deleteOldViews(main.within(BATCH_TIMEOUT_MS), clock() - SHOWN_KEPT_MS, limit));
  return orders + listings + answers + shown;
}

async function sweepBatches(update: (limit: number) => Promise<number>, signal?: AbortSignal): Promise<number> {
  let total = 0;
  for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
    signal?.throwIfAborted();
    const updated = await update(BATCH_SIZE);
    total += updated;
    if (updated < BATCH_SIZE) break;
  }
  return total;
}
