// The section `databases` of the service's status.

import type { StatusProvider } from '../core/status.ts';
import type { Database } from './port.ts';

export type DatabaseStatus = { engine: Database['engine']; answers: boolean; latencyMs: number | null };

const STATUS_TIMEOUT_MS = 2_000;

/** Reports whether each database responds. If the indexer is a schema of the primary, `indexer` repeats the status of `main`. */
export function createDatabaseStatus({ main, indexer }: { main: Database; indexer: Database }): StatusProvider {
  return {
    section: 'databases',
    read: async () => {
      const [primary, index] = await Promise.all([readStatus(main), indexer === main ? null : readStatus(indexer)]);
      return { main: primary, indexer: index ?? primary };
    },
  };
}

async function readStatus(db: Database): Promise<DatabaseStatus> {
  const startedAt = performance.now();
  try {
    await db.within(STATUS_TIMEOUT_MS).query('select 1');
    return { engine: db.engine, answers: true, latencyMs: Math.round(performance.now() - startedAt) };
  } catch {
    // Requests and tasks that fail because of this database log the reason.
    return { engine: db.engine, answers: false, latencyMs: null };
  }
}
