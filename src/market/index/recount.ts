// Counts all maintained figures again, for `mercat audit --replay` and for tests. These are the figures of the own order book and their
// copy in the indexer, the figures of listings, tokens, traits and holders, and the ranking keys.

import type { Chains } from '../../platform/core/chains.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { listBookDifferences } from '../orders/queries/book-recount.ts';
import { listCatalogDifferences, listHolderDifferences } from './queries/catalog-recount.ts';
import type { FigureDifference, RecountScope } from './queries/figure-recount.ts';
import { listFigureDifferences } from './queries/figure-recount.ts';
import { listRankDifferences } from './queries/rank-recount.ts';
import { listTraitDifferences } from './queries/trait-recount.ts';

/**
 * Returns the figures that are wrong at the time `now`. Right after an expiry sweep and a copy of the catalog, any difference is an
 * error. At other times a figure that depends on an expiry or on a change of the primary database may be out of date.
 */
export async function recountFigures(
  { main, indexer, chains }: { main: Queryable; indexer: Queryable; chains: Chains },
  scope: RecountScope,
): Promise<FigureDifference[]> {
  const book = await listBookDifferences(main, scope);
  return [
    ...book.map(({ asset, ...difference }) => ({ ...difference, row: asset })),
    ...(await listCatalogDifferences({ main, indexer }, scope)),
    ...(await listHolderDifferences({ main, indexer }, scope)),
    ...(await listFigureDifferences(indexer, scope)),
    ...(await listTraitDifferences(indexer, scope)),
    ...(await listRankDifferences(indexer, scope, chains)),
  ];
}
