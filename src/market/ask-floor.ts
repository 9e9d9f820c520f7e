// The ask floor of a collection: the cheapest price that a seller asks. It comes from the first of these sources that has a value:
// an analytics record, the cheapest listing of the own book and the mirror, a stats record, the stored snapshot.

import type { Collection } from '../core/collection.ts';
import {
  listFillableAssets,
  listCheapestAsks,
  listCollectionsWithFillableAsset,
} from '../orders/queries/fillable-orders.ts';
import type { Result } from '../resilience/source.ts';
import type { Market } from './market.ts';
import type { MarketSource } from './market-source.ts';
import { valueOrNull } from './market-source.ts';
import { listCheapestMirrored } from './queries/listings.ts';
import { listStatsFloors } from './queries/stats.ts';
import { listAnalyticsFloors } from './queries/analytics.ts';

/** Two maps from collection id to floor, in base units. A map is null when its source could not be read. */
export type AskFloors = {
  /** The floor of the analytics record. For a collection without such a floor, the cheapest listing of both books. */
  analytics: ReadonlyMap<string, bigint> | null;
  /** The floor of the stats record. */
  stats: ReadonlyMap<string, bigint> | null;
  /** True when the analytics, the stats, the mirror or the lowest asks of the own book could not be read. */
  degraded: boolean;
};

export async function readAskFloors(market: Market, collections: readonly Collection[]): Promise<AskFloors> {
  const ids = collections.map((collection) => collection.id);
  const [analytics, stats] = await Promise.all([
    readAnalyticsFloors(market, ids),
    market.stats.read((db) => listStatsFloors(db, ids)),
  ]);
  return {
    analytics: valueOrNull(analytics)?.floors ?? null,
    stats: valueOrNull(stats),
    degraded: !valueOrNull(analytics)?.complete || !stats.ok,
  };
}

/** The ask floor of one collection in base units, or null when it is unknown. */
export function toAskFloor(
  floors: Pick<AskFloors, 'analytics' | 'stats'>,
  collection: { id: string; snapshotFloorRaw: bigint | null },
): bigint | null {
  return floors.analytics?.get(collection.id) ?? floors.stats?.get(collection.id) ?? collection.snapshotFloorRaw;
}

/** `complete` is false when the lowest asks of the own book could not be read: the floors are then those of the mirror. */
export type BookFloors = { floors: ReadonlyMap<string, bigint>; complete: boolean };

async function readAnalyticsFloors(market: Market, ids: readonly string[]): Promise<Result<BookFloors>> {
  const [records, books] = await Promise.all([
    market.analytics.read((db) => listAnalyticsFloors(db, ids)),
    readBookFloors(market, market.askFloors, ids),
  ]);
  if (!records.ok || !books.ok) return records.ok ? books : records;
  const { floors, complete } = books.value;
  return { ok: true, value: { floors: new Map([...floors, ...records.value]), complete } };
}

/** The largest number of own assets that are read, to leave out their mirrored rows. Mirrored rows of further own assets count. */
const OWN_ASSETS_MAX = 50_000;

/**
 * The price of the cheapest listing of both books, for each given collection that has a listing. `mirror` is the source through
 * which mirrored rows are read. As in the listing window, a mirrored row does not count when the own book lists its asset. When
 * the own book cannot be read, all mirrored rows count.
 */
export async function readBookFloors(
  market: Market,
  mirror: MarketSource,
  ids: readonly string[],
): Promise<Result<BookFloors>> {
  const now = market.clock();
  const read = mirror.withinOneDeadline();
  const [mirrored, book] = await Promise.all([
    read((db) => listCheapestMirrored(db, ids, { now })),
    market.orderBook.read((db) => listCheapestAsks(db, ids, now)),
  ]);
  if (!mirrored.ok) return mirrored;
  const floors = new Map(book.ok ? book.value : []);
  const undercuts = (row: MirroredAsk) => row.raw < (floors.get(row.collectionId) ?? row.raw + 1n);
  const hidden = await findHidden(
    market,
    mirrored.value.filter((row) => floors.has(row.collectionId) && undercuts(row)),
    now,
  );
  const visible = mirrored.value.filter((row) => !hidden.has(row.collectionId));
  if (hidden.size > 0) {
    // In these collections the own book lists the asset of the cheapest mirrored row. Find the cheapest row of another asset.
    const hiddenIds = [...hidden];
    const own = await market.orderBook.read((db) => listFillableAssets(db, hiddenIds, { now, limit: OWN_ASSETS_MAX }));
    const next = await read((db) => listCheapestMirrored(db, hiddenIds, { now, except: valueOrNull(own) ?? [] }));
    if (!next.ok) return next;
    visible.push(...next.value);
  }
  for (const row of visible) if (undercuts(row)) floors.set(row.collectionId, row.raw);
  return { ok: true, value: { floors, complete: book.ok } };
}

type MirroredAsk = { collectionId: string; asset: string; raw: bigint };

/** The collections of those `rows` whose asset the own book lists. Empty when the own book cannot be read. */
async function findHidden(market: Market, rows: readonly MirroredAsk[], now: number): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const ordered = await market.orderBook.read((db) => listCollectionsWithFillableAsset(db, rows, now));
  return ordered.ok ? ordered.value : new Set();
}
