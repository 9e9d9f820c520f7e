// Lists the listed tokens of a collection that have the requested traits, the cheapest first. Own orders and mirrored listings count.

import type { AssetId } from '../../platform/core/address.ts';
import type { CollectionLocation } from '../../platform/core/collection.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import { readTokens } from '../reads/token.ts';
import type { PricedAsset, TraitFilter } from './queries/trait-keys.ts';
import { listExpiredAssets, listTraitAssetsByPrice, toGroups } from './queries/trait-keys.ts';

/** For one page of the list, the listings of at most this many tokens whose stored listing has expired since the last sweep are read again. */
const EXPIRED_MAX = 500;

export type PricedQuery = {
  filter: TraitFilter;
  after: { raw: bigint; asset: string } | null;
  limit: number;
  now: number;
  /** Reads the indexer. */
  read: <T>(query: (db: Queryable) => Promise<T>) => Promise<T>;
};

/**
 * Returns the cheapest tokens first. The indexer has the prices of own orders and of mirrored listings. A token whose listing has expired
 * since the last sweep may have another listing, so the listings of this token are read again.
 */
export async function listPricedAssets(
  market: Market,
  location: CollectionLocation,
  { filter, after, limit, now, read }: PricedQuery,
): Promise<PricedAsset[]> {
  const { collectionId } = location;
  const expired = await read((db) => listExpiredAssets(db, collectionId, { now, limit: EXPIRED_MAX }));
  const except = expired.map(({ asset }) => asset);
  const stored = await read((db) => listTraitAssetsByPrice(db, collectionId, { filter, after, limit, except }));
  const hasTraits = (traitIds: readonly number[]) =>
    toGroups(filter).every(({ ids }) => ids.some((id) => traitIds.includes(id)));
  const relisted = await readPrices(
    market,
    location,
    expired.flatMap(({ asset, traitIds }) => (hasTraits(traitIds) ? [asset] : [])),
  );
  return [...stored, ...relisted.filter((row) => after === null || comparePrices(row, after) > 0)]
    .sort(comparePrices)
    .slice(0, limit);
}

/** The present prices of the given assets. An asset that is not listed now is missing. */
export async function readPrices(
  market: Market,
  { chain, contractAddress }: CollectionLocation,
  assets: readonly AssetId[],
): Promise<PricedAsset[]> {
  if (assets.length === 0) return [];
  const { tokens, observation } = await readTokens(
    market,
    market.tokenLists,
    assets.map((asset) => ({ chain, contractAddress, asset })),
  );
  requireValue(observation, 'upstream_error');
  return tokens.flatMap(({ asset, listing }) => (listing ? [{ asset, raw: listing.raw }] : []));
}

function comparePrices(a: { raw: bigint; asset: string }, b: { raw: bigint; asset: string }): number {
  if (a.raw !== b.raw) return a.raw < b.raw ? -1 : 1;
  return a.asset === b.asset ? 0 : a.asset < b.asset ? -1 : 1;
}
