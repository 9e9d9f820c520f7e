// The section `databases` of the service's status.

import type { StatusProvider } from '../core/status.ts';
import { isReachable, listWorkers } from './citus.ts';
import { createLane } from './connection-lane.ts';
import type { Database, Statements } from './port.ts';
import type { FairQueue } from '../resilience/fair-queue.ts';
import type { WriteFailureReason } from './write-health.ts';

export type DatabaseStatus = {
  engine: Database['engine'];
  answers: boolean;
  latencyMs: number | null;
  /** Null unless writes to this database fail. */
  writeFailure: { reason: WriteFailureReason; since: string } | null;
  /** Absent unless this is the coordinator of a Citus cluster. */
  cluster?: { workers: readonly WorkerStatus[] };
};

/** `node`: `nodeid` of `pg_dist_node`. `answers`: whether the coordinator can use this worker. */
export type WorkerStatus = { node: number; answers: boolean };

const STATUS_TIMEOUT_MS = 2_000;

/** Reports whether each database responds. If the indexer is a schema of the primary, `indexer` repeats the status of `main`. */
export function createDatabaseStatus({ main, indexer }: { main: Database; indexer: Database }): StatusProvider {
  // A worker that hangs may hold connections to the coordinator until the deadline. The lane limits their number.
  const lane = createLane(indexer.pool().max);
  return {
    section: 'databases',
    read: async () => {
      const [primary, index, cluster] = await Promise.all([
        readStatus(main),
        indexer === main ? null : readStatus(indexer),
        readCluster(indexer, lane),
      ]);
      return { main: primary, indexer: { ...(index ?? primary), ...cluster } };
    },
  };
}

/** Empty if the database is no cluster, or does not respond. */
async function readCluster(indexer: Database, lane: FairQueue): Promise<Pick<DatabaseStatus, 'cluster'>> {
  if (indexer.engine === 'embedded') return {};
  try {
    const workers = await readWorkers(indexer.within(STATUS_TIMEOUT_MS, lane));
    return workers.length > 0 ? { cluster: { workers } } : {};
  } catch {
    // The status says that the database does not respond. Requests and tasks that fail because of it log the reason.
    return {};
  }
}

async function readWorkers(db: Statements): Promise<WorkerStatus[]> {
  const workers = await listWorkers(db);
  return Promise.all(workers.map(async (worker) => ({ node: worker.id, answers: await isReachable(db, worker) })));
}

async function readStatus(db: Database): Promise<DatabaseStatus> {
  const startedAt = performance.now();
  const { failure } = db.writes;
  const writeFailure = failure && { reason: failure.reason, since: new Date(failure.since).toISOString() };
  try {
    await db.within(STATUS_TIMEOUT_MS).query('select 1');
    return { engine: db.engine, answers: true, latencyMs: Math.round(performance.now() - startedAt), writeFailure };
  } catch {
    // The reason is not logged here, because requests and tasks that fail because of this database log it.
    return { engine: db.engine, answers: false, latencyMs: null, writeFailure };
  }
}
