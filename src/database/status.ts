// The section `databases` of the service's status.

import type { StatusProvider } from '../core/status.ts';
import type { Database } from './port.ts';
import type { ReplicaSet, ReplicaStatus } from './replicas/replica-set.ts';

export type DatabaseStatus = {
  engine: Database['engine'];
  answers: boolean;
  latencyMs: number | null;
  /** Absent unless this is a replica. `leftOut`: why it is not read. `lagMs`: how far it is behind at most. */
  replica?: Pick<ReplicaStatus, 'leftOut' | 'lagMs'>;
};

const STATUS_TIMEOUT_MS = 2_000;

/**
 * Reports whether each database and each replica responds. If the indexer is a schema of the primary, `indexer` repeats the status of `main`.
 */
export function createDatabaseStatus(
  { main, indexer }: { main: Database; indexer: Database },
  replicas: readonly ReplicaSet[] = [],
): StatusProvider {
  return {
    section: 'databases',
    read: async () => {
      const [primary, index] = await Promise.all([readStatus(main), indexer === main ? null : readStatus(indexer)]);
      const ofReplicas = replicas.flatMap((set) => set.status()).map((status) => [status.name, toStatus(status)]);
      return { main: primary, indexer: index ?? primary, ...Object.fromEntries(ofReplicas) };
    },
  };
}

function toStatus({ leftOut, lagMs, latencyMs }: ReplicaStatus): DatabaseStatus {
  return {
    engine: 'postgresql',
    answers: latencyMs !== null,
    latencyMs,
    replica: { leftOut, lagMs: lagMs === null ? null : Math.round(lagMs) },
  };
}

async function readStatus(db: Database): Promise<DatabaseStatus> {
  const startedAt = performance.now();
  try {
    await db.within(STATUS_TIMEOUT_MS).query('select 1');
    return { engine: db.engine, answers: true, latencyMs: Math.round(performance.now() - startedAt) };
  } catch {
    // The reason is not logged here, because requests and tasks that fail because of this database log it.
    return { engine: db.engine, answers: false, latencyMs: null };
  }
}
