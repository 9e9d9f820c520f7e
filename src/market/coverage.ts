// Stores which part of a collection's history a source has covered. The figures of the collection depend on it, so it is written under
// their lock.

import type { Database } from '../database/port.ts';
import type { CollectionCoverage } from './queries/coverage.ts';
import { upsertCoverage } from './queries/coverage.ts';
import { lockFigures } from './queries/figures.ts';

/** Call it after the rows that it is about were committed. */
export async function saveCoverage(
  indexer: Pick<Database, 'transaction'>,
  coverage: readonly CollectionCoverage[],
): Promise<void> {
  await indexer.transaction(async (tx) => {
    await lockFigures(
      tx,
      coverage.map(({ collectionId }) => collectionId),
    );
    await upsertCoverage(tx, coverage);
  });
}
