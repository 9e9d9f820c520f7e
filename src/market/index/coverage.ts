// Stores which part of a collection's history is known. The figures of the collection depend on the coverage.

import type { Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Database } from '../../platform/database/port.ts';
import type { CollectionCoverage } from './queries/coverage.ts';
import { upsertCoverage } from './queries/coverage.ts';
import { changeIndex } from './change-index.ts';

/** Must be called after the commit of the rows that the coverage is about. */
export async function saveCoverage(
  { indexer, chains, clock }: { indexer: Pick<Database, 'transaction'>; chains: Chains; clock: Clock },
  coverage: readonly CollectionCoverage[],
): Promise<void> {
  await indexer.transaction(async (tx) => {
    const collectionIds = coverage.map(({ collectionId }) => collectionId);
    await changeIndex(tx, { collectionIds, refresh: { chains, now: clock() } }, () => upsertCoverage(tx, coverage));
  });
}
