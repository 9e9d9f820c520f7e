// The sweep that marks expired orders and listings, and deletes rows that are no longer used. It keeps the indexes of active rows small.
// Reads compare expiry times with the clock themselves, so a late sweep does not change what is served.

import { expireOrders, startOrders } from '../orders/book.ts';
import { IDEMPOTENCY_KEPT_MS } from '../shop/idempotency.ts';
import { deleteStoredResponses } from '../shop/queries/idempotency.ts';
import { updateExpiredListings } from '../market/queries/listing-writes.ts';
import { refreshDueRanks } from '../market/ranks.ts';
import { deleteOldPoints } from '../market/queries/market-points.ts';
import { deleteOldViews } from '../market/queries/recent-views.ts';
import { deleteOldChanges } from '../intake/undo/retention.ts';
import type { Task } from '../tasks/task.ts';
import type { WorkerContext } from './context.ts';

/** The time between two sweeps. Stored figures that reads do not compare with the clock may count an expired listing for this long. */
const PERIOD_MS = 5_000;
/** Only a sweep that hangs takes so long. */
const DEADLINE_MS = 10 * 60_000;
const BATCH_SIZE = 500;
/** If a batch takes longer, the sweep fails and the next sweep continues. */
const BATCH_TIMEOUT_MS = 10_000;
/** The most batches of each kind of row in one sweep. The next sweep continues with the remaining rows. */
const BATCHES_MAX = 200;

/** The most imports whose recorded changes one sweep deletes. An import of a million records has 2,000 rows of changes. */
const OLD_IMPORTS_MAX = 5;

/** How long a view is kept. Tasks need the time of the view for some minutes, and the time of the token's last refresh for some hours. */
const VIEWS_KEPT_MS = 24 * 60 * 60_000;

/**
 * How long the points of histories are kept. A reorganisation deletes no older points, because the follower does not revert older blocks.
 */
const POINTS_KEPT_MS = 31 * 24 * 60 * 60_000;

export function createExpiryTask(context: WorkerContext): Task {
  return {
    name: 'expiry',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal) => {
      const rows = await sweepExpired(context, signal);
      if (rows > 0) await context.copyCatalog();
      return { read: rows, changed: rows, refused: 0 };
    },
  };
}

/** Works in batches, so that no statement takes long. Returns the number of rows that were marked or deleted. */
export async function sweepExpired(
  { main, indexer, chains, clock }: Pick<WorkerContext, 'main' | 'indexer' | 'chains' | 'clock'>,
  signal?: AbortSignal,
): Promise<number> {
  const sweep = (update: (limit: number) => Promise<number>) => sweepBatches(update, signal);
  const orders = await sweep((limit) => expireOrders(main.within(BATCH_TIMEOUT_MS), clock(), limit));
  const starts = await sweep((limit) => startOrders(main.within(BATCH_TIMEOUT_MS), clock(), limit));
  const listings = await sweep((limit) =>
    updateExpiredListings(indexer.within(BATCH_TIMEOUT_MS), { chains, now: clock() }, limit),
  );
  const ranks = await sweep((limit) =>
    refreshDueRanks(indexer.within(BATCH_TIMEOUT_MS), { chains, now: clock() }, limit),
  );
  const responses = await sweep((limit) =>
    deleteStoredResponses(main.within(BATCH_TIMEOUT_MS), clock() - IDEMPOTENCY_KEPT_MS, limit),
  );
  const views = await sweep((limit) => deleteOldViews(main.within(BATCH_TIMEOUT_MS), clock() - VIEWS_KEPT_MS, limit));
  const points = await sweep((limit) =>
    deleteOldPoints(indexer.within(BATCH_TIMEOUT_MS), clock() - POINTS_KEPT_MS, limit),
  );
  const imports = await deleteOldChanges(
    { main: main.within(BATCH_TIMEOUT_MS), indexer: indexer.within(BATCH_TIMEOUT_MS) },
    clock(),
    OLD_IMPORTS_MAX,
  );
  return orders + starts + listings + ranks + responses + views + points + imports;
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
