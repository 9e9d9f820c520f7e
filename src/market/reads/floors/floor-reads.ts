// Reads the facts from which `listing-figures.ts` computes the ask floor and the listed count: the two books (the own order book and the
// mirror), the analytics records, the stats records, and the last buyer floors. Each of these reads can fail alone.

import type { Collection } from '../../../platform/core/collection.ts';
import type { Books } from './books.ts';
import { lowestOf, readBooks } from './books.ts';
import type { ListingFacts, ListingFigures, ReportedFloor, ReportedListings } from '../../index/listing-figures.ts';
import { toListingFigures } from '../../index/listing-figures.ts';
import type { Market } from '../market.ts';
import type { MarketSource } from '../market-source.ts';
import { valueOrNull } from '../market-source.ts';
import { listAnalyticsFloors } from '../../index/queries/analytics.ts';
import type { LastBuyerFloor } from '../queries/last-buyer-floors.ts';
import { listStatsListings } from '../../index/queries/stats.ts';

/** By collection id. `analytics` or `stats` is null if it could not be read. `last`: only for collections with a book that cannot be read. */
export type FloorFacts = {
  books: ReadonlyMap<string, Books>;
  analytics: ReadonlyMap<string, ReportedFloor> | null;
  stats: ReadonlyMap<string, ReportedListings> | null;
  last: ReadonlyMap<string, LastBuyerFloor>;
  /** A source could not be read. */
  degraded: boolean;
};

/** `source` reads the mirror. */
export async function readFloorFacts(
  market: Market,
  collections: readonly Collection[],
  source: MarketSource = market.askFloors,
): Promise<FloorFacts> {
  const ids = collections.map((collection) => collection.id);
  const [books, analytics, stats] = await Promise.all([
    readBooks(market, source, collections),
    market.analytics.read((db) => listAnalyticsFloors(db, ids)),
    market.stats.read((db) => listStatsListings(db, ids)),
  ]);
  const unread = collections.filter(({ id }) => !isRead(books.get(id)));
  const keeping = unread.filter(({ chain }) => market.chainOf(chain)?.keepsBuyerFloor);
  const last = keeping.length === 0 ? null : await market.lastBuyerFloors.list(keeping.map(({ id }) => id));
  return {
    books,
    analytics: valueOrNull(analytics),
    stats: valueOrNull(stats),
    last: last ?? new Map(),
    degraded: unread.length > 0 || !analytics.ok || !stats.ok,
  };
}

/** The lowest total that a buyer pays, in base units. `staleSince`: when it was read, in milliseconds; null if it is of this moment. */
export type BuyerFloor = { raw: bigint; staleSince: number | null };

/** `buyerFloor`: null if nothing is listed, or if neither the books nor the last buyer floor can be read. It is never below `floor`. */
export function toFloorFigures(
  { books, analytics, stats, last }: FloorFacts,
  { id, snapshot }: Pick<Collection, 'id' | 'snapshot'>,
  now: number,
): ListingFigures & { buyerFloor: BuyerFloor | null } {
  const { own, mirror } = books.get(id) ?? { own: null, mirror: null };
  const remembered = last.get(id);
  const figures = toListingFigures(
    {
      own: own ?? undefined,
      mirror: mirror ?? undefined,
      analytics: analytics ? (analytics.get(id) ?? null) : undefined,
      stats: stats ? (stats.get(id) ?? null) : undefined,
      snapshotFloorRaw: snapshot.floorRaw,
      lastAsk: remembered ? toLastAsk(remembered) : null,
    },
    now,
  );
  const present = own && mirror ? lowestOf([own.total, mirror.total]) : null;
  const total = present ?? remembered?.raw ?? null;
  const isPossible = total !== null && (figures.floor?.value ?? 0n) <= total;
  const staleSince = present === null ? (remembered?.observedAt ?? null) : null;
  return { ...figures, buyerFloor: isPossible ? { raw: total, staleSince } : null };
}

function toLastAsk({ askRaw, observedAt }: LastBuyerFloor): NonNullable<ListingFacts['lastAsk']> | null {
  return askRaw === null ? null : { raw: askRaw, at: observedAt };
}

function isRead(books: Books | undefined): boolean {
  return Boolean(books?.own && books.mirror);
}
