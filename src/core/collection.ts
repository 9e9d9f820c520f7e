// Collection identity. The canonical id is `<chain>_<address>` with the address half lower case on every chain, Solana
// included; it is opaque to callers, and the address to use on a chain is always read from the collection's record.

import type { Address } from './address.ts';
import { parseAddress } from './address.ts';
import type { Chain, Chains } from './chains.ts';

/** A collection as the primary database has it: identity, descriptions, images, and the stored snapshot. */
export type Collection = {
  id: string;
  chain: string | null;
  contractAddress: Address | null;
  slug: string | null;
  name: string;
  image: string | null;
  banner: string | null;
  description: string | null;
  tokenStandard: string | null;
  royaltyBps: number | null;
  launched: boolean;
  /** Milliseconds since the epoch. */
  createdAt: number;
  snapshot: CollectionSnapshot;
};

/** The last reported stats, used when none are newer. `volumeAllTime` is in native units. */
export type CollectionSnapshot = {
  floorRaw: bigint | null;
  volumeAllTime: number | null;
  supply: number | null;
  owners: number | null;
};

/** Where a collection is: its chain, its contract or collection mint there, and the canonical id of both. */
export type CollectionLocation = { chain: Chain; contractAddress: Address; collectionId: string };

export function toCollectionId(chainId: string, address: Address): string {
  return `${chainId}_${address.toLowerCase()}`;
}

/** The id of a collection record, which may lack a chain, an address, or (with a slug) both. Null when it has neither. */
export function toRecordedCollectionId(
  chainId: string | null,
  address: Address | null,
  slug: string | null,
): string | null {
  const name = address?.toLowerCase() ?? slug;
  if (name === null) return null;
  return chainId === null ? name : `${chainId}_${name}`;
}

/** Reads `<chain>_<address>` with the address half in any case; null when the text is not of that form. */
export function parseCollectionId(chains: Chains, text: string): { chainId: string; addressLower: string } | null {
  const split = text.indexOf('_');
  const chain = split < 0 ? undefined : chains.get(text.slice(0, split));
  if (!chain) return null;
  const address = text.slice(split + 1);
  // A lower-cased base58 address may hold an `l`, which base58 itself leaves out: only its length and letters are checked.
  const wellFormed =
    chain.family === 'evm' ? parseAddress('evm', address) !== null : /^[1-9A-Za-z]{32,44}$/.test(address);
  return wellFormed ? { chainId: chain.id, addressLower: address.toLowerCase() } : null;
}
