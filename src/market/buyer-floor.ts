// The buyer floor of a collection: the lowest total that a buyer pays for one of its listings, fees included.

import { shareOf } from '../core/amount.ts';
import type { Collection } from '../core/collection.ts';
import { findCheapestOwnFills } from '../orders/queries/fillable-orders.ts';
import type { Result } from '../resilience/source.ts';
import type { Market } from './market.ts';
import { findCheapestFills } from './queries/listings.ts';

/** Reads the buyer floor, null when there is no listing. The result is a failure when the own book or the mirror cannot be read. */
export async function resolveBuyerFloor(market: Market, collection: Collection): Promise<Result<bigint | null>> {
  const now = market.clock();
  const [mirror, book] = await Promise.all([
    market.buyerFloor.read((db) => findCheapestFills(db, collection.id, { now, ownSource: market.serviceName })),
    market.orderBook.read((db) => findCheapestOwnFills(db, collection.id, now)),
  ]);
  if (!mirror.ok) return mirror;
  if (!book.ok) return book;
  const ownTotals = [book.value.ask, mirror.value.ownAsk].map((ask) =>
    ask === null ? null : toOwnBuyerTotal(market, collection, ask),
  );
  return { ok: true, value: cheapestOf([mirror.value.total, book.value.total, ...ownTotals]) };
}

/** Adds the platform fee and the royalty to an own ask, each rounded up. The lowest ask has the lowest total. */
function toOwnBuyerTotal(market: Market, collection: Collection, ask: bigint): bigint {
  return ask + shareOf(ask, market.platformFeeBps) + shareOf(ask, collection.royaltyBps ?? 0);
}

function cheapestOf(amounts: readonly (bigint | null)[]): bigint | null {
  let cheapest: bigint | null = null;
  for (const amount of amounts) if (amount !== null && (cheapest === null || amount < cheapest)) cheapest = amount;
  return cheapest;
}
