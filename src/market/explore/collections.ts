// Reads collections with all figures of a market table: the figures of `/v1`, the buyer floor, and the changes of floor and volume.
// The number of statements does not depend on the number of collections.

import type { Collection } from '../../platform/core/collection.ts';
import { readTopBids, toSubjectKey } from './bids.ts';
import type { TopBid } from './queries/bids.ts';
import type { CollectionDetail } from '../reads/collection.ts';
import { readDetailFacts, toCollectionDetail } from '../reads/collection.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import type { ShortWindow } from '../provenance/trade.ts';
import {
  SHORT_WINDOWS,
  TRADE_WINDOW_MS,
  toFloorChanges,
  toShortWindows,
  toVolumeChanges,
} from '../provenance/trade.ts';
import { listDoubleWindows } from '../index/queries/analytics.ts';
import { listCollectionsByIds } from '../reads/queries/collections.ts';
import type { RankKey } from '../index/queries/ranks.ts';
import type { RankingQuery } from '../reads/ranking.ts';
import { readRanking } from '../reads/ranking.ts';
import { resolveCollection, resolveCollections } from '../reads/resolve-collection.ts';
import { listFloorsAt } from '../index/queries/past-floors.ts';

const HOUR_MS = 60 * 60_000;
const STEP_MS = 6 * HOUR_MS;
/** The number of floors in a sparkline. With a floor for every six hours, a sparkline covers the last seven days. */
export const SPARKLINE_LENGTH = 28;

/** The relative change in each window: 0.05 is 5 % more. Null when unknown. */
type Changes = Record<ShortWindow, number | null>;

/** Amounts in base units. `degraded`: a source could not be read. */
export type MarketCollection = {
  detail: CollectionDetail;
  floorChange: Changes;
  volumeChange: Changes;
  sparkline: (bigint | null)[];
  /** The best bid for any token of the collection. */
  topBid: TopBid | null;
  degraded: boolean;
};

export type MarketCollectionPage = { collections: MarketCollection[]; next: RankKey | null };

/** Throws `unavailable` when the collection records cannot be read, and `upstream_error` when the ranking cannot be read. */
export async function listMarketCollections(
  market: Market,
  query: RankingQuery & { after: RankKey | null; limit: number },
): Promise<MarketCollectionPage> {
  const following = await readRanking(market, query, { after: query.after, limit: query.limit + 1 });
  const page = following.slice(0, query.limit);
  const ids = page.map(({ id }) => id);
  const collections = await readListed(market, ids);
  return { collections, next: following.length > page.length ? (page.at(-1) ?? null) : null };
}

/** The collections with these names, in the order of the names. Throws as `readMarketCollection`. */
export async function readNamedCollections(market: Market, names: readonly string[]): Promise<MarketCollection[]> {
  const collections = await resolveCollections(market, names);
  return readListed(
    market,
    collections.map(({ id }) => id),
  );
}

async function readListed(market: Market, ids: readonly string[]): Promise<MarketCollection[]> {
  const found = requireValue(await market.primary.read((db) => listCollectionsByIds(db, ids)), 'unavailable');
  const byId = new Map(found.map((collection) => [collection.id, collection]));
  return readMarketCollections(
    market,
    ids.flatMap((id) => byId.get(id) ?? []),
  );
}

/** Throws `not_found` when `id` names no collection, and `unavailable` when the collection records cannot be read. */
export async function readMarketCollection(market: Market, id: string): Promise<MarketCollection> {
  const [figures] = await readMarketCollections(market, [await resolveCollection(market, id)]);
  if (!figures) throw new Error(`the figures of ${id} are missing`);
  return figures;
}

async function readMarketCollections(market: Market, collections: readonly Collection[]): Promise<MarketCollection[]> {
  const ids = collections.map(({ id }) => id);
  const now = market.clock();
  const steps = Array.from({ length: SPARKLINE_LENGTH }, (_, index) => now - (SPARKLINE_LENGTH - 1 - index) * STEP_MS);
  const starts = SHORT_WINDOWS.map((name) => now - TRADE_WINDOW_MS[name]);
  const [facts, doubles, floors, topBids] = await Promise.all([
    readDetailFacts(market, collections),
    market.analytics.read((db) => listDoubleWindows(db, ids, now)),
    market.history.read((db) => listFloorsAt(db, ids, [...starts, ...steps])),
    readTopBids(
      market,
      ids.map((collectionId) => ({ collectionId, asset: null })),
    ),
  ]);
  const doublesById = valueOrNull(doubles);
  const floorsById = valueOrNull(floors);
  const isComplete = doubles.ok && floors.ok && topBids !== null;
  return collections.map((collection): MarketCollection => {
    const { id } = collection;
    const detail = toCollectionDetail(market, collection, facts);
    const trade = facts.trade?.get(id);
    const doubleRaw = doublesById?.get(id);
    const recorded = floorsById?.get(id) ?? [];
    return {
      detail,
      floorChange: toFloorChanges(
        detail.floor?.value ?? null,
        toShortWindows((name) => recorded[SHORT_WINDOWS.indexOf(name)] ?? null),
      ),
      volumeChange:
        trade && doubleRaw
          ? toVolumeChanges(trade, { figures: detail, doubleRaw, now: facts.now })
          : toShortWindows(() => null),
      sparkline: steps.map((_, index) => recorded[starts.length + index] ?? null),
      topBid: topBids?.get(toSubjectKey({ collectionId: id, asset: null })) ?? null,
      degraded: detail.degraded || !isComplete,
    };
  });
}
