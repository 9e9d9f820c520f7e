// The ask floor: the cheapest seller ask, from live analytics to the indexer's row to the stored snapshot. A floor is read,
// never repaired: an index probe that looks at the clock.

import { listCheapestAsks, listCollectionsWithOrderedAsset } from '../db/book-orders.ts';
import { listCheapestMirrored } from '../db/listings.ts';
import { listAnalyticsFloors, listStatsFloors } from '../db/stats.ts';
import type { Collection } from '../domain/collection.ts';
import { readListingWindow } from './listings.ts';
import type { Market } from './market.ts';
import { valueOrNull } from './market.ts';

/** Floors by collection id as each source knows them; a source that failed is null. */
export type AskFloors = {
  /** A record's floor, else the cheapest ask of the merged book. */
  analytics: ReadonlyMap<string, bigint> | null;
  stats: ReadonlyMap<string, bigint> | null;
};

export async function readAskFloors(market: Market, collections: readonly Collection[]): Promise<AskFloors> {
  const ids = collections.map((collection) => collection.id);
  const [analytics, stats] = await Promise.all([
    readAnalyticsFloors(market, collections),
    market.stats.read((db) => listStatsFloors(db, ids)),
  ]);
  return { analytics, stats: valueOrNull(stats) };
}

/** The ask floor of one collection by the chain of fallbacks, or null when nobody knows one. */
export function toAskFloor(
  floors: AskFloors,
  collection: { id: string; snapshotFloorRaw: bigint | null },
): bigint | null {
  return floors.analytics?.get(collection.id) ?? floors.stats?.get(collection.id) ?? collection.snapshotFloorRaw;
}

/** What live analytics knows, or null when it cannot be read. */
async function readAnalyticsFloors(
  market: Market,
  collections: readonly Collection[],
): Promise<Map<string, bigint> | null> {
  const now = market.clock();
  const ids = collections.map((collection) => collection.id);
  const [observed, book] = await Promise.all([
    market.analytics.read((db) => Promise.all([listAnalyticsFloors(db, ids), listCheapestMirrored(db, ids, now)])),
    market.orderBook.read((db) => listCheapestAsks(db, ids, now)),
  ]);
  if (!observed.ok) return null;
  const [recorded, mirrored] = observed.value;
  const floors = new Map(book.ok ? book.value : []);
  const hidden = await findHiddenRows(
    market,
    mirrored.filter((row) => floors.has(row.collectionId) && !recorded.has(row.collectionId)),
    now,
  );
  for (const row of mirrored) {
    const own = floors.get(row.collectionId);
    if (!hidden.has(row.collectionId) && (own === undefined || row.raw < own)) floors.set(row.collectionId, row.raw);
  }
  // Rare: the cheapest mirrored row is hidden by a dearer own one, so the next one down decides. Only the merge can tell.
  for (const collection of collections.filter((one) => hidden.has(one.id))) {
    const [first] = (await readListingWindow(market, collection)).listings;
    if (first) floors.set(collection.id, first.raw);
  }
  return new Map([...floors, ...recorded]);
}

/** The collections whose cheapest mirrored row is hidden by an own row of the same asset. */
async function findHiddenRows(
  market: Market,
  rows: readonly { collectionId: string; asset: string }[],
  now: number,
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const hidden = await market.orderBook.read((db) => listCollectionsWithOrderedAsset(db, rows, now));
  return hidden.ok ? hidden.value : new Set();
}
