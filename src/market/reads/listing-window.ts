// The listing window of a collection: its 250 cheapest assets, one listing for each. It merges the own order book and the mirror.

import type { Collection } from '../../platform/core/collection.ts';
import type { CheapOrder } from '../orders/queries/fillable-orders.ts';
import { listFillableOrders, listFillableAssetsAmong } from '../orders/queries/fillable-orders.ts';
import type { Listing } from './listing.ts';
import { toListingOfMirror, toListingOfOrder } from './listing.ts';
import type { Market } from './market.ts';
import type { CheapListing } from '../index/queries/listings.ts';
import { listCheapestListings } from '../index/queries/listings.ts';
import { locationOf } from './resolve-collection.ts';
import type { PricedRow } from './sorted-rows.ts';
import { CHUNK_SIZE, SortedRows, WINDOW_SIZE_MAX, compareListings } from './sorted-rows.ts';

export type ListingWindow = {
  /** Cheapest first. */
  listings: Listing[];
  /** The failed sources that the response names. Only the mirror is named. A failure of the own order book is only logged. */
  staleSources: string[];
  /** True when a source could not be read. */
  degraded: boolean;
  /** When the first of the listings expires, in milliseconds; null when none does. */
  validUntil: number | null;
};

/** The most chunks of each source for one window. The limit is reached only if the cheapest listings all belong to a few assets. */
const CHUNKS_MAX = 40;

const EMPTY_WINDOW: ListingWindow = { listings: [], staleSources: [], degraded: false, validUntil: null };
const NO_ASSETS: ReadonlySet<string> = new Set();

export async function readListingWindow(market: Market, collection: Collection): Promise<ListingWindow> {
  const location = locationOf(market, collection);
  if (!location) return EMPTY_WINDOW;
  const { collectionId } = location;
  const now = market.clock();
  const readMirror = market.mirror.withinOneDeadline();
  const readBook = market.orderBook.withinOneDeadline();
  const mirror = new SortedRows<CheapListing>((after) =>
    readMirror((db) => listCheapestListings(db, collectionId, { now, limit: CHUNK_SIZE, ...(after && { after }) })),
  );
  const book = new SortedRows<CheapOrder>((after) =>
    readBook((db) => listFillableOrders(db, collectionId, { now, limit: CHUNK_SIZE, ...(after && { after }) })),
  );
  if (location.chain.family !== 'evm') book.end();

  let areOwnAssetsKnown = true;
  let rows: (CheapOrder | CheapListing)[] = [];
  for (let chunks = 0; chunks < CHUNKS_MAX; chunks += 1) {
    const [chunk, orders] = await Promise.all([mirror.readFor(rows), book.readFor(rows)]);
    book.keep(orders);
    // An own order is served even if a mirrored listing of its asset is cheaper. The own order of such an asset may be too expensive to be
    // among the orders that were read, so a second statement finds the assets with own orders.
    const others = chunk.filter((row) => !book.assets.has(row.asset));
    let further: ReadonlySet<string> = NO_ASSETS;
    if (others.length > 0 && !book.isAtEnd) {
      const assets = others.map((row) => row.asset);
      const found = await readBook((db) => listFillableAssetsAmong(db, collectionId, assets, now));
      if (found.ok) further = new Set(found.value);
      else areOwnAssetsKnown = false;
    }
    mirror.keep(further.size === 0 ? others : others.filter((row) => !further.has(row.asset)));
    rows = mergeListings<CheapOrder | CheapListing>(book.rows, mirror.rows, book.assets);
    if (!mirror.isNeededFor(rows) && !book.isNeededFor(rows)) break;
  }
  const listings = rows.map((row) =>
    'source' in row ? toListingOfMirror(row, market.serviceName) : toListingOfOrder(row),
  );
  return {
    listings,
    staleSources: mirror.hasFailed ? [market.mirror.name] : [],
    degraded: mirror.hasFailed || book.hasFailed || !areOwnAssetsKnown,
    validUntil: firstExpiry(listings),
  };
}

/**
 * Merges own and mirrored listings, cheapest first, with one listing for each asset. Mirrored listings of the assets in `ownAssets` are
 * left out, so the own listing of such an asset is served even when a mirrored listing is cheaper. The function is fastest if both lists
 * are sorted.
 */
export function mergeListings<L extends PricedRow>(
  own: readonly L[],
  mirrored: readonly L[],
  ownAssets: ReadonlySet<string>,
): L[] {
  const external = mirrored.filter((listing) => !ownAssets.has(listing.asset));
  return keepFirstPerAsset([...own, ...external].sort(compareListings), WINDOW_SIZE_MAX);
}

/** The first listing of each asset, of at most `assetsMax` assets, in the order of the listings. */
export function keepFirstPerAsset<L extends PricedRow>(listings: Iterable<L>, assetsMax: number): L[] {
  const assets = new Set<string>();
  const kept: L[] = [];
  for (const listing of listings) {
    if (kept.length === assetsMax) break;
    if (assets.has(listing.asset)) continue;
    assets.add(listing.asset);
    kept.push(listing);
  }
  return kept;
}

/** When the first of the listings expires, in milliseconds; null if none does. */
export function firstExpiry(listings: readonly Pick<Listing, 'expiresAt'>[]): number | null {
  let first: number | null = null;
  for (const { expiresAt } of listings)
    if (expiresAt !== null && (first === null || expiresAt < first)) first = expiresAt;
  return first;
}
