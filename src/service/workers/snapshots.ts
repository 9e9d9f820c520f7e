// The task that copies figures of followed collections from the indexer database to their stored snapshots in the primary database. A
// stored snapshot can be read while the indexer database fails. The task copies maintained figures and counts no rows.

import { listFollows } from '../../market/follows/queries/follows.ts';
import { listCollectionsByIds } from '../../market/reads/queries/collections.ts';
import { listSnapshotFacts, updateSnapshots } from '../../market/reads/queries/snapshots.ts';
import { toStoredSnapshot } from '../../market/reads/snapshots.ts';
import type { Task } from '../../platform/tasks/task.ts';
import type { WorkerContext } from './context.ts';

const PERIOD_MS = 5 * 60_000;
const DEADLINE_MS = 10 * 60_000;
const BATCH_SIZE = 200;
/** If a statement takes longer, the run fails, and the next run starts again. */
const BATCH_TIMEOUT_MS = 10_000;

export function createSnapshotsTask(context: WorkerContext): Task {
  return {
    name: 'snapshots',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal, report) => {
      const ids = (await listFollows(context.main.within(BATCH_TIMEOUT_MS))).map(({ collectionId }) => collectionId);
      let changed = 0;
      for (let start = 0; start < ids.length; start += BATCH_SIZE) {
        signal.throwIfAborted();
        report({ done: start, total: ids.length, what: 'collections' });
        changed += await keepSnapshots(context, ids.slice(start, start + BATCH_SIZE));
      }
      return { read: ids.length, changed, refused: 0 };
    },
  };
}

/** Returns how many stored snapshots changed. */
async function keepSnapshots(
  { main, indexer, chains, clock, onChanged }: WorkerContext,
  ids: readonly string[],
): Promise<number> {
  const facts = await listSnapshotFacts(indexer.within(BATCH_TIMEOUT_MS), ids);
  const factsOf = new Map(facts.map((one) => [one.collectionId, one]));
  const now = clock();
  const changed = await main.within(BATCH_TIMEOUT_MS).transaction(async (tx) => {
    const snapshots = (await listCollectionsByIds(tx, ids)).flatMap((collection) => {
      const known = factsOf.get(collection.id);
      const chain = collection.chain === null ? null : (chains.get(collection.chain) ?? null);
      return known ? [[collection.id, toStoredSnapshot(collection, known, { chain, now })] as const] : [];
    });
    return updateSnapshots(tx, new Map(snapshots));
  });
  if (changed.length > 0) onChanged({ collectionIds: new Set(changed), kinds: new Set(['collection']) });
  return changed.length;
}
