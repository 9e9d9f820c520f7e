// The listings window of a collection: the own order book merged with the mirror, one row an asset, cheapest first. A dead
// mirror is told; a dead order book is only logged, because the contract ties the stale flag to the mirror alone.

import type { FillableOrder } from '../orders/queries/fillable-orders.ts';
import { listFillableOrders, listFillableAssetsAmong } from '../orders/queries/fillable-orders.ts';
import type { MirroredListing } from './queries/listings.ts';
import { listCheapestListings } from './queries/listings.ts';
import type { AssetId } from '../core/address.ts';
import type { Collection } from '../core/collection.ts';
import { WINDOW_SIZE_MAX, mergeWindow } from './listing-window.ts';
import type { Result } from '../resilience/source.ts';
import type { Market } from './market.ts';
import { withinOneDeadline } from './market.ts';
import { chainAndAddressOf } from './resolve-collection.ts';

/** An active listing of either book. `source` is null for the service's own rows. Times in milliseconds. */
export type Listing = {
  orderId: string;
  asset: AssetId;
  raw: bigint;
  seller: string;
  source: string | null;
  listedAt: number;
  expiresAt: number | null;
  tx: string | null;
};

export type ListingWindow = {
  listings: Listing[];
  /** Names of the sources whose rows are missing and whose absence the contract tells. */
  staleSources: string[];
  /** True when any source's rows are missing, told or not. */
  degraded: boolean;
  /** When the first of the listings expires, in milliseconds: the window is not true beyond it. */
  trueUntil: number | null;
};

const NO_ORDERS: Result<FillableOrder[]> = { ok: true, value: [] };
/** Rows read at a time. A little more than a window, so that a few doubles do not cost a second read. */
const CHUNK_SIZE = 300;
/** Bounds the walk through a book whose cheapest rows are all of a few assets. */
const CHUNKS_MAX = 40;

export async function readListingWindow(market: Market, collection: Collection): Promise<ListingWindow> {
  const place = chainAndAddressOf(market, collection);
  if (!place) return { listings: [], staleSources: [], degraded: false, trueUntil: null };
  const now = market.clock();
  const hasOwnBook = place.chain.family === 'evm';
  const [book, mirror] = await Promise.all([
    hasOwnBook ? readOwnBook(market, place.key, now) : NO_ORDERS,
    readMirror(market, place.key, now, hasOwnBook),
  ]);
  const own = book.ok ? book.value.map(toOwnListing) : [];
  const mirrored = mirror.ok ? mirror.value.rows.map((row) => toListing(market, row)) : [];
  const listings = mergeWindow(own, mirrored, new Set(own.map((listing) => listing.asset as string)));
  return {
    listings,
    staleSources: mirror.ok ? [] : [market.mirror.name],
    degraded: !mirror.ok || !book.ok || !mirror.value.bookRead,
    trueUntil: firstExpiry(listings),
  };
}

function readOwnBook(market: Market, collectionId: string, now: number): Promise<Result<FillableOrder[]>> {
  const read = withinOneDeadline(market.orderBook);
  return collectDistinct<FillableOrder>((after) =>
    read((db) => listFillableOrders(db, collectionId, { now, limit: CHUNK_SIZE, ...(after && { after }) })),
  );
}

type MirrorRows = { rows: MirroredListing[]; bookRead: boolean };

/**
 * Reads until the window is full without the assets that the own book lists too. Those are looked up after each chunk,
 * because an own row anywhere in the book hides the mirrored one. An order book that fails hides nothing, and never costs
 * the mirror its deadline.
 */
async function readMirror(
  market: Market,
  collectionId: string,
  now: number,
  hasOwnBook: boolean,
): Promise<Result<MirrorRows>> {
  const read = withinOneDeadline(market.mirror);
  const readBook = withinOneDeadline(market.orderBook);
  let bookRead = true;
  const rows = await collectDistinct<MirroredListing>(
    (after) =>
      read((db) => listCheapestListings(db, collectionId, { now, limit: CHUNK_SIZE, ...(after && { after }) })),
    async (chunk) => {
      if (!hasOwnBook) return chunk;
      const assets = [...new Set(chunk.map((row) => row.asset as string))];
      const hidden = await readBook((db) => listFillableAssetsAmong(db, collectionId, assets, now));
      bookRead &&= hidden.ok;
      const ownAssets = new Set(hidden.ok ? hidden.value : []);
      return chunk.filter((row) => !ownAssets.has(row.asset));
    },
  );
  return rows.ok ? { ok: true, value: { rows: rows.value, bookRead } } : rows;
}

/** Walks a book in its order until it has a window of distinct assets or the book ends. */
async function collectDistinct<R extends { asset: string }>(
  readChunk: (after: R | undefined) => Promise<Result<R[]>>,
  keep: (chunk: R[]) => Promise<R[]> = (chunk) => Promise.resolve(chunk),
): Promise<Result<R[]>> {
  const byAsset = new Map<string, R>();
  let after: R | undefined;
  for (let chunks = 0; chunks < CHUNKS_MAX; chunks += 1) {
    const reading = await readChunk(after);
    if (!reading.ok) return reading;
    const chunk = reading.value;
    if (chunk.length > 0) for (const row of await keep(chunk)) if (!byAsset.has(row.asset)) byAsset.set(row.asset, row);
    if (chunk.length < CHUNK_SIZE || byAsset.size >= WINDOW_SIZE_MAX) break;
    after = chunk.at(-1);
  }
  return { ok: true, value: [...byAsset.values()] };
}

function firstExpiry(listings: Listing[]): number | null {
  let first: number | null = null;
  for (const { expiresAt } of listings)
    if (expiresAt !== null && (first === null || expiresAt < first)) first = expiresAt;
  return first;
}

export function toOwnListing(order: FillableOrder): Listing {
  const { orderId, asset, raw, seller, createdAt, expiresAt, tx } = order;
  return { orderId, asset, raw, seller, source: null, listedAt: createdAt, expiresAt, tx };
}

/** The service's own Solana rows come through the mirror under its own name. */
export function toListing(market: Pick<Market, 'serviceName'>, row: MirroredListing): Listing {
  const { orderId, asset, raw, seller, listedAt, expiresAt, tx } = row;
  const source = row.source === market.serviceName ? null : row.source;
  return { orderId, asset, raw, seller, source, listedAt, expiresAt, tx };
}
