// The floors of a collection: the ask, and what the cheapest fill costs a buyer in all. When the latter cannot be resolved
// in time, the last one that could be is told, marked as such, on the chains that keep one.

import { findCheapestOwnFills } from '../orders/queries/fillable-orders.ts';
import { deleteLastBuyerFloor, findLastBuyerFloor, upsertLastBuyerFloor } from './queries/last-buyer-floors.ts';
import { findCheapestFills } from './queries/listings.ts';
import { shareOf } from '../core/amount.ts';
import type { Chain } from '../core/chains.ts';
import type { Collection } from '../core/collection.ts';
import { ServiceError } from '../core/errors.ts';
import { readAskFloors, toAskFloor } from './ask-floor.ts';
import type { Market } from './market.ts';
import { chainOf, valueOrNull } from './market.ts';
import { resolveCollection } from './resolve-collection.ts';

export type Floor = {
  collection: Collection;
  chain: Chain;
  askFloorRaw: bigint | null;
  buyerFloorRaw: bigint | null;
  /** True when the buyer floor is a last-good one. */
  stale: boolean;
  degraded: boolean;
};

const LAST_GOOD_AGE_MAX_MS = 30 * 60_000;
/** An unchanged floor is written again after this long, so that its age stays true without a write a request. */
const LAST_GOOD_REWRITE_MS = 60_000;
const REMEMBERED_FLOORS_MAX = 10_000;

export type FloorReader = (id: string) => Promise<Floor>;

export function createFloorReader(market: Market): FloorReader {
  const keep = createLastGoodWriter(market);
  return async (id) => {
    const collection = await resolveCollection(market, id);
    const chain = chainOf(market, collection.chain);
    if (!chain) throw new ServiceError('not_found', 'Collection has no chain to read a floor from');
    const [asks, resolved] = await Promise.all([
      readAskFloors(market, [collection]),
      resolveBuyerFloor(market, collection),
    ]);
    const askFloorRaw = toAskFloor(asks, { id: collection.id, snapshotFloorRaw: collection.snapshot.floorRaw });
    const degraded = asks.degraded || !resolved.ok;
    if (resolved.ok) {
      if (chain.keepsBuyerFloor) keep(collection.id, resolved.raw);
      return { collection, chain, askFloorRaw, buyerFloorRaw: resolved.raw, stale: false, degraded };
    }
    const lastGood = chain.keepsBuyerFloor ? await readLastGood(market, collection.id) : null;
    return { collection, chain, askFloorRaw, buyerFloorRaw: lastGood, stale: lastGood !== null, degraded };
  };
}

type Resolved = { ok: true; raw: bigint | null } | { ok: false };

/** The cheapest fill of either book. No listing at all is an answer (null); a book that cannot be read is a failure. */
async function resolveBuyerFloor(market: Market, collection: Collection): Promise<Resolved> {
  const now = market.clock();
  const [mirror, book] = await Promise.all([
    market.buyerFloor.read((db) => findCheapestFills(db, collection.id, { now, ownSource: market.serviceName })),
    market.orderBook.read((db) => findCheapestOwnFills(db, collection.id, now)),
  ]);
  if (!mirror.ok || !book.ok) return { ok: false };
  const asks = [book.value.ask, mirror.value.ownAsk];
  const fills = [
    mirror.value.total,
    book.value.total,
    ...asks.map((ask) => (ask === null ? null : toOwnBuyerTotal(market, collection, ask))),
  ];
  return { ok: true, raw: cheapestOf(fills) };
}

/** Platform fee and royalty come on top of an own ask, each rounded up. Dearer asks cost more, so the cheapest decides. */
function toOwnBuyerTotal(market: Market, collection: Collection, ask: bigint): bigint {
  return ask + shareOf(ask, market.platformFeeBps) + shareOf(ask, collection.royaltyBps ?? 0);
}

function cheapestOf(amounts: readonly (bigint | null)[]): bigint | null {
  let cheapest: bigint | null = null;
  for (const amount of amounts) if (amount !== null && (cheapest === null || amount < cheapest)) cheapest = amount;
  return cheapest;
}

async function readLastGood(market: Market, collectionId: string): Promise<bigint | null> {
  const since = market.clock() - LAST_GOOD_AGE_MAX_MS;
  const kept = valueOrNull(await market.lastGoodFloors.read((db) => findLastBuyerFloor(db, collectionId, since)));
  return kept?.raw ?? null;
}

/** Writes what changed, and what has not changed once a minute, without the answer waiting for it. */
function createLastGoodWriter(market: Market): (collectionId: string, raw: bigint | null) => void {
  const written = new Map<string, { raw: bigint | null; at: number }>();
  return (collectionId, raw) => {
    const now = market.clock();
    const before = written.get(collectionId);
    if (before && before.raw === raw && now - before.at < LAST_GOOD_REWRITE_MS) return;
    if (written.size >= REMEMBERED_FLOORS_MAX) written.clear();
    written.set(collectionId, { raw, at: now });
    market.background(async () => {
      const result = await market.lastGoodFloors.read((db) =>
        raw === null
          ? deleteLastBuyerFloor(db, collectionId, now)
          : upsertLastBuyerFloor(db, collectionId, { raw, observedAt: now }),
      );
      if (!result.ok) written.delete(collectionId);
    });
  };
}
