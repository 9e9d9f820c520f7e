// Finds the collection that the `{id}` of a path names: by canonical id, else by slug, else by contract address or mint.

import { parseAddress } from '../../platform/core/address.ts';
import type { Chains } from '../../platform/core/chains.ts';
import { ALL_COLLECTIONS } from '../../platform/core/collection-versions.ts';
import type { Collection, CollectionLocation } from '../../platform/core/collection.ts';
import { parseCollectionId, toCollectionId } from '../../platform/core/collection.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { Market } from './market.ts';
import { requireValue, valueOrNull } from './market-source.ts';
import { listCollectionsByName } from './queries/collections.ts';
import { listVolumeFacts } from '../index/queries/analytics.ts';
import { toVolumeAllTime } from './volumes.ts';

const NAME_LENGTH_MAX = 500;

/**
 * Finds the collection, and records that the collection was requested. Throws `not_found` when `id` names no collection, and `unavailable`
 * when the collection records cannot be read.
 */
export async function resolveCollection(market: Market, id: string): Promise<Collection> {
  const [collection] = await findCollections(market, [id]);
  if (!collection) throw new ServiceError('not_found', 'Collection not found');
  return collection;
}

/**
 * Finds the collections with these names, in the order of the names. Throws as `resolveCollection`; `not_found` names the first name that no
 * collection has.
 */
export async function resolveCollections(market: Market, names: readonly string[]): Promise<Collection[]> {
  const found = await findCollections(market, names);
  return found.map((collection, index) => {
    if (!collection) throw new ServiceError('not_found', `Collection ${names[index]} not found`);
    return collection;
  });
}

/** Undefined for a name that no collection has. */
export async function findCollections(market: Market, ids: readonly string[]): Promise<(Collection | undefined)[]> {
  const names = ids.map((id) => toNames(market.chains, id));
  const wanted = names.filter((one) => one !== null);
  const found =
    wanted.length > 0
      ? requireValue(await market.primary.read((db) => listCollectionsByName(db, wanted)), 'unavailable')
      : [];
  const chosen: (Collection | undefined)[] = [];
  for (const one of names) {
    const named = one && (found.find(({ id }) => id === one.id) ?? found.find(({ slug }) => slug === one.slug));
    const candidates = one && !named ? found.filter(({ contractAddress }) => contractAddress === one.address) : [];
    chosen.push(named ?? (await preferOne(market, candidates)));
  }
  for (const collection of chosen) if (collection) market.recentViews.note(collection.id);
  return chosen;
}

/**
 * The cache tag of a response to a request for `id`. For a slug or a canonical id, the tag is the id of the collection. For an address, the
 * tag is ALL_COLLECTIONS: the same address can exist on several chains, and a change of another collection can decide which collection is
 * chosen.
 */
export function cacheTagOf(collection: Collection, id: string): string {
  return id === collection.slug || id.toLowerCase() === collection.id ? collection.id : ALL_COLLECTIONS;
}

/** Null when the record has no address, or when its chain is not configured. */
export function locationOf(market: Market, collection: Collection): CollectionLocation | null {
  const { contractAddress } = collection;
  const chain = market.chainOf(collection.chain);
  if (!chain || contractAddress === null) return null;
  return { chain, contractAddress, collectionId: toCollectionId(chain.id, contractAddress) };
}

/** Interprets `id` in three ways: as a canonical id, as a slug and as an address. Returns null when no record can match `id`. */
function toNames(chains: Chains, id: string): { id: string; slug: string; address: string } | null {
  if (id === '' || id.length > NAME_LENGTH_MAX || id.includes('\0') || !id.isWellFormed()) return null;
  const canonical = parseCollectionId(chains, id);
  return {
    id: canonical ? `${canonical.chainId}_${canonical.addressLower}` : id,
    slug: id,
    address: parseAddress('evm', id) ?? id,
  };
}

/**
 * Chooses among collections that have the same address on several chains. The largest all-time volume in native units wins. Among equal
 * volumes, the order in which the chains are configured decides. A collection on a chain that is not configured comes last.
 */
async function preferOne(market: Market, candidates: Collection[]): Promise<Collection | undefined> {
  if (candidates.length < 2) return candidates[0];
  const ids = candidates.map((one) => one.id);
  const volumes = valueOrNull(await market.volumes.read((db) => listVolumeFacts(db, ids)));
  const now = market.clock();
  const chainOrder = new Map([...market.chains.keys()].map((id, index) => [id, index]));
  const volumeOf = (one: Collection): number => {
    const { salesComplete, snapshot } = one;
    const context = { chain: market.chainOf(one.chain), snapshotVolume: snapshot.volumeAllTime, salesComplete };
    return toVolumeAllTime(volumes?.get(one.id), context, now) ?? -1;
  };
  const rankOf = (one: Collection) => chainOrder.get(one.chain ?? '') ?? chainOrder.size;
  return candidates.sort((a, b) => volumeOf(b) - volumeOf(a) || rankOf(a) - rankOf(b))[0];
}
