// The task that merges recorded changes of the market into the activity log, and deletes old entries of the log. Writers merge their own
// changes after each commit. If their merge failed, or their process ended, the task merges these changes.

import { mergeChanges } from '../activity/merge.ts';
import { deleteOldActivity, hasOldActivity } from '../activity/queries/activity-log.ts';
import type { Task } from '../tasks/task.ts';
import type { WorkerContext } from './context.ts';

const PERIOD_MS = 1_000;
const DEADLINE_MS = 10 * 60_000;
const BATCH_TIMEOUT_MS = 10_000;
const BATCHES_MAX = 10_000;

/** The most old changes that one run deletes. The next run continues. */
const DELETED_MAX = 1_000;
const DAY_MS = 24 * 60 * 60_000;

export function createActivityTask(context: WorkerContext): Task {
  return {
    name: 'activity',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal) => {
      const merged = await mergeChanges(context, { timeoutMs: BATCH_TIMEOUT_MS, batchesMax: BATCHES_MAX, signal });
      const before = context.clock() - context.config.activityRetentionDays * DAY_MS;
      const main = context.main.within(BATCH_TIMEOUT_MS);
      const isDue = await hasOldActivity(main, before);
      const deleted = isDue ? await main.transaction((tx) => deleteOldActivity(tx, before, DELETED_MAX)) : 0;
      return { read: merged, changed: merged + deleted, refused: 0 };
    },
  };
}
