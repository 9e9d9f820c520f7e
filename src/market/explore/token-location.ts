// Makes the location of a token from the collection id and the asset of a row.

import type { Address, AssetId } from '../../platform/core/address.ts';
import { parseCollectionId } from '../../platform/core/collection.ts';
import type { Market } from '../reads/market.ts';
import type { TokenLocation } from '../reads/token.ts';

/**
 * Returns null if the chain of the collection id is not configured. The contract address is in lower case. The addresses of Solana depend on
 * their letter case, so on Solana this address is useless. There, the mint alone identifies the token.
 */
export function toTokenLocation(
  { chains }: Pick<Market, 'chains'>,
  { collectionId, asset }: { collectionId: string; asset: AssetId },
): TokenLocation | null {
  const parsed = parseCollectionId(chains, collectionId);
  const chain = parsed && chains.get(parsed.chainId);
  return chain ? { chain, contractAddress: parsed.addressLower as Address, asset } : null;
}
