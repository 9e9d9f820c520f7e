// The task that merges recorded changes of the market into the activity log. Writers merge after each commit. If their merge failed, or
// their process ended, the task merges these changes.

import { mergeChanges } from '../activity/merge.ts';
import type { Task } from '../tasks/task.ts';
import type { WorkerContext } from './context.ts';

const PERIOD_MS = 1_000;
const DEADLINE_MS = 10 * 60_000;
const BATCH_TIMEOUT_MS = 10_000;
const BATCHES_MAX = 10_000;

export function createActivityTask(context: WorkerContext): Task {
  return {
    name: 'activity',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal) => {
      const merged = await mergeChanges(context, { timeoutMs: BATCH_TIMEOUT_MS, batchesMax: BATCHES_MAX, signal });
      return { read: merged, changed: merged, refused: 0 };
    },
  };
}
