// Reading both databases as they were at one moment. It never writes.

import type { Database, Queryable } from './port.ts';

export type Sides = { main: Queryable; indexer: Queryable };

const ONE_MOMENT = `set transaction isolation level repeatable read read only`;

/**
 * Everything that `work` reads is of one moment. Of two databases the indexer's moment is the earlier one: what it was written
 * from is still in the primary, unless the primary says that it has moved on. On the embedded engine everybody else waits.
 */
export function readTogether<T>(
  { main, indexer }: { main: Database; indexer: Database },
  work: (sides: Sides) => Promise<T>,
): Promise<T> {
  return indexer.transaction(async (indexerTx) => {
    await indexerTx.query(ONE_MOMENT);
    if (indexer === main) return work({ main: indexerTx, indexer: indexerTx });
    // The moment is that of the first statement.
    await indexerTx.query(`select`);
    return main.transaction(async (mainTx) => {
      await mainTx.query(ONE_MOMENT);
      return work({ main: mainTx, indexer: indexerTx });
    });
  });
}
