// The ask floor of a collection: the cheapest price that a seller asks. It is read at every request, from the first of these
// that has one: an analytics record, the cheapest listing of both books, a stats record, the stored snapshot.

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

/** Floors by collection id; null for a source that failed. */
export type AskFloors = {
  /** Of analytics records, else of both books. */
  analytics: ReadonlyMap<string, bigint> | null;
  stats: ReadonlyMap<string, bigint> | null;
  /** True when any read failed, that of the own book included. */
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

/** `complete`: the own book was read too. */
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

/** Assets of the own book by which mirrored rows are left out. Of a larger book, rows of some assets may count all the same. */
const OWN_ASSETS_MAX = 50_000;

/**
 * The cheapest listing of both books, for each of the given collections that has one. `mirror` is the source through which
 * mirrored rows are read. A mirrored row of an asset that the own book lists does not count, as in the listing window; when
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
    // The cheapest mirrored row does not count here. Only then are the assets of the own book read, to find the one that does.
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

/** The collections whose given mirrored row is of an asset that the own book lists. */
async function findHidden(market: Market, rows: readonly MirroredAsk[], now: number): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const ordered = await market.orderBook.read((db) => listCollectionsWithFillableAsset(db, rows, now));
  return ordered.ok ? ordered.value : new Set();
}
