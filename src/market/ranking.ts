// The order of the collection list: launched collections first, the rest by volume, floor or age. The two databases are
// never joined in SQL, so the order is made here, from one short row a collection, and kept for a moment.

import type { CollectionRankKey } from './queries/collections.ts';
import { listCollectionRankKeys } from './queries/collections.ts';
import { listAnalyticsFloors, listCollectionVolumes, listStatsFloors } from './queries/stats.ts';
import { toNativeNumber } from '../core/amount.ts';
import type { Rates } from '../core/price.ts';
import { readLiveFloors, toAskFloor } from './ask-floor.ts';
import type { Changes } from '../core/changes.ts';
import { ALL_COLLECTIONS } from '../core/changes.ts';
import type { Market } from './market.ts';
import { chainOf, requireValue } from './market.ts';
import { toVolumeAllTime } from './volumes.ts';

export const SORTS = ['volume', 'floor', 'recent'] as const;
export type Sort = (typeof SORTS)[number];

/** The place of a collection in a ranking. `value` is compared high to low, null last; ties go by id. */
export type Rank = { launched: boolean; value: number | bigint | null; id: string };

export type RankingQuery = { sort: Sort; chain: string | null };

/** How long an order is used before it is made again. An import makes it anew at once. */
const FRESH_MS = 1_000;

export type RankingReader = (query: RankingQuery) => Promise<Rank[]>;

export function createRankingReader(market: Market, changes: Changes): RankingReader {
  const kept = new Map<string, { version: number; madeAt: number; ranks: Promise<Rank[]> }>();
  return (query) => {
    const key = `${query.sort} ${query.chain ?? ''}`;
    const found = kept.get(key);
    const current = found && found.version >= changes.versionOf(ALL_COLLECTIONS);
    if (current && market.clock() - found.madeAt < FRESH_MS) return found.ranks;
    const entry = { version: changes.latest(), madeAt: market.clock(), ranks: rank(market, query) };
    kept.set(key, entry);
    entry.ranks.catch(() => {
      if (kept.get(key) === entry) kept.delete(key);
    });
    return entry.ranks;
  };
}

export function compareRanks(a: Rank, b: Rank): number {
  if (a.launched !== b.launched) return a.launched ? -1 : 1;
  if (a.value !== b.value) {
    if (a.value === null) return 1;
    if (b.value === null) return -1;
    return a.value > b.value ? -1 : 1;
  }
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/** The ranks that follow the given place, which need not be in the ranking any more. */
export function ranksAfter(ranks: readonly Rank[], place: Rank | null): readonly Rank[] {
  if (!place) return ranks;
  let low = 0;
  let high = ranks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const rank = ranks[middle];
    if (rank && compareRanks(rank, place) <= 0) low = middle + 1;
    else high = middle;
  }
  return ranks.slice(low);
}

async function rank(market: Market, query: RankingQuery): Promise<Rank[]> {
  const keys = requireValue(await market.primary.read((db) => listCollectionRankKeys(db, query.chain)), 'unavailable');
  const valueOf = await readValues(market, query, keys);
  return keys.map((key) => ({ launched: key.launched, value: valueOf(key), id: key.id })).sort(compareRanks);
}

type ValueOf = (key: CollectionRankKey) => number | bigint | null;

async function readValues(market: Market, query: RankingQuery, keys: CollectionRankKey[]): Promise<ValueOf> {
  switch (query.sort) {
    case 'recent':
      return (key) => key.createdAt;
    case 'volume': {
      const volumes = requireValue(
        await market.volumes.read((db) => listCollectionVolumes(db, null)),
        'upstream_error',
      );
      const byId = new Map(volumes.map((volume) => [volume.collectionId, volume]));
      return (key) => toVolumeAllTime(byId.get(key.id), chainOf(market, key.chain), key.snapshotVolume);
    }
    case 'floor': {
      const floorOf = await readFloors(market, keys);
      const rates = query.chain === null ? await market.rates.read() : null;
      return (key) => toComparable(market, key, floorOf(key), rates);
    }
  }
}

/** The ask floor of every collection, by the rule of the floor that is shown. */
async function readFloors(
  market: Market,
  keys: CollectionRankKey[],
): Promise<(key: CollectionRankKey) => bigint | null> {
  const ids = keys.map((key) => key.id);
  const [told, live] = await Promise.all([
    market.floorRanking.read((db) => Promise.all([listAnalyticsFloors(db, ids), listStatsFloors(db, ids)])),
    readLiveFloors(market, market.floorRanking, ids),
  ]);
  const [recorded, stats] = requireValue(told, 'upstream_error');
  const { floors: asks } = requireValue(live, 'upstream_error');
  const floors = { analytics: new Map([...asks, ...recorded]), stats };
  return (key) => toAskFloor(floors, key);
}

/**
 * Base units within one chain, dollars across chains. The newest rate orders the list whatever its age: an order by an old
 * rate is better than none, and shows no dollar value.
 */
function toComparable(
  market: Market,
  key: CollectionRankKey,
  floor: bigint | null,
  rates: Rates | null,
): number | bigint | null {
  const chain = chainOf(market, key.chain);
  if (floor === null || !chain) return null;
  if (!rates) return floor;
  const rate = rates.get(chain.symbol);
  return rate ? toNativeNumber(floor, chain.decimals) * rate.usd : null;
}
