// From the `{id}` of a path to a collection: canonical id first, then slug, then contract address or mint.

import { listCollectionsByName } from './queries/collections.ts';
import { listCollectionVolumes } from './queries/stats.ts';
import { parseAddress } from '../core/address.ts';
import type { Chains } from '../core/chains.ts';
import type { Collection } from '../core/collection.ts';
import { parseCollectionId, toCollectionId } from '../core/collection.ts';
import { ServiceError } from '../core/errors.ts';
import { ALL_COLLECTIONS } from '../core/changes.ts';
import type { Market } from './market.ts';
import { chainOf, requireValue, valueOrNull } from './market.ts';
import { toVolumeAllTime } from './volumes.ts';

const NAME_LENGTH_MAX = 500;

/** The collection that a caller's id names; that it was asked for is noted. Throws `not_found` when none does. */
export async function resolveCollection(market: Market, id: string): Promise<Collection> {
  const names = readNames(market.chains, id);
  const found = names
    ? requireValue(await market.primary.read((db) => listCollectionsByName(db, names)), 'unavailable')
    : [];
  const collection =
    found.find((one) => one.id === names?.id) ??
    found.find((one) => one.slug === id) ??
    (await preferred(
      market,
      found.filter((one) => one.contractAddress === names?.address),
    ));
  if (!collection) throw new ServiceError('not_found', 'Collection not found');
  market.recentViews.note(collection.id);
  return collection;
}

/**
 * The subject of an answer to a caller's id. What an address names depends on all collections, because another chain may
 * come to have it, or to trade more of it.
 */
export function cacheTagOf(collection: Collection, id: string): string {
  return id === collection.slug || id.toLowerCase() === collection.id ? collection.id : ALL_COLLECTIONS;
}

/** What an id reads as in each of its forms; null when no record can have such a name. */
function readNames(chains: Chains, id: string): { id: string; slug: string; address: string } | null {
  if (id === '' || id.length > NAME_LENGTH_MAX || id.includes('\0') || !id.isWellFormed()) return null;
  const canonical = parseCollectionId(chains, id);
  return {
    id: canonical ? `${canonical.chainId}_${canonical.addressLower}` : id,
    slug: id,
    address: parseAddress('evm', id) ?? id,
  };
}

/** Of one address on several chains: the collection with the larger all-time volume, then the order of the chains. */
async function preferred(market: Market, candidates: Collection[]): Promise<Collection | undefined> {
  if (candidates.length < 2) return candidates[0];
  const ids = candidates.map((one) => one.id);
  const volumes = valueOrNull(await market.volumes.read((db) => listCollectionVolumes(db, ids))) ?? [];
  const chainOrder = [...market.chains.keys()];
  const volumeOf = (one: Collection): number => {
    const known = volumes.find((volume) => volume.collectionId === one.id);
    return toVolumeAllTime(known, chainOf(market, one.chain), one.snapshot.volumeAllTime) ?? -1;
  };
  const rankOf = (one: Collection) => (one.chain === null ? chainOrder.length : chainOrder.indexOf(one.chain));
  return candidates.sort((a, b) => volumeOf(b) - volumeOf(a) || rankOf(a) - rankOf(b))[0];
}

/** A collection with what its on-chain reads need: both are present only when the record has them. */
export function chainAndAddressOf(market: Market, collection: Collection) {
  const chain = chainOf(market, collection.chain);
  if (!chain || collection.contractAddress === null) return null;
  return { chain, address: collection.contractAddress, key: toCollectionId(chain.id, collection.contractAddress) };
}
