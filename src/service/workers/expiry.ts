// The sweep that marks expired orders and listings, and deletes rows that are no longer used. It keeps the indexes of active rows small.
// Reads compare expiry times with the clock themselves, so a late sweep does not change what is served.

import { expireOrders, startOrders } from '../../market/orders/book.ts';
import { IDEMPOTENCY_KEPT_MS } from '../../shop/idempotency.ts';
import { deleteStoredResponses } from '../../shop/queries/idempotency.ts';
import { updateExpiredListings } from '../../market/index/queries/listing-writes.ts';
import { refreshDueRanks } from '../../market/index/change-index.ts';
import { deleteOldPoints } from '../../market/index/queries/market-points.ts';
import { deleteOldViews } from '../../market/reads/queries/recent-views.ts';
import { deleteOldChanges } from '../../intake/undo/retention.ts';
import { sumParts } from '../../platform/tasks/independent-parts.ts';
import type { Task } from '../../platform/tasks/task.ts';
import type { WorkerContext } from './context.ts';

/** The time between two sweeps. Ranking keys and other stored figures may count an expired listing for this long. */
const PERIOD_MS = 5_000;
/** Only a sweep that hangs takes so long. */
const DEADLINE_MS = 10 * 60_000;
const BATCH_SIZE = 500;
/** If a batch takes longer, the sweep fails and the next sweep continues. */
const BATCH_TIMEOUT_MS = 10_000;
/** The most batches of each kind of row in one sweep. The next sweep continues with the remaining rows. */
const BATCHES_MAX = 200;

/**
 * The most imports whose recorded changes one sweep deletes. There are few, because one statement deletes the changes of all these imports. An
 * import of a million records has 2,000 rows of changes.
 */
const OLD_IMPORTS_MAX = 5;

/**
 * How long a recent view is kept. The row of the view also has the time of the last refresh. Tasks need the time of the view for some
 * minutes, and the time of the refresh for some hours.
 */
const VIEWS_KEPT_MS = 24 * 60 * 60_000;

/**
 * How long each change of a floor or listed count is kept as a point (market-points.ts). A reorganisation does not change older points,
 * because the follower does not revert blocks of this age.
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

/**
 * Works in batches, so that no statement takes long. Returns the number of rows that were marked or deleted. If the sweep of one
 * kind of rows fails, for example because the indexer database fails, the sweeps of the other kinds still run, and then the error is thrown.
 */
export function sweepExpired(
  { main, indexer, chains, clock }: Pick<WorkerContext, 'main' | 'indexer' | 'chains' | 'clock'>,
  signal?: AbortSignal,
): Promise<number> {
  const mainWithin = () => main.within(BATCH_TIMEOUT_MS);
  const indexerWithin = () => indexer.within(BATCH_TIMEOUT_MS);
  const sweeps: ((limit: number) => Promise<number>)[] = [
    (limit) => expireOrders(mainWithin(), clock(), limit),
    (limit) => startOrders(mainWithin(), clock(), limit),
    (limit) => updateExpiredListings(indexerWithin(), { chains, now: clock() }, limit),
    (limit) => refreshDueRanks(indexerWithin(), { chains, now: clock() }, limit),
    (limit) => deleteStoredResponses(mainWithin(), clock() - IDEMPOTENCY_KEPT_MS, limit),
    (limit) => deleteOldViews(mainWithin(), clock() - VIEWS_KEPT_MS, limit),
    (limit) => deleteOldPoints(indexerWithin(), clock() - POINTS_KEPT_MS, limit),
  ];
  const databases = () => ({ main: mainWithin(), indexer: indexerWithin() });
  return sumParts(
    [
      ...sweeps.map((sweep) => () => sweepBatches(sweep, signal)),
      () => deleteOldChanges(databases(), clock(), OLD_IMPORTS_MAX),
    ],
    signal,
  );
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
