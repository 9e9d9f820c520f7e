// Reads the two floors of a collection: the cheapest price that a seller asks, and the lowest total that a buyer pays, fees included. On a
// chain with `keepsBuyerFloor`, the last buyer floor is served as stale while the present buyer floor cannot be read.

import type { Chain } from '../../../platform/core/chains.ts';
import type { Collection } from '../../../platform/core/collection.ts';
import { ServiceError } from '../../../platform/core/errors.ts';
import type { Books } from './books.ts';
import { lowestOf, readBooks } from './books.ts';
import { readFloorFacts, toFloorFigures } from './floor-reads.ts';
import type { Market } from '../market.ts';
import { resolveCollection } from '../resolve-collection.ts';
import type { PresentFloors } from './last-buyer-floors.ts';

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
  const facts = await readFloorFacts(market, [collection], market.buyerFloor);
  const { floor, buyerFloor } = toFloorFigures(facts, collection, market.clock());
  const present = toPresentFloors(facts.books.get(collection.id));
  if (present && chain.keepsBuyerFloor) market.lastBuyerFloors.note(collection.id, present.floors);
  return {
    collection,
    chain,
    askFloorRaw: floor?.value ?? null,
    buyerFloorRaw: buyerFloor?.raw ?? null,
    stale: buyerFloor !== null && buyerFloor.staleSince !== null,
    degraded: facts.degraded,
  };
}

/** `floors` is null when there is no listing. Returns null when the own book or the mirror cannot be read. */
export async function readPresentFloors(
  market: Market,
  collection: Collection,
): Promise<{ floors: PresentFloors | null } | null> {
  const books = await readBooks(market, market.buyerFloor, [collection]);
  return toPresentFloors(books.get(collection.id));
}

function toPresentFloors(books: Books | undefined): { floors: PresentFloors | null } | null {
  if (!books?.own || !books.mirror) return null;
  const { own, mirror } = books;
  const [ask, total] = [lowestOf([own.ask, mirror.ask]), lowestOf([own.total, mirror.total])];
  // A stated total below the ask is wrong, or the ask is.
  return { floors: ask === null || total === null || total < ask ? null : { ask, total } };
}
