// Consistent, read-only access to both databases at one moment.

import type { Database, Queryable } from './port.ts';

export type Sides = { main: Queryable; indexer: Queryable };

const SNAPSHOT = `set transaction isolation level repeatable read read only`;

/**
 * Runs `work` with one snapshot of each database. With two databases the indexer's snapshot begins first. Rows of the indexer are
 * computed from rows that the primary committed before, so the later snapshot of the primary contains those rows. On the embedded
 * engine all other statements wait until `work` ends.
 */
export function readTogether<T>(
  { main, indexer }: { main: Database; indexer: Database },
  work: (sides: Sides) => Promise<T>,
): Promise<T> {
  return indexer.transaction(async (indexerTx) => {
    await indexerTx.query(SNAPSHOT);
    if (indexer === main) return work({ main: indexerTx, indexer: indexerTx });
    // PostgreSQL takes the snapshot with the first statement.
    await indexerTx.query(`select`);
    return main.transaction(async (mainTx) => {
      await mainTx.query(SNAPSHOT);
      return work({ main: mainTx, indexer: indexerTx });
    });
  });
}
