// Reads the facts from which `ask-floor.ts` computes the ask floor: the cheapest listings of the two books (the own order book and the
// mirror), the analytics records and the stats records. Each of these reads can fail alone.

import type { Collection } from '../../core/collection.ts';
import {
  listFillableAssets,
  listCheapestAsks,
  listCollectionsWithFillableAsset,
} from '../../orders/queries/fillable-orders.ts';
import type { Market } from '../market.ts';
import type { MarketSource } from '../market-source.ts';
import { valueOrNull } from '../market-source.ts';
import type { FloorFacts, ReportedFloor } from './ask-floor.ts';
import { toAskFloorFigure } from './ask-floor.ts';
import type { Figure } from '../provenance/figure.ts';
import { listAnalyticsFloors } from '../queries/analytics.ts';
import { listCoverage } from '../queries/coverage.ts';
import { listCheapestMirrored, listCheapestVisible } from '../queries/listings.ts';
import { listStatsFloors } from '../queries/stats.ts';

type MirrorFloor = NonNullable<FloorFacts['mirror']>;

/** By collection id. Null for a book that could not be read. */
export type BookFloors = {
  own: ReadonlyMap<string, bigint> | null;
  mirror: ReadonlyMap<string, MirrorFloor> | null;
};

/** By collection id. Null for a source that could not be read. */
export type AskFloors = BookFloors & {
  analytics: ReadonlyMap<string, ReportedFloor> | null;
  stats: ReadonlyMap<string, ReportedFloor> | null;
};

/** `degraded`: a source could not be read. */
export async function readAskFloors(
  market: Market,
  collections: readonly Collection[],
): Promise<AskFloors & { degraded: boolean }> {
  const ids = collections.map((collection) => collection.id);
  const [books, analytics, stats] = await Promise.all([
    readBookFloors(market, market.askFloors, ids),
    market.analytics.read((db) => listAnalyticsFloors(db, ids)),
    market.stats.read((db) => listStatsFloors(db, ids)),
  ]);
  const floors = { ...books, analytics: valueOrNull(analytics), stats: valueOrNull(stats) };
  return { ...floors, degraded: Object.values(floors).includes(null) };
}

/** The ask floor of one collection, by the rule of `toAskFloorFigure`. */
export function toAskFloor(
  { own, mirror, analytics, stats }: AskFloors,
  { id, snapshotFloorRaw }: { id: string; snapshotFloorRaw: bigint | null },
  now: number,
): Figure<bigint | null> | null {
  const facts: FloorFacts = {
    own: own ? (own.get(id) ?? null) : undefined,
    mirror: mirror ? (mirror.get(id) ?? { cheapest: null, coverage: [] }) : undefined,
    analytics: analytics?.get(id) ?? null,
    stats: stats?.get(id) ?? null,
    snapshotFloorRaw,
  };
  return toAskFloorFigure(facts, now);
}

/**
 * The most assets of the own book that are read if the indexer's copy of the book is out of date. If the own book lists more assets, a
 * mirrored row of an asset that was not read still counts.
 */
const OWN_ASSETS_MAX = 50_000;

/**
 * The lowest prices in both books. `source` reads the mirrored rows. As in the listing window, a mirrored row is left out if the own book
 * lists its asset. If the own book cannot be read, no mirrored row is left out.
 */
export async function readBookFloors(
  market: Market,
  source: MarketSource,
  ids: readonly string[],
): Promise<BookFloors> {
  const now = market.clock();
  const read = source.withinOneDeadline();
  const [mirrored, book] = await Promise.all([
    read((db) => Promise.all([listCheapestMirrored(db, ids, { now }), listCoverage(db, ids, ['listings'])])),
    market.orderBook.read((db) => listCheapestAsks(db, ids, now)),
  ]);
  const own = valueOrNull(book);
  if (!mirrored.ok) return { own, mirror: null };
  const [rows, coverage] = mirrored.value;
  // Only a mirrored row that is cheaper than the cheapest own order can change the floor. Without an own order, no row is hidden.
  const undercuts = (row: MirroredAsk) => row.raw < (own?.get(row.collectionId) ?? 0n);
  const hidden = await findHidden(market, rows.filter(undercuts), now);
  const cheapest = new Map(rows.map((row) => [row.collectionId, row.raw]));
  if (hidden.size > 0) {
    // In these collections the own book lists the asset of the cheapest mirrored row. Find the cheapest row of another asset.
    const next = await read((db) => listCheapestVisible(db, [...hidden], now));
    if (!next.ok) return { own, mirror: null };
    const stillHidden = [...(await findHidden(market, next.value, now))];
    for (const id of hidden) cheapest.delete(id);
    for (const row of next.value) cheapest.set(row.collectionId, row.raw);
    if (stillHidden.length > 0) {
      // For these collections, the indexer's copy of the assets that the own book lists is out of date.
      const owned = await market.orderBook.read((db) =>
        listFillableAssets(db, stillHidden, { now, limit: OWN_ASSETS_MAX }),
      );
      const others = await read((db) =>
        listCheapestMirrored(db, stillHidden, { now, except: valueOrNull(owned) ?? [] }),
      );
      if (!others.ok) return { own, mirror: null };
      for (const id of stillHidden) cheapest.delete(id);
      for (const row of others.value) cheapest.set(row.collectionId, row.raw);
    }
  }
  const toMirrorFloor = (id: string) => ({ cheapest: cheapest.get(id) ?? null, coverage: coverage.get(id) ?? [] });
  return { own, mirror: new Map(ids.map((id) => [id, toMirrorFloor(id)])) };
}

type MirroredAsk = { collectionId: string; asset: string; raw: bigint };

/** The collections of the rows whose asset the own book lists. Empty when the own book cannot be read. */
async function findHidden(market: Market, rows: readonly MirroredAsk[], now: number): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const ordered = await market.orderBook.read((db) => listCollectionsWithFillableAsset(db, rows, now));
  return ordered.ok ? ordered.value : new Set();
}
