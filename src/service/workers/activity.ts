// The task that merges recorded changes of the market into the activity log, and deletes old entries of the log. Writers merge their own
// changes after each commit. If their merge failed, or their process ended, the task merges these changes.

import { mergeChanges } from '../../market/activity/merge.ts';
import { deleteOldActivity, hasOldActivity } from '../../market/activity/queries/activity-log.ts';
import { sumParts } from '../../platform/tasks/independent-parts.ts';
import type { Task } from '../../platform/tasks/task.ts';
import type { WorkerContext } from './context.ts';

const PERIOD_MS = 1_000;
const DEADLINE_MS = 10 * 60_000;
const BATCH_TIMEOUT_MS = 10_000;
const BATCHES_MAX = 10_000;

/** The maximum number of old entries that one run deletes. The next run deletes further old entries. */
const DELETED_MAX = 1_000;
const DAY_MS = 24 * 60 * 60_000;

type ActivityContext = Pick<WorkerContext, 'main' | 'indexer' | 'clock' | 'activityMerged'> & {
  config: Pick<WorkerContext['config'], 'activityRetentionDays'>;
};

export function createActivityTask(context: ActivityContext): Task {
  return {
    name: 'activity',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal) => {
      let merged = 0;
      const merge = async () => {
        merged = await mergeChanges(context, { timeoutMs: BATCH_TIMEOUT_MS, batchesMax: BATCHES_MAX, signal });
        return merged;
      };
      const changed = await sumParts([merge, () => deleteOld(context)], signal);
      return { read: merged, changed, refused: 0 };
    },
  };
}

/** Uses only the primary database, so old entries are deleted even while the changes of the indexer cannot be merged. */
async function deleteOld({ main, clock, config }: ActivityContext): Promise<number> {
  const before = clock() - config.activityRetentionDays * DAY_MS;
  const db = main.within(BATCH_TIMEOUT_MS);
  if (!(await hasOldActivity(db, before))) return 0;
  return db.transaction((tx) => deleteOldActivity(tx, before, DELETED_MAX));
}
