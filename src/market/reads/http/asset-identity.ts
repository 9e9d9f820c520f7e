// The fields that identify an asset in responses. Listings, sales and tokens share them.

import Type from 'typebox';
import type { Address, AssetId } from '../../../platform/core/address.ts';
import { toAssetNames } from '../../../platform/core/address.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import { PUBLISHED_CHAIN_IDS } from '../../../platform/core/chains.ts';
import { toCollectionId } from '../../../platform/core/collection.ts';
import { typeOrNull } from '../../../platform/http/schema-builders.ts';
import { EXAMPLE_COLLECTION } from './example-collection.ts';

export const chainSchema = Type.Unsafe<string>({
  type: 'string',
  enum: PUBLISHED_CHAIN_IDS,
  description: 'The id of the chain.',
});

export const assetIdentity = {
  chain: chainSchema,
  contractAddress: typeOrNull<string>('string', 'EVM contract address in lower case; null on Solana.'),
  tokenId: typeOrNull<string>('string', 'EVM token id as a decimal string; null on Solana.'),
  mint: typeOrNull<string>('string', 'Solana asset id in base58, case preserved; null on EVM chains.'),
  collectionId: Type.String({
    description: 'Canonical collection id. Opaque: pass it back as `{id}`, compare for equality only.',
  }),
};

export function toExampleIdentity(tokenId: string) {
  const { chain, contractAddress, id: collectionId } = EXAMPLE_COLLECTION;
  return { chain, contractAddress, tokenId, mint: null, collectionId };
}

export function toAssetIdentity(
  { chain, contractAddress }: { chain: Chain; contractAddress: Address },
  asset: AssetId,
) {
  return {
    chain: chain.id,
    ...toAssetNames(chain.family, contractAddress, asset),
    collectionId: toCollectionId(chain.id, contractAddress),
  };
}
