// Makes the location of a token from the collection id and the asset of a row.

import type { Address, AssetId } from '../core/address.ts';
import { parseCollectionId } from '../core/collection.ts';
import type { Market } from '../market/market.ts';
import type { TokenLocation } from '../market/token.ts';

/**
 * The contract address is in lower case, also on Solana, where the case of an address matters. There, the asset alone identifies the token.
 * Null if the chain of the collection id is not configured.
 */
export function toTokenLocation(
  { chains }: Pick<Market, 'chains'>,
  { collectionId, asset }: { collectionId: string; asset: AssetId },
): TokenLocation | null {
  const parsed = parseCollectionId(chains, collectionId);
  const chain = parsed && chains.get(parsed.chainId);
  return chain ? { chain, contractAddress: parsed.addressLower as Address, asset } : null;
}
