// Reads one collection in detail: its record, and its figures from several sources, each of which can fail alone.

import type { Collection } from '../../platform/core/collection.ts';
import type { BuyerFloor, FloorFacts } from './floors/floor-reads.ts';
import { readFloorFacts, toFloorFigures } from './floors/floor-reads.ts';
import type { Market } from './market.ts';
import { valueOrNull } from './market-source.ts';
import type { Figure } from '../provenance/figure.ts';
import type { HoldingFacts, HoldingFigures } from '../provenance/holdings.ts';
import { toHoldingFigures } from '../provenance/holdings.ts';
import type { TradeFacts, TradeFigures } from '../provenance/trade.ts';
import { toTradeFigures } from '../provenance/trade.ts';
import { listTradeFacts } from '../index/queries/analytics.ts';
import { listHoldingFacts } from '../index/queries/stats.ts';
import { resolveCollection } from './resolve-collection.ts';

/** A figure that is not known is null. Volumes are in native units, the floor is in base units. */
export type CollectionDetail = TradeFigures &
  HoldingFigures & {
    collection: Collection;
    floor: Figure<bigint | null> | null;
    listedCount: Figure<number> | null;
    /** Of the same moment as `floor` and `listedCount`, unless it is stale. */
    buyerFloor: BuyerFloor | null;
    /** True only when neither the stats nor the analytics could be read. */
    stale: boolean;
    /** True when any source failed. */
    degraded: boolean;
  };

/** Throws `not_found` when `id` names no collection, and `unavailable` when the collection records cannot be read. */
export async function readCollectionDetail(market: Market, id: string): Promise<CollectionDetail> {
  const collection = await resolveCollection(market, id);
  return toCollectionDetail(market, collection, await readDetailFacts(market, [collection]));
}

/** Facts by collection id. `holdings` or `trade` is null if its source could not be read. `now`: when the facts were read, in milliseconds. */
export type DetailFacts = {
  holdings: ReadonlyMap<string, HoldingFacts> | null;
  trade: ReadonlyMap<string, TradeFacts> | null;
  floors: FloorFacts;
  now: number;
};

/** The number of statements does not depend on the number of collections. */
export async function readDetailFacts(market: Market, collections: readonly Collection[]): Promise<DetailFacts> {
  const ids = collections.map(({ id }) => id);
  const now = market.clock();
  const [holdings, trade, floors] = await Promise.all([
    market.stats.read((db) => listHoldingFacts(db, ids)),
    market.analytics.read((db) => listTradeFacts(db, ids, now)),
    readFloorFacts(market, collections),
  ]);
  return { holdings: valueOrNull(holdings), trade: valueOrNull(trade), floors, now };
}

export function toCollectionDetail(
  market: Market,
  collection: Collection,
  { holdings, trade, floors, now }: DetailFacts,
): CollectionDetail {
  const { id, snapshot, tokensComplete, salesComplete } = collection;
  const chain = market.chainOf(collection.chain);
  return {
    collection,
    ...toFloorFigures(floors, collection, now),
    ...toTradeFigures(
      trade?.get(id) ?? null,
      { decimals: chain?.decimals ?? null, snapshotVolume: snapshot.volumeAllTime, salesComplete },
      now,
    ),
    ...toHoldingFigures(holdings?.get(id) ?? null, { snapshot, tokensComplete }, now),
    stale: !holdings && !trade,
    degraded: !holdings || !trade || floors.degraded,
  };
}
