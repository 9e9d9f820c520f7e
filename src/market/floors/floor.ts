// Reads the two floors of a collection: the cheapest price that a seller asks, and the lowest total that a buyer pays, fees included. On a
// chain with `keepsBuyerFloor`, the last buyer floor is served as stale while the present buyer floor cannot be read.

import type { Chain } from '../../core/chains.ts';
import type { Collection } from '../../core/collection.ts';
import { ServiceError } from '../../core/errors.ts';
import { readsCoveredUntil } from '../../database/replicas/read-scope.ts';
import { readAskFloors, toAskFloor } from './ask-floor-reads.ts';
import { resolveBuyerFloor } from './buyer-floor.ts';
import type { Market } from '../market.ts';
import { resolveCollection } from '../resolve-collection.ts';

export type Floor = {
  collection: Collection;
  chain: Chain;
  askFloorRaw: bigint | null;
  buyerFloorRaw: bigint | null;
  /** True when `buyerFloorRaw` is the last stored value. */
  stale: boolean;
  /** True when a source could not be read. */
  degraded: boolean;
};

/** Throws `not_found` when `id` names no collection, or a collection without a chain. */
export async function readFloor(market: Market, id: string): Promise<Floor> {
  const collection = await resolveCollection(market, id);
  const chain = market.chainOf(collection.chain);
  if (!chain) throw new ServiceError('not_found', 'Collection has no chain to read a floor from');
  const [asks, buyerFloor] = await Promise.all([
    readAskFloors(market, [collection]),
    resolveBuyerFloor(market, collection),
  ]);
  const ask = toAskFloor(asks, { id: collection.id, snapshotFloorRaw: collection.snapshot.floorRaw }, market.clock());
  const askFloorRaw = ask?.value ?? null;
  const degraded = asks.degraded || !buyerFloor.ok;
  if (buyerFloor.ok) {
    if (chain.keepsBuyerFloor) {
      // The floor may have been read from a replica, so it is stored with the age of the data.
      const ageMs = Math.max(0, performance.now() - readsCoveredUntil());
      market.lastBuyerFloors.note(collection.id, buyerFloor.value, ageMs);
    }
    return { collection, chain, askFloorRaw, buyerFloorRaw: buyerFloor.value, stale: false, degraded };
  }
  const last = chain.keepsBuyerFloor ? await market.lastBuyerFloors.find(collection.id) : null;
  return { collection, chain, askFloorRaw, buyerFloorRaw: last, stale: last !== null, degraded };
}
