// The sort order of the collection list: launched collections first, then by volume, floor or age. Collection records and
// statistics may be in two databases, so their rows are merged and sorted in memory, and the result is kept for a second.

import { toNativeNumber } from '../core/amount.ts';
import type { CollectionVersions } from '../core/collection-versions.ts';
import { ALL_COLLECTIONS } from '../core/collection-versions.ts';
import type { Rates } from '../core/price.ts';
import { readBookFloors, toAskFloor } from './ask-floor.ts';
import type { Market } from './market.ts';
import { requireValue } from './market-source.ts';
import type { RankedCollection } from './queries/collections.ts';
import { listRankedCollections } from './queries/collections.ts';
import { listStatsFloors } from './queries/stats.ts';
import { listAnalyticsFloors, listCollectionVolumes } from './queries/analytics.ts';
import { toVolumeAllTime } from './volumes.ts';

export const SORTS = ['volume', 'floor', 'recent'] as const;
export type Sort = (typeof SORTS)[number];

/** `chain` null: all chains. */
export type RankingQuery = { sort: Sort; chain: string | null };

/** The sort key of a collection. `value` sorts high to low with null last; equal values sort by id. */
export type RankKey = { launched: boolean; value: number | bigint | null; id: string };

/** How long a ranking is used, unless a change makes it stale earlier. */
const FRESH_MS = 1_000;

/** `version` (of the collections) and `readAt` are from the moment before the read of the ranking began. */
type Entry = { version: number; readAt: number; keys: Promise<RankKey[]> };

export class CollectionRankings {
  readonly #market: Market;
  readonly #changes: CollectionVersions;
  readonly #entries = new Map<string, Entry>();

  constructor(market: Market, changes: CollectionVersions) {
    this.#market = market;
    this.#changes = changes;
  }

  /**
   * The sort keys of all collections that match the query, sorted. Rejects with `unavailable` when the collection records cannot
   * be read, with `upstream_error` when the values to sort by cannot be read.
   */
  read(query: RankingQuery): Promise<RankKey[]> {
    const name = `${query.sort} ${query.chain ?? ''}`;
    const cached = this.#entries.get(name);
    const isCurrent = cached && cached.version >= this.#changes.versionOf(ALL_COLLECTIONS);
    if (isCurrent && this.#market.clock() - cached.readAt < FRESH_MS) return cached.keys;
    const entry: Entry = {
      version: this.#changes.latest(),
      readAt: this.#market.clock(),
      keys: readRanking(this.#market, query),
    };
    this.#entries.set(name, entry);
    entry.keys.catch(() => {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    });
    return entry.keys;
  }
}

export function compareKeys(a: RankKey, b: RankKey): number {
  if (a.launched !== b.launched) return a.launched ? -1 : 1;
  if (a.value !== b.value) {
    if (a.value === null) return 1;
    if (b.value === null) return -1;
    return a.value > b.value ? -1 : 1;
  }
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/** The keys that sort after `key`, which need not be one of `keys`. All keys when `key` is null. */
export function keysAfter(keys: readonly RankKey[], key: RankKey | null): readonly RankKey[] {
  if (!key) return keys;
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const candidate = keys[middle];
    if (candidate && compareKeys(candidate, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return keys.slice(low);
}

async function readRanking(market: Market, query: RankingQuery): Promise<RankKey[]> {
  const collections = requireValue(
    await market.primary.read((db) => listRankedCollections(db, query.chain)),
    'unavailable',
  );
  const valueOf = await readValues(market, query, collections);
  return collections
    .map((collection) => ({ launched: collection.launched, value: valueOf(collection), id: collection.id }))
    .sort(compareKeys);
}

type ValueOf = (collection: RankedCollection) => number | bigint | null;

async function readValues(
  market: Market,
  query: RankingQuery,
  collections: readonly RankedCollection[],
): Promise<ValueOf> {
  switch (query.sort) {
    case 'recent':
      return (collection) => collection.createdAt;
    case 'volume': {
      const volumes = requireValue(
        await market.volumes.read((db) =>
          listCollectionVolumes(
            db,
            collections.map(({ id }) => id),
          ),
        ),
        'upstream_error',
      );
      const byId = new Map(volumes.map((volume) => [volume.collectionId, volume]));
      return ({ id, chain, snapshotVolume }) => toVolumeAllTime(byId.get(id), market.chainOf(chain), snapshotVolume);
    }
    case 'floor': {
      const floorOf = await readFloors(market, collections);
      const rates = query.chain === null ? await market.rates.read() : null;
      return (collection) => toComparable(market, floorOf(collection), { chain: collection.chain, rates });
    }
  }
}

/** The ask floors of the collections, by the same rule as the floor in a response. Throws `upstream_error`. */
async function readFloors(
  market: Market,
  collections: readonly RankedCollection[],
): Promise<(collection: RankedCollection) => bigint | null> {
  const ids = collections.map((collection) => collection.id);
  const [recordFloors, bookFloors] = await Promise.all([
    market.floorRanking.read((db) => Promise.all([listAnalyticsFloors(db, ids), listStatsFloors(db, ids)])),
    readBookFloors(market, market.floorRanking, ids),
  ]);
  const [analytics, stats] = requireValue(recordFloors, 'upstream_error');
  const books = requireValue(bookFloors, 'upstream_error').floors;
  const floors = { analytics: new Map([...books, ...analytics]), stats };
  return (collection) => toAskFloor(floors, collection);
}

/**
 * The value by which a floor is sorted: base units within one chain (`rates` is null), dollars across chains. A rate of any age is
 * used, because sorting by an old rate is better than not sorting. Responses still have no dollars for a rate that is too old.
 */
function toComparable(
  market: Market,
  floor: bigint | null,
  { chain: chainId, rates }: { chain: string | null; rates: Rates | null },
): number | bigint | null {
  const chain = market.chainOf(chainId);
  if (floor === null || !chain) return null;
  if (!rates) return floor;
  const rate = rates.get(chain.symbol);
  return rate ? toNativeNumber(floor, chain.decimals) * rate.usd : null;
}
