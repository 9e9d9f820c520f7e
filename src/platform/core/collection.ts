// Collection identity. The canonical id is `<chain>_<address>`, with the address in lower case even on Solana, where case matters. A Solana
// address cannot be recovered from its lower-case form, so code reads the address from the collection's record.

import type { Address } from './address.ts';
import { parseAddress } from './address.ts';
import type { Chain, Chains } from './chains.ts';

/** A collection as the primary database stores it. */
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
  /** True when all tokens of the collection are imported, with their owners. */
  tokensComplete: boolean;
  /** True when all sales of the collection are imported, from the first one on. */
  salesComplete: boolean;
  /** Milliseconds since the epoch. */
  createdAt: number;
  snapshot: CollectionSnapshot;
};

/** The statistics stored with the record, used when nothing fresher is known. `volumeAllTime` is in native units. */
export type CollectionSnapshot = {
  floorRaw: bigint | null;
  volumeAllTime: number | null;
  supply: number | null;
  owners: number | null;
};

/** `contractAddress` is the contract or the collection mint. */
export type CollectionLocation = { chain: Chain; contractAddress: Address; collectionId: string };

export function toCollectionId(chainId: string, address: Address): string {
  return `${chainId}_${address.toLowerCase()}`;
}

/**
 * The id of a collection record. Without an address the slug takes the place of the address. Without a chain the id has no `<chain>_`
 * prefix. Null when the record has neither an address nor a slug.
 */
export function toRecordedCollectionId(
  chainId: string | null,
  address: Address | null,
  slug: string | null,
): string | null {
  const addressOrSlug = address?.toLowerCase() ?? slug;
  if (addressOrSlug === null) return null;
  return chainId === null ? addressOrSlug : `${chainId}_${addressOrSlug}`;
}

/** Parses `<chain>_<address>`, with the address in any case. Null when the text has another form or names an unknown chain. */
export function parseCollectionId(chains: Chains, text: string): { chainId: string; addressLower: string } | null {
  const split = text.indexOf('_');
  const chain = split < 0 ? undefined : chains.get(text.slice(0, split));
  if (!chain) return null;
  const address = text.slice(split + 1);
  // A Solana address in lower case cannot be decoded: `l`, the lower case of `L`, is not in the base58 alphabet. So only its characters and
  // its length are checked.
  const wellFormed =
    chain.family === 'evm' ? parseAddress('evm', address) !== null : /^[1-9A-Za-z]{32,44}$/.test(address);
  return wellFormed ? { chainId: chain.id, addressLower: address.toLowerCase() } : null;
}
