// Reads one page of the ranking of collections. The ranking keys are stored. A page is made by reading the next keys of each chain and merging
// them.

import { toRawLimit } from '../../platform/core/amount.ts';
import type { Chain } from '../../platform/core/chains.ts';
import type { Rates } from '../../platform/core/price.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { WindowName } from '../provenance/trade.ts';
import type { Market } from './market.ts';
import { requireValue } from './market-source.ts';
import { listCollectionsByIds } from './queries/collections.ts';
import type { ChainBounds, RankKey, Range, Sort } from '../index/queries/ranks.ts';
import { listRanked, listRankedChains } from '../index/queries/ranks.ts';
import { RankOrder } from './rank-order.ts';

/** The sorts of `/v1`. */
export const SORTS = ['volume', 'floor', 'recent'] as const satisfies readonly Sort[];

/**
 * `chain` null: all chains. `window`: of volume, sales and change; by default all time. `isAscending`: from low to high. `isLaunchedFirst`: launched
 * collections come before all others; default: true. `floor` and `volume`: only collections whose floor or volume of the window is within the range: decimals in native units of `chain`, or in dollars if there is none.
 */
export type RankingQuery = {
  sort: Sort;
  chain: string | null;
  window?: WindowName;
  isAscending?: boolean;
  isLaunchedFirst?: boolean;
  floor?: Range<string> | null;
  volume?: Range<string> | null;
};

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
  const chainOf = (id: string) => market.chainOf(id);
  const { sort, isAscending = false, isLaunchedFirst = true } = query;
  const order = new RankOrder({ sort, isAscending, isLaunchedFirst }, { rates, chainOf });
  const limitsOf = (chain: string) => toLimits(query, chainOf(chain), rates);
  const result = await market.ranking.read((db) => listKeys(db, query, { order, limitsOf, after, limit }));
  if (result.ok) return result.value;
  // If both schemas are in one database that has failed, this read fails too. The error is then `unavailable`. For this error,
  // the response cache serves a stored response. For `upstream_error`, it serves none.
  requireValue(await market.primary.read((db) => listCollectionsByIds(db, [])), 'unavailable');
  return requireValue<RankKey[]>(result, 'upstream_error');
}

type Limits = Pick<ChainBounds, 'floor' | 'volume'>;

async function listKeys(
  db: Queryable,
  { sort, chain, window = 'allTime', isAscending = false, isLaunchedFirst = true }: RankingQuery,
  {
    order,
    limitsOf,
    after,
    limit,
  }: { order: RankOrder; limitsOf: (chain: string) => Limits | null; after: RankKey | null; limit: number },
): Promise<RankKey[]> {
  const chains = chain === null ? await listRankedChains(db) : [chain];
  const from = chains.flatMap((one) => {
    const limits = limitsOf(one);
    return limits ? [{ ...order.boundsOf(one, after), ...limits }] : [];
  });
  const ranking = { sort, window, isAscending };
  const id = after?.id ?? '';
  if (isLaunchedFirst) {
    const keys = await listRanked(db, ranking, { from, after: { launched: after?.launched ?? true, id }, limit });
    return order.merge([...Map.groupBy(keys, (key) => key.chain).values()], limit);
  }
  // The stored order of a chain has the launched collections first, so each of the two parts is a list of its own, which begins after the position.
  const launched = await listRanked(db, ranking, { from, after: { launched: true, id }, limit });
  const others = await listRanked(db, ranking, { from, after: { launched: false, id }, limit });
  const parts = [launched.filter((key) => key.launched), others];
  return order.merge(
    parts.flatMap((keys) => [...Map.groupBy(keys, (key) => key.chain).values()]),
    limit,
  );
}

/** Null if no collection of the chain can be within the ranges, because they are in dollars and the chain has no rate. */
function toLimits(
  { floor = null, volume = null }: RankingQuery,
  chain: Chain | null,
  rates: Rates | null,
): Limits | null {
  if (!floor && !volume) return {};
  if (!chain) return null;
  const { decimals } = chain;
  if (rates === null) {
    return {
      floor: floor && toRange(floor, (text, side) => toRawLimit(text, decimals, side)),
      volume: volume && toRange(volume, Number),
    };
  }
  const rate = rates.get(chain.symbol);
  if (!rate) return null;
  const toNative = (text: string) => Number(text) / rate.usd;
  const toRaw = (text: string, side: 'min' | 'max') =>
    BigInt(Math[side === 'min' ? 'ceil' : 'floor'](toNative(text) * 10 ** decimals));
  return { floor: floor && toRange(floor, toRaw), volume: volume && toRange(volume, toNative) };
}

function toRange<T>({ min, max }: Range<string>, toLimit: (text: string, side: 'min' | 'max') => T): Range<T> {
  return { min: min === null ? null : toLimit(min, 'min'), max: max === null ? null : toLimit(max, 'max') };
}
