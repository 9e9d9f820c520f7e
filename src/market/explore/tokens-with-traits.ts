// Lists the tokens that have given traits, for a bid that names its tokens by traits.

import type { AssetId } from '../../platform/core/address.ts';
import type { SetTrait } from '../orders/token-sets.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import { listTokensOfTraits } from './queries/trait-keys.ts';

/** At most `limit` tokens, none if the collection has no such trait. Throws `upstream_error` when the index cannot be read. */
export async function listTokensWithTraits(
  market: Market,
  collectionId: string,
  { traits, limit }: { traits: readonly SetTrait[]; limit: number },
): Promise<AssetId[]> {
  const query = { traits, limit, now: market.clock() };
  return requireValue(
    await market.tokenLists.read((db) => listTokensOfTraits(db, collectionId, query)),
    'upstream_error',
  );
}
