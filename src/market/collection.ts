// One collection in detail: its record, and figures from several sources, each of which can fail alone.

import type { Collection } from '../core/collection.ts';
import { countOwnAssets } from '../orders/queries/book-figures.ts';
import { readAskFloors, toAskFloor } from './ask-floor.ts';
import type { Market } from './market.ts';
import { valueOrNull } from './market-source.ts';
import type { Figure } from './provenance/figure.ts';
import type { HoldingFigures, ListedAssets } from './provenance/holdings.ts';
import { toHoldingFigures } from './provenance/holdings.ts';
import type { TradeFigures } from './provenance/trade.ts';
import { toTradeFigures } from './provenance/trade.ts';
import { findTradeFacts } from './queries/analytics.ts';
import { countMirroredAssets } from './queries/listings.ts';
import { listHoldingFacts } from './queries/stats.ts';
import { resolveCollection } from './resolve-collection.ts';

/** Null for a figure that is not known. Volumes in native units, the floor in base units. */
export type CollectionDetail = TradeFigures &
  HoldingFigures & {
    collection: Collection;
    floor: Figure<bigint | null> | null;
    /** True only when neither the stats nor the analytics could be read. */
    stale: boolean;
    /** True when any source failed. */
    degraded: boolean;
  };

/** Throws `not_found` when `id` names no collection, and `unavailable` when the collection records cannot be read. */
export async function readCollectionDetail(market: Market, id: string): Promise<CollectionDetail> {
  const collection = await resolveCollection(market, id);
  const { snapshot, tokensComplete } = collection;
  const chain = market.chainOf(collection.chain);
  const now = market.clock();
  const [holdings, listed, trade, floors] = await Promise.all([
    market.stats.read((db) => listHoldingFacts(db, [collection.id])),
    countListed(market, collection.id, now),
    market.analytics.read((db) => findTradeFacts(db, collection.id, now)),
    readAskFloors(market, [collection]),
  ]);
  return {
    collection,
    floor: toAskFloor(floors, { id: collection.id, snapshotFloorRaw: snapshot.floorRaw }, now),
    ...toTradeFigures(
      valueOrNull(trade),
      { decimals: chain?.decimals ?? null, snapshotVolume: snapshot.volumeAllTime },
      now,
    ),
    ...toHoldingFigures(
      valueOrNull(holdings)?.get(collection.id) ?? null,
      { snapshot, tokensComplete, listed, hasOwnBook: chain?.family === 'evm' },
      now,
    ),
    stale: !holdings.ok && !trade.ok,
    degraded: !holdings.ok || !trade.ok || floors.degraded || Object.values(listed).includes(null),
  };
}

/** How many assets each book lists. */
export async function countListed(market: Market, collectionId: string, now: number): Promise<ListedAssets> {
  const read = market.listedCounts.withinOneDeadline();
  const [own, counted] = await Promise.all([
    market.orderBook.read((db) => countOwnAssets(db, collectionId, now)),
    read((db) => countMirroredAssets(db, collectionId, { now })),
  ]);
  const { count, started } = valueOrNull(own) ?? { count: null, started: [] };
  const mirrored =
    started.length === 0 ? counted : await read((db) => countMirroredAssets(db, collectionId, { now, started }));
  return { own: count, mirrored: valueOrNull(mirrored) };
}
