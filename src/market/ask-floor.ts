// The ask floor: the cheapest seller ask, from live analytics to the indexer's row to the stored snapshot. A floor is read,
// never repaired: an index probe that looks at the clock.

import {
  listFillableAssets,
  listCheapestAsks,
  listCollectionsWithFillableAsset,
} from '../orders/queries/fillable-orders.ts';
import { listCheapestMirrored } from './queries/listings.ts';
import { listAnalyticsFloors, listStatsFloors } from './queries/stats.ts';
import type { Collection } from '../core/collection.ts';
import type { Result } from '../resilience/source.ts';
import type { MarketSource } from './market-source.ts';
import type { Market } from './market.ts';
import { valueOrNull, withinOneDeadline } from './market.ts';

/** Floors by collection id as each source knows them; a source that failed is null. */
export type AskFloors = {
  /** A record's floor, else the cheapest ask of the merged book. */
  analytics: ReadonlyMap<string, bigint> | null;
  stats: ReadonlyMap<string, bigint> | null;
  /** True when anything that a floor is read from failed, the own book included. */
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

/** The ask floor of one collection by the chain of fallbacks, or null when nobody knows one. */
export function toAskFloor(
  floors: Pick<AskFloors, 'analytics' | 'stats'>,
  collection: { id: string; snapshotFloorRaw: bigint | null },
): bigint | null {
  return floors.analytics?.get(collection.id) ?? floors.stats?.get(collection.id) ?? collection.snapshotFloorRaw;
}

/** `complete` when the own book was read too. */
export type LiveFloors = { floors: ReadonlyMap<string, bigint>; complete: boolean };

/** What live analytics knows: a record's floor, else that of the merged book. */
async function readAnalyticsFloors(market: Market, ids: readonly string[]): Promise<Result<LiveFloors>> {
  const [records, live] = await Promise.all([
    market.analytics.read((db) => listAnalyticsFloors(db, ids)),
    readLiveFloors(market, market.askFloors, ids),
  ]);
  if (!records.ok || !live.ok) return records.ok ? live : records;
  const { floors, complete } = live.value;
  return { ok: true, value: { floors: new Map([...floors, ...records.value]), complete } };
}

/** Assets of own orders that are looked at when mirrored rows are hidden by them. Past it a hidden row may count. */
const HIDING_ASSETS_MAX = 50_000;

/**
 * The cheapest ask of the merged book of each of the given collections that has one. `mirror` is the source that the
 * mirrored rows are read through. An order book that fails hides nothing.
 */
export async function readLiveFloors(
  market: Market,
  mirror: MarketSource,
  ids: readonly string[],
): Promise<Result<LiveFloors>> {
  const now = market.clock();
  const read = withinOneDeadline(mirror);
  const [mirrored, book] = await Promise.all([
    read((db) => listCheapestMirrored(db, ids, { now })),
    market.orderBook.read((db) => listCheapestAsks(db, ids, now)),
  ]);
  if (!mirrored.ok) return mirrored;
  const floors = new Map(book.ok ? book.value : []);
  const undercuts = (row: MirroredAsk) => row.raw < (floors.get(row.collectionId) ?? row.raw + 1n);
  // A row that is hidden is not the floor: the next one down decides, which is rarely needed.
  const hidden = await findHidden(
    market,
    mirrored.value.filter((row) => floors.has(row.collectionId) && undercuts(row)),
  );
  const visible = mirrored.value.filter((row) => !hidden.has(row.collectionId));
  if (hidden.size > 0) {
    const below = [...hidden];
    const own = await market.orderBook.read((db) => listFillableAssets(db, below, { now, limit: HIDING_ASSETS_MAX }));
    const next = await read((db) => listCheapestMirrored(db, below, { now, except: valueOrNull(own) ?? [] }));
    if (!next.ok) return next;
    visible.push(...next.value);
  }
  for (const row of visible) if (undercuts(row)) floors.set(row.collectionId, row.raw);
  return { ok: true, value: { floors, complete: book.ok } };
}

type MirroredAsk = { collectionId: string; asset: string; raw: bigint };

/** The collections whose given mirrored row is hidden by an own row of the same asset. */
async function findHidden(market: Market, rows: readonly MirroredAsk[]): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const now = market.clock();
  const hidden = await market.orderBook.read((db) => listCollectionsWithFillableAsset(db, rows, now));
  return hidden.ok ? hidden.value : new Set();
}
