// Reads one collection in detail: its record, and its figures from several sources, each of which can fail alone.

import type { Collection } from '../core/collection.ts';
import { countOwnAssets } from '../orders/queries/book-figures.ts';
import type { AskFloors } from './floors/ask-floor-reads.ts';
import { readAskFloors, toAskFloor } from './floors/ask-floor-reads.ts';
import type { Market } from './market.ts';
import { valueOrNull } from './market-source.ts';
import type { Figure } from './provenance/figure.ts';
import type { HoldingFacts, HoldingFigures, ListedAssets } from './provenance/holdings.ts';
import { toHoldingFigures } from './provenance/holdings.ts';
import type { TradeFacts, TradeFigures } from './provenance/trade.ts';
import { toTradeFigures } from './provenance/trade.ts';
import { listTradeFacts } from './queries/analytics.ts';
import { countMirroredAssets } from './queries/listings.ts';
import { listHoldingFacts } from './queries/stats.ts';
import { resolveCollection } from './resolve-collection.ts';

/** A figure that is not known is null. Volumes are in native units, the floor is in base units. */
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
  return toCollectionDetail(market, collection, await readDetailFacts(market, [collection]));
}

/** Facts by collection id. `holdings` or `trade` is null if its source could not be read. `now`: when the facts were read, in milliseconds. */
export type DetailFacts = {
  holdings: ReadonlyMap<string, HoldingFacts> | null;
  trade: ReadonlyMap<string, TradeFacts> | null;
  listed: ReadonlyMap<string, ListedAssets>;
  floors: AskFloors & { degraded: boolean };
  now: number;
};

/** The number of statements does not depend on the number of collections. */
export async function readDetailFacts(market: Market, collections: readonly Collection[]): Promise<DetailFacts> {
  const ids = collections.map(({ id }) => id);
  const now = market.clock();
  const [holdings, listed, trade, floors] = await Promise.all([
    market.stats.read((db) => listHoldingFacts(db, ids)),
    countListed(market, ids, now),
    market.analytics.read((db) => listTradeFacts(db, ids, now)),
    readAskFloors(market, collections),
  ]);
  return { holdings: valueOrNull(holdings), listed, trade: valueOrNull(trade), floors, now };
}

const NOT_READ: ListedAssets = { own: null, mirrored: null };

export function toCollectionDetail(
  market: Market,
  collection: Collection,
  { holdings, trade, listed: counts, floors, now }: DetailFacts,
): CollectionDetail {
  const { id, snapshot, tokensComplete } = collection;
  const chain = market.chainOf(collection.chain);
  const listed = counts.get(id) ?? NOT_READ;
  return {
    collection,
    floor: toAskFloor(floors, { id, snapshotFloorRaw: snapshot.floorRaw }, now),
    ...toTradeFigures(
      trade?.get(id) ?? null,
      { decimals: chain?.decimals ?? null, snapshotVolume: snapshot.volumeAllTime },
      now,
    ),
    ...toHoldingFigures(
      holdings?.get(id) ?? null,
      { snapshot, tokensComplete, listed, hasOwnBook: chain?.family === 'evm' },
      now,
    ),
    stale: !holdings && !trade,
    degraded: !holdings || !trade || floors.degraded || Object.values(listed).includes(null),
  };
}

/** How many assets of each collection are listed in the own order book and in the mirror, by collection id. */
export async function countListed(
  market: Market,
  collectionIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, ListedAssets>> {
  const read = market.listedCounts.withinOneDeadline();
  const [own, counted] = await Promise.all([
    market.orderBook.read((db) => countOwnAssets(db, collectionIds, now)),
    read((db) => countMirroredAssets(db, collectionIds, { now })),
  ]);
  const ownCounts = valueOrNull(own);
  const started = [...(ownCounts ?? [])].flatMap(([collectionId, counts]) =>
    counts.started.map((asset) => ({ collectionId, asset })),
  );
  const mirrored =
    started.length === 0 ? counted : await read((db) => countMirroredAssets(db, collectionIds, { now, started }));
  const mirroredCounts = valueOrNull(mirrored);
  return new Map(
    collectionIds.map((id) => [
      id,
      { own: ownCounts?.get(id)?.count ?? null, mirrored: mirroredCounts?.get(id) ?? null },
    ]),
  );
}
