// Reads the traits of a collection. Each value has its number of tokens, its number of listed tokens and its floor.

import type { Collection } from '../../platform/core/collection.ts';
import { readFloorFacts, toFloorFigures } from '../reads/floors/floor-reads.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import { isCounted } from '../provenance/figure.ts';
import { toHoldingFigures } from '../provenance/holdings.ts';
import { listHoldingFacts } from '../index/queries/stats.ts';
import { locationOf } from '../reads/resolve-collection.ts';
import { firstExpiry } from '../reads/listing-window.ts';
import { readTopBidsOfTraits } from './bids.ts';
import type { TopBid } from './queries/bids.ts';
import { readPrices } from './priced-assets.ts';
import { listExpiredAssets } from './queries/trait-keys.ts';
import type { TraitValue } from './queries/traits.ts';
import { findTraitCoverage, listTraitValues } from './queries/traits.ts';

/** The most values of one trait in a response. */
export const VALUES_MAX = 250;
/**
 * One response reads the listings of at most this many tokens again. These are tokens whose stored listing has expired since the last sweep.
 */
const EXPIRED_MAX = 500;

/** A figure is null if it may have been computed from incomplete data. `floorRaw` is also null if no token with the value is listed. */
export type TraitFigures = {
  value: string;
  count: number | null;
  listed: number | null;
  floorRaw: bigint | null;
  /** The best bid for the tokens that have the value. */
  topBid: TopBid | null;
};

/** `hasMoreValues`: the trait has more values than VALUES_MAX. */
export type CollectionTrait = { name: string; values: TraitFigures[]; hasMoreValues: boolean };

export type TraitPage = {
  traits: CollectionTrait[];
  /** The name of the last trait on this page. Null on the last page. */
  next: string | null;
  /** The time at which the page becomes out of date, even if no row changes. Null if there is no such time. */
  validUntil: number | null;
  /** The bids could not be read. */
  degraded: boolean;
};

/** Throws `upstream_error` when the indexer cannot be read. */
export async function listTraits(
  market: Market,
  collection: Collection,
  { after, limit }: { after: string | null; limit: number },
): Promise<TraitPage> {
  const location = locationOf(market, collection);
  if (!location) return { traits: [], next: null, validUntil: null, degraded: false };
  const { id } = collection;
  const now = market.clock();
  const read = market.tokenLists.withinOneDeadline();
  const [known, topBidOf] = await Promise.all([
    readKnown(market, collection, { read, now }),
    readTopBidsOfTraits(market, id),
  ]);
  const expired = requireValue(
    await read((db) => listExpiredAssets(db, id, { now, limit: EXPIRED_MAX + 1 })),
    'upstream_error',
  );
  const isSwept = expired.length <= EXPIRED_MAX;
  const except = expired.map(({ asset }) => asset);
  const query = { after, limit: limit + 1, valuesMax: VALUES_MAX + 1, except };
  const values = requireValue(await read((db) => listTraitValues(db, id, query)), 'upstream_error');
  const prices = new Map(
    (isSwept ? await readPrices(market, location, except) : []).map(({ asset, raw }) => [asset, raw]),
  );
  const changes = new Map<number, { listed: number; floorRaw: bigint | null }>();
  for (const { asset, traitIds } of expired) {
    const raw = prices.get(asset) ?? null;
    for (const traitId of traitIds) {
      const change = changes.get(traitId) ?? { listed: 0, floorRaw: null };
      changes.set(traitId, {
        listed: change.listed - (raw === null ? 1 : 0),
        floorRaw: toLower(change.floorRaw, raw),
      });
    }
  }
  const traits = [...Map.groupBy(values, ({ name }) => name)].map(([name, found]) => ({
    name,
    values: found.slice(0, VALUES_MAX).map(({ id: traitId, value, tokens, listed, floorRaw }: TraitValue) => ({
      value,
      count: known.counts ? tokens : null,
      listed: known.listed && isSwept ? listed + (changes.get(traitId)?.listed ?? 0) : null,
      floorRaw: known.floors && isSwept ? toLower(floorRaw, changes.get(traitId)?.floorRaw ?? null) : null,
      topBid: topBidOf?.(name, value) ?? null,
    })),
    hasMoreValues: found.length > VALUES_MAX,
  }));
  const page = traits.slice(0, limit);
  return {
    traits: page,
    next: traits.length > limit ? (page.at(-1)?.name ?? null) : null,
    validUntil: firstExpiry([
      { expiresAt: known.validUntil },
      ...page.flatMap(({ values: figures }) => figures.flatMap(({ topBid }) => topBid ?? [])),
    ]),
    degraded: topBidOf === null,
  };
}

const toLower = (a: bigint | null, b: bigint | null) => (a === null || (b !== null && b < a) ? b : a);

/** Whether the numbers of tokens, the numbers of listed tokens, and the floors are complete. */
type Known = { counts: boolean; listed: boolean; floors: boolean; validUntil: number | null };

/**
 * The numbers of tokens are complete if all tokens are known and the traits of each were read. Floors are complete if the traits of every
 * listed token were read. The numbers of listed tokens are complete if, in addition, all listings are known.
 */
async function readKnown(
  market: Market,
  collection: Collection,
  { read, now }: { read: Market['tokenLists']['read']; now: number },
): Promise<Known> {
  const { id } = collection;
  const [coverage, facts, floorFacts] = await Promise.all([
    read((db) => findTraitCoverage(db, id, now)),
    read((db) => listHoldingFacts(db, [id])),
    readFloorFacts(market, [collection]),
  ]);
  const stored = requireValue(coverage, 'upstream_error');
  const { supply } = toHoldingFigures(requireValue(facts, 'upstream_error').get(id) ?? null, collection, now);
  const { listedCount } = toFloorFigures(floorFacts, collection, now);
  const floors = stored !== null && stored.traitListings === stored.listedAssets;
  const ends = [stored?.nextExpiry, supply?.validUntil, listedCount?.validUntil].flatMap((end) => end ?? []);
  return {
    counts: stored !== null && stored.traitSets === stored.tokens && isCounted(supply),
    listed: floors && isCounted(listedCount),
    floors,
    validUntil: ends.length === 0 ? null : Math.min(...ends),
  };
}
