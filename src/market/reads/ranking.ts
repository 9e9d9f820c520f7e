// Reads one page of the ranking of collections. The ranking keys are stored. For each sort, an index holds the keys of each chain in order.
// A page is made by reading the next keys of each chain and merging them.

import type { Queryable } from '../../platform/database/port.ts';
import type { Market } from './market.ts';
import { requireValue } from './market-source.ts';
import { listCollectionsByIds } from './queries/collections.ts';
import type { RankKey, Sort } from '../index/queries/ranks.ts';
import { listRanked, listRankedChains } from '../index/queries/ranks.ts';
import { RankOrder } from './rank-order.ts';

export const SORTS = ['volume', 'floor', 'recent'] as const satisfies readonly Sort[];

/** `chain` null: all chains. */
export type RankingQuery = { sort: Sort; chain: string | null };

/**
 * The first `limit` keys of a ranking that sort after the key `after`, which need not be in the ranking any more. If the ranking cannot be
 * read, throws `upstream_error`. If the collection records cannot be read either, throws `unavailable`.
 */
export async function readRanking(
  market: Market,
  query: RankingQuery,
  { after, limit }: { after: RankKey | null; limit: number },
): Promise<RankKey[]> {
  const rates = query.chain === null ? await market.rates.read() : null;
  const order = new RankOrder(query.sort, { rates, chainOf: (id) => market.chainOf(id) });
  const result = await market.ranking.read((db) => listKeys(db, query, { order, after, limit }));
  if (result.ok) return result.value;
  // If both schemas are in one database that has failed, this read fails too. The error is then `unavailable`. For this error,
  // the response cache serves a stored response. For `upstream_error`, it serves none.
  requireValue(await market.primary.read((db) => listCollectionsByIds(db, [])), 'unavailable');
  return requireValue<RankKey[]>(result, 'upstream_error');
}

async function listKeys(
  db: Queryable,
  { sort, chain }: RankingQuery,
  { order, after, limit }: { order: RankOrder; after: RankKey | null; limit: number },
): Promise<RankKey[]> {
  const chains = chain === null ? await listRankedChains(db) : [chain];
  const keys = await listRanked(db, sort, {
    from: chains.map((one) => order.boundsOf(one, after)),
    after: { launched: after?.launched ?? true, id: after?.id ?? '' },
    limit,
  });
  return order.merge([...Map.groupBy(keys, (key) => key.chain).values()], limit);
}
