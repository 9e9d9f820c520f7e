// Reads both databases in one read-only transaction of each database. Such a transaction sees one state of its database: later commits do not
// change what it reads.

import type { Database, Queryable } from './port.ts';

export type Sides = { main: Queryable; indexer: Queryable };

const SNAPSHOT = `set transaction isolation level repeatable read read only`;

/**
 * Runs `work` with one state of each database. The state of the indexer is the earlier one, because rows of the indexer are computed from
 * committed rows of the primary. So the state of the primary has the rows from which the rows of the indexer were computed. On the embedded
 * engine, all other statements wait for `work`.
 */
export function readTogether<T>(
  { main, indexer }: { main: Database; indexer: Database },
  work: (sides: Sides) => Promise<T>,
): Promise<T> {
  return indexer.transaction(async (indexerTx) => {
    await indexerTx.query(SNAPSHOT);
    if (indexer === main) return work({ main: indexerTx, indexer: indexerTx });
    // A transaction sees the state at its first statement after `set transaction`.
    await indexerTx.query(`select`);
    return main.transaction(async (mainTx) => {
      await mainTx.query(SNAPSHOT);
      return work({ main: mainTx, indexer: indexerTx });
    });
  });
}
