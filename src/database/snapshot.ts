// Consistent reads over both databases. Read only.

import type { Database, Queryable } from './port.ts';

export type Sides = { main: Queryable; indexer: Queryable };

const SNAPSHOT = `set transaction isolation level repeatable read read only`;

/**
 * Runs `work` in one snapshot of each database. With two databases the snapshot of the indexer is the earlier one: the rows of the
 * primary from which the indexer was written are then in the later snapshot. On the embedded engine all other statements wait.
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
