// The task that copies changes of collections and of own orders from the primary database to the indexer database. Writers copy their own
// changes after each commit. If their copy failed, the task copies these changes.

import { copyCatalog } from '../../market/index/catalog.ts';
import type { Task } from '../../platform/tasks/task.ts';
import type { WorkerContext } from './context.ts';

const PERIOD_MS = 5_000;
const DEADLINE_MS = 10 * 60_000;
const BATCH_TIMEOUT_MS = 10_000;
const BATCHES_MAX = 10_000;

export function createCatalogTask(context: WorkerContext): Task {
  return {
    name: 'catalog',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal) => {
      const changed = await copyCatalog(context, { timeoutMs: BATCH_TIMEOUT_MS, batchesMax: BATCHES_MAX, signal });
      return { read: changed, changed, refused: 0 };
    },
  };
}
