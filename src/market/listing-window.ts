// The listing window of a collection: its 250 cheapest assets, one listing for each. It merges the own order book and the mirror.

import type { Collection } from '../core/collection.ts';
import type { FillableOrder } from '../orders/queries/fillable-orders.ts';
import { listFillableOrders, listFillableAssetsAmong } from '../orders/queries/fillable-orders.ts';
import type { Result } from '../resilience/source.ts';
import type { Listing } from './listing.ts';
import { toListingOfMirror, toListingOfOrder } from './listing.ts';
import type { Market } from './market.ts';
import type { MirroredListing } from './queries/listings.ts';
import { listCheapestListings } from './queries/listings.ts';
import { locationOf } from './resolve-collection.ts';

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

export const WINDOW_SIZE_MAX = 250;
/** The most rows of one read: more than a window holds, so that a second read is not needed when a few assets have several listings. */
const CHUNK_SIZE = 300;
/**
 * The most reads of the order book for one window, and the most reads of the mirror. The limit is reached only if the cheapest listings all
 * belong to a few assets.
 */
const CHUNKS_MAX = 40;

const EMPTY_WINDOW: ListingWindow = { listings: [], staleSources: [], degraded: false, validUntil: null };
const NO_ORDERS: Result<FillableOrder[]> = { ok: true, value: [] };

export async function readListingWindow(market: Market, collection: Collection): Promise<ListingWindow> {
  const location = locationOf(market, collection);
  if (!location) return EMPTY_WINDOW;
  const now = market.clock();
  const hasOrderBook = location.chain.family === 'evm';
  const [book, mirror] = await Promise.all([
    hasOrderBook ? readOrderBook(market, location.collectionId, now) : NO_ORDERS,
    readMirror(market, location.collectionId, { now, hasOrderBook }),
  ]);
  const own = book.ok ? book.value.map(toListingOfOrder) : [];
  const mirrored = mirror.ok ? mirror.value.rows.map((row) => toListingOfMirror(row, market.serviceName)) : [];
  const listings = mergeListings(own, mirrored, new Set(own.map((listing) => listing.asset as string)));
  return {
    listings,
    staleSources: mirror.ok ? [] : [market.mirror.name],
    degraded: !mirror.ok || !book.ok || !mirror.value.isBookRead,
    validUntil: firstExpiry(listings),
  };
}

function readOrderBook(market: Market, collectionId: string, now: number): Promise<Result<FillableOrder[]>> {
  const read = market.orderBook.withinOneDeadline();
  return collectAssets<FillableOrder>((after) =>
    read((db) => listFillableOrders(db, collectionId, { now, limit: CHUNK_SIZE, ...(after && { after }) })),
  );
}

/** `isBookRead`: false when the own order book could not be read. `rows` may then have assets that the own order book lists. */
type MirrorRows = { rows: MirroredListing[]; isBookRead: boolean };

/**
 * The cheapest rows of the mirror, without rows of assets that the own order book lists at any price. If the own order book cannot be read,
 * no row is left out. All reads of the mirror share one deadline, and all reads of the own order book share another.
 */
async function readMirror(
  market: Market,
  collectionId: string,
  { now, hasOrderBook }: { now: number; hasOrderBook: boolean },
): Promise<Result<MirrorRows>> {
  const read = market.mirror.withinOneDeadline();
  const readBook = market.orderBook.withinOneDeadline();
  let isBookRead = true;
  const removeOwnAssets = async (chunk: MirroredListing[]) => {
    const assets = [...new Set(chunk.map((row) => row.asset as string))];
    const ordered = await readBook((db) => listFillableAssetsAmong(db, collectionId, assets, now));
    isBookRead &&= ordered.ok;
    const ownAssets = new Set(ordered.ok ? ordered.value : []);
    return chunk.filter((row) => !ownAssets.has(row.asset));
  };
  const rows = await collectAssets<MirroredListing>(
    (after) =>
      read((db) => listCheapestListings(db, collectionId, { now, limit: CHUNK_SIZE, ...(after && { after }) })),
    hasOrderBook ? removeOwnAssets : undefined,
  );
  return rows.ok ? { ok: true, value: { rows: rows.value, isBookRead } } : rows;
}

/**
 * Reads the order book or the mirror with `readChunk`, cheapest rows first, and keeps the first row of each asset. Stops when it has
 * WINDOW_SIZE_MAX assets, when no row is left, or after CHUNKS_MAX reads.
 */
async function collectAssets<R extends { asset: string }>(
  readChunk: (after: R | undefined) => Promise<Result<R[]>>,
  filter?: (chunk: R[]) => Promise<R[]>,
): Promise<Result<R[]>> {
  const byAsset = new Map<string, R>();
  let after: R | undefined;
  for (let chunks = 0; chunks < CHUNKS_MAX; chunks += 1) {
    const result = await readChunk(after);
    if (!result.ok) return result;
    const chunk = result.value;
    const rows = filter && chunk.length > 0 ? await filter(chunk) : chunk;
    for (const row of rows) if (!byAsset.has(row.asset)) byAsset.set(row.asset, row);
    if (chunk.length < CHUNK_SIZE || byAsset.size >= WINDOW_SIZE_MAX) break;
    after = chunk.at(-1);
  }
  return { ok: true, value: [...byAsset.values()] };
}

export type MergedListing = { asset: string; raw: bigint; orderId: string };

/**
 * Merges own and mirrored listings, cheapest first, with one listing for each asset. Mirrored listings of the assets in `ownAssets` are
 * left out, so the own listing of such an asset is served even when a mirrored listing is cheaper.
 */
export function mergeListings<L extends MergedListing>(own: L[], mirrored: L[], ownAssets: ReadonlySet<string>): L[] {
  const external = mirrored.filter((listing) => !ownAssets.has(listing.asset));
  return keepFirstPerAsset([...own, ...external].sort(compareListings)).slice(0, WINDOW_SIZE_MAX);
}

/** Compares by price, then by order id. Ids are compared by code units, which for ASCII text is the sort order of the databases. */
export function compareListings(a: MergedListing, b: MergedListing): number {
  if (a.raw !== b.raw) return a.raw < b.raw ? -1 : 1;
  if (a.orderId === b.orderId) return 0;
  return a.orderId < b.orderId ? -1 : 1;
}

/** Keeps the order of the listings. */
export function keepFirstPerAsset<L extends MergedListing>(listings: Iterable<L>): L[] {
  const byAsset = new Map<string, L>();
  for (const listing of listings) if (!byAsset.has(listing.asset)) byAsset.set(listing.asset, listing);
  return [...byAsset.values()];
}

/** When the first of the listings expires, in milliseconds; null if none does. */
export function firstExpiry(listings: readonly Listing[]): number | null {
  let first: number | null = null;
  for (const { expiresAt } of listings)
    if (expiresAt !== null && (first === null || expiresAt < first)) first = expiresAt;
  return first;
}
