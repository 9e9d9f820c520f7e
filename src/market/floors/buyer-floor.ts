// Computes the buyer floor of a collection: the lowest total that a buyer pays for one of its listings, fees included.

import type { Collection } from '../../core/collection.ts';
import { findCheapestOwnFills, listFillableAssetsAmong } from '../../orders/queries/fillable-orders.ts';
import type { Result } from '../../resilience/source.ts';
import { toOwnBuyerPrice } from '../buyer-price.ts';
import type { Market } from '../market.ts';
import type { CheapFill } from '../queries/listings.ts';
import { listCheapestFills } from '../queries/listings.ts';

/**
 * The most rows of one kind that a read of the mirror returns. There are two kinds: listings with a buyer total, and this service's own listings
 * that have only an ask. For these own listings the buyer total is computed from the ask.
 */
const CHUNK_SIZE = 20;
/**
 * The mirror is read at most this many times. The reads leave out the assets that the indexer's copy of the own book lists. If this copy is
 * out of date, a read may return only rows whose assets the own book lists. Then another read follows.
 */
const CHUNKS_MAX = 10;

/** Null when there is no listing. A failure when the own book or the mirror cannot be read. */
export async function resolveBuyerFloor(market: Market, collection: Collection): Promise<Result<bigint | null>> {
  const now = market.clock();
  const [mirror, book] = await Promise.all([
    readMirroredFills(market, collection.id, now),
    market.orderBook.read((db) => findCheapestOwnFills(db, collection.id, now)),
  ]);
  if (!mirror.ok) return mirror;
  if (!book.ok) return book;
  const mirrored = mirror.value.map(({ raw, isAsk }) => (isAsk ? toOwnBuyerPrice(market, collection, raw).total : raw));
  const { ask, total } = book.value;
  const own = ask === null ? null : toOwnBuyerPrice(market, collection, ask).total;
  return { ok: true, value: cheapestOf([...mirrored, total, own]) };
}

/**
 * The cheapest mirrored rows of both kinds. An asset in the own order book is left out, because its own order replaces even cheaper
 * mirrored listings. The indexer's copy of the own book may be out of date, so the own book itself is read as well.
 */
async function readMirroredFills(market: Market, collectionId: string, now: number): Promise<Result<CheapFill[]>> {
  const read = market.buyerFloor.withinOneDeadline();
  const readBook = market.orderBook.withinOneDeadline();
  const except: string[] = [];
  for (let chunks = 0; ; chunks += 1) {
    const options = { now, ownSource: market.serviceName, except, limit: CHUNK_SIZE };
    const rows = await read((db) => listCheapestFills(db, collectionId, options));
    if (!rows.ok || rows.value.length === 0) return rows;
    const assets = [...new Set(rows.value.map((row) => row.asset))];
    const own = await readBook((db) => listFillableAssetsAmong(db, collectionId, assets, now));
    if (!own.ok) return own;
    const hidden = new Set<string>(own.value);
    const visible = rows.value.filter((row) => !hidden.has(row.asset));
    const isComplete = [false, true].every(
      (isAsk) =>
        visible.some((row) => row.isAsk === isAsk) ||
        rows.value.filter((row) => row.isAsk === isAsk).length < CHUNK_SIZE,
    );
    if (isComplete || chunks + 1 === CHUNKS_MAX) return { ok: true, value: visible };
    except.push(...hidden);
  }
}

function cheapestOf(amounts: readonly (bigint | null)[]): bigint | null {
  let cheapest: bigint | null = null;
  for (const amount of amounts) if (amount !== null && (cheapest === null || amount < cheapest)) cheapest = amount;
  return cheapest;
}
