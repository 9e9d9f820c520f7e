// Consistent, read-only access to both databases at one moment.

import type { Database, Queryable } from './port.ts';

export type Sides = { main: Queryable; indexer: Queryable };

const SNAPSHOT = `set transaction isolation level repeatable read read only`;

/**
 * Runs `work` with one snapshot of each database. The indexer's snapshot begins first: its rows were computed from rows that the primary
 * had committed before, so the primary's later snapshot has those rows. On the embedded engine, all other statements wait for `work`.
 */
export function readTogether<T>(
  { main, indexer }: { main: Database; indexer: Database },
  work: (sides: Sides) => Promise<T>,
): Promise<T> {
  return indexer.transaction(async (indexerTx) => {
    await indexerTx.query(SNAPSHOT);
    if (indexer === main) return work({ main: indexerTx, indexer: indexerTx });
    // PostgreSQL takes the snapshot when it executes the first statement.
    await indexerTx.query(`select`);
    return main.transaction(async (mainTx) => {
      await mainTx.query(SNAPSHOT);
      return work({ main: mainTx, indexer: indexerTx });
    });
  });
}
