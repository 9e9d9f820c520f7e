// Reads how the tokens of a collection are distributed among their holders.

import type { Collection } from '../../platform/core/collection.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import { isCounted } from '../provenance/figure.ts';
import { toHoldingFigures } from '../provenance/holdings.ts';
import { listHoldingFacts } from '../index/queries/stats.ts';
import { locationOf, resolveCollection } from '../reads/resolve-collection.ts';
import type { Holder, HolderRange } from './queries/holders.ts';
import { countHolders, listLargestHolders } from './queries/holders.ts';

const RANGES = [
  { from: 1, to: 1 },
  { from: 2, to: 3 },
  { from: 4, to: 10 },
  { from: 11, to: 25 },
  { from: 26, to: 100 },
  { from: 101, to: null },
];
const LARGEST_MAX = 100;

/** `known` is null if the collection is on no chain, or if the holders of some tokens are not known. */
export type CollectionHolders = {
  collection: Collection;
  known: { holders: number; tokens: number; distribution: HolderRange[]; largest: Holder[] } | null;
};

/** Throws `not_found` when `id` names no collection, and `upstream_error` when the holders cannot be read. */
export async function readHolders(market: Market, id: string): Promise<CollectionHolders> {
  const collection = await resolveCollection(market, id);
  const read = market.holders.withinOneDeadline();
  const facts = requireValue(await read((db) => listHoldingFacts(db, [collection.id])), 'upstream_error');
  const figures = toHoldingFigures(facts.get(collection.id) ?? null, collection, market.clock());
  if (!locationOf(market, collection)) return { collection, known: null };
  if (!isCounted(figures.owners) || !isCounted(figures.supply)) return { collection, known: null };
  const [distribution, largest] = requireValue(
    await read((db) =>
      Promise.all([countHolders(db, collection.id, RANGES), listLargestHolders(db, collection.id, LARGEST_MAX)]),
    ),
    'upstream_error',
  );
  return {
    collection,
    known: { holders: figures.owners.value, tokens: figures.supply.value, distribution, largest },
  };
}
