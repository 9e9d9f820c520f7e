// One collection in detail: its record, and statistics from several sources, each of which can fail alone.

import { listFillableAssets } from '../orders/queries/fillable-orders.ts';
import { countListedAssets } from './queries/listings.ts';
import type { CollectionStats } from './queries/stats.ts';
import type { Windows } from './provenance/trade.ts';
import type { CollectionAnalytics } from './queries/analytics.ts';
import { findCollectionStats } from './queries/stats.ts';
import { findCollectionAnalytics } from './queries/analytics.ts';
import { toNativeNumber } from '../core/amount.ts';
import type { Collection } from '../core/collection.ts';
import type { Result } from '../resilience/source.ts';
import { readAskFloors, toAskFloor } from './ask-floor.ts';
import type { Market } from './market.ts';
import { valueOrNull } from './market-source.ts';
import { resolveCollection } from './resolve-collection.ts';

export type CollectionDetail = {
  collection: Collection;
  askFloorRaw: bigint | null;
  /** In native units. */
  volume: Windows<number | null>;
  sales: Windows<number | null>;
  supply: number | null;
  owners: number | null;
  listedCount: number | null;
  /** True only when neither the stats nor the analytics could be read. */
  stale: boolean;
  /** True when any source failed. */
  degraded: boolean;
};

const UNKNOWN: Windows<null> = { allTime: null, sevenDay: null, twentyFourHour: null };
/** The largest number of own assets that are read. Further own assets count only if the mirror lists them too. */
const OWN_ASSETS_MAX = 20_000;

/** Reads the collection that `id` names. Throws `not_found` when there is none, `unavailable` when records cannot be read. */
export async function readCollectionDetail(market: Market, id: string): Promise<CollectionDetail> {
  const collection = await resolveCollection(market, id);
  const now = market.clock();
  const [stats, listedCount, analytics, floors] = await Promise.all([
    market.stats.read((db) => findCollectionStats(db, collection.id)),
    countListings(market, collection.id, now),
    market.analytics.read((db) => findCollectionAnalytics(db, collection.id, now)),
    readAskFloors(market, [collection]),
  ]);
  return {
    collection,
    askFloorRaw: toAskFloor(floors, { id: collection.id, snapshotFloorRaw: collection.snapshot.floorRaw }),
    ...toTrade(market, collection, analytics),
    ...toHoldings(collection, stats, valueOrNull(listedCount)),
    stale: !stats.ok && !analytics.ok,
    degraded: !stats.ok || !analytics.ok || floors.degraded || !listedCount.ok,
  };
}

/**
 * Volume and sales. Both are unknown when the analytics could not be read. When there is neither a recorded volume nor a sum of
 * sales, the all-time volume is that of the stored snapshot.
 */
function toTrade(market: Market, collection: Collection, analytics: Result<CollectionAnalytics>) {
  if (!analytics.ok) return { volume: UNKNOWN, sales: UNKNOWN };
  const { recordedVolume, summedVolumeRaw, sales } = analytics.value;
  const chain = market.chainOf(collection.chain);
  if (recordedVolume) return { volume: recordedVolume, sales };
  if (!summedVolumeRaw || !chain) return { volume: { ...UNKNOWN, allTime: collection.snapshot.volumeAllTime }, sales };
  const toNative = (raw: bigint) => toNativeNumber(raw, chain.decimals);
  const volume = {
    allTime: toNative(summedVolumeRaw.allTime),
    sevenDay: toNative(summedVolumeRaw.sevenDay),
    twentyFourHour: toNative(summedVolumeRaw.twentyFourHour),
  };
  return { volume, sales };
}

/** Supply, owners and listed count. When the stats cannot be read, the supply is the snapshot's, and the two others are null. */
function toHoldings(collection: Collection, stats: Result<CollectionStats>, listedCount: number | null) {
  if (!stats.ok) return { supply: collection.snapshot.supply, owners: null, listedCount: null };
  return {
    supply: stats.value.supply ?? collection.snapshot.supply,
    owners: stats.value.owners ?? collection.snapshot.owners,
    listedCount: stats.value.listedCount ?? listedCount,
  };
}

/** Counts the assets that are listed in the own book, in the mirror or in both. A failure when either cannot be read. */
async function countListings(market: Market, collectionId: string, now: number): Promise<Result<number>> {
  const own = await market.orderBook.read((db) =>
    listFillableAssets(db, [collectionId], { now, limit: OWN_ASSETS_MAX }),
  );
  if (!own.ok) return own;
  const mirrored = await market.listedCounts.read((db) =>
    countListedAssets(db, collectionId, { now, except: own.value.map((one) => one.asset) }),
  );
  return mirrored.ok ? { ok: true, value: mirrored.value + own.value.length } : mirrored;
}
