// The two floors of a collection: the ask, and what its cheapest listing costs a buyer including fees. When the latter cannot be
// resolved, the last resolved one is served as stale, on the chains for which one is kept.

import { shareOf } from '../core/amount.ts';
import type { Chain } from '../core/chains.ts';
import type { Collection } from '../core/collection.ts';
import { ServiceError } from '../core/errors.ts';
import { findCheapestOwnFills } from '../orders/queries/fillable-orders.ts';
import type { Result } from '../resilience/source.ts';
import { readAskFloors, toAskFloor } from './ask-floor.ts';
import type { Market } from './market.ts';
import { findCheapestFills } from './queries/listings.ts';
import { resolveCollection } from './resolve-collection.ts';

export type Floor = {
  collection: Collection;
  chain: Chain;
  askFloorRaw: bigint | null;
  buyerFloorRaw: bigint | null;
  /** True when the buyer floor is the last resolved one. */
  stale: boolean;
  /** True when any source failed. */
  degraded: boolean;
};

/** The floors of the collection that `id` names. Throws `not_found` when there is none, or when it is on no chain. */
export async function readFloor(market: Market, id: string): Promise<Floor> {
  const collection = await resolveCollection(market, id);
  const chain = market.chainOf(collection.chain);
  if (!chain) throw new ServiceError('not_found', 'Collection has no chain to read a floor from');
  const [asks, buyerFloor] = await Promise.all([
    readAskFloors(market, [collection]),
    resolveBuyerFloor(market, collection),
  ]);
  const askFloorRaw = toAskFloor(asks, { id: collection.id, snapshotFloorRaw: collection.snapshot.floorRaw });
  const degraded = asks.degraded || !buyerFloor.ok;
  if (buyerFloor.ok) {
    if (chain.keepsBuyerFloor) market.lastBuyerFloors.note(collection.id, buyerFloor.value);
    return { collection, chain, askFloorRaw, buyerFloorRaw: buyerFloor.value, stale: false, degraded };
  }
  const last = chain.keepsBuyerFloor ? await market.lastBuyerFloors.find(collection.id) : null;
  return { collection, chain, askFloorRaw, buyerFloorRaw: last, stale: last !== null, degraded };
}

/** The cheapest buyer total of both books: null when there is no listing, a failure when either book cannot be read. */
async function resolveBuyerFloor(market: Market, collection: Collection): Promise<Result<bigint | null>> {
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

/** An own ask with platform fee and royalty, each rounded up. It grows with the ask, so the cheapest ask has the cheapest total. */
function toOwnBuyerTotal(market: Market, collection: Collection, ask: bigint): bigint {
  return ask + shareOf(ask, market.platformFeeBps) + shareOf(ask, collection.royaltyBps ?? 0);
}

function cheapestOf(amounts: readonly (bigint | null)[]): bigint | null {
  let cheapest: bigint | null = null;
  for (const amount of amounts) if (amount !== null && (cheapest === null || amount < cheapest)) cheapest = amount;
  return cheapest;
}
