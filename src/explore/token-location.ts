// The location of a token in a row that has the collection id and the asset.

import type { Address, AssetId } from '../core/address.ts';
import { parseCollectionId } from '../core/collection.ts';
import type { Market } from '../market/market.ts';
import type { TokenLocation } from '../market/token.ts';

/** On Solana the address is in lower case, which is enough to identify the token. Null if the id names no configured chain. */
export function toTokenLocation(
  { chains }: Pick<Market, 'chains'>,
  { collectionId, asset }: { collectionId: string; asset: AssetId },
): TokenLocation | null {
  const parsed = parseCollectionId(chains, collectionId);
  const chain = parsed && chains.get(parsed.chainId);
  return chain ? { chain, contractAddress: parsed.addressLower as Address, asset } : null;
}
