// The query parameter `token` of the lists of orders and of activity. It names a token in the same way in each list.

import Type from 'typebox';
import type { AssetId } from '../../../platform/core/address.ts';
import { parseAssetId } from '../../../platform/core/address.ts';
import type { CollectionLocation } from '../../../platform/core/collection.ts';
import { toCollectionId } from '../../../platform/core/collection.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { EXAMPLE_COLLECTION, EXAMPLE_TOKEN } from '../../reads/http/example-collection.ts';
import { parseTokenLocation } from '../../reads/http/token.ts';
import type { Market } from '../../reads/market.ts';

const LENGTH_MAX = 200;
const FORM = 'must be chain/address/tokenId, or with collection the token id or mint alone';

/** `rows`: what the list has, such as `orders`. */
export const tokenParameter = (rows: string) =>
  Type.Optional(
    Type.String({
      maxLength: LENGTH_MAX,
      description: `Only ${rows} of this token: \`chain/address/tokenId\`, on Solana with the mint of the collection and of the token. With \`collection\`, the token id or mint alone is enough.`,
      examples: [`${EXAMPLE_COLLECTION.chain}/${EXAMPLE_COLLECTION.contractAddress}/${EXAMPLE_TOKEN.tokenId}`],
    }),
  );

/** `location`: of the collection that the request names; null if this collection has no address, undefined if the request names none. */
export function parseTokenParameter(
  market: Market,
  text: string,
  location: CollectionLocation | null | undefined,
): { chain: string; collectionId: string; asset: AssetId } {
  const [chain, address, tokenId, ...rest] = text.split('/');
  if (address === undefined && location !== undefined) {
    const asset = location && parseAssetId(location.chain.family, text);
    if (!asset) throw parameterError('token', 'is not a token id of the collection');
    return { chain: location.chain.id, collectionId: location.collectionId, asset };
  }
  if (tokenId === undefined || rest.length > 0) throw parameterError('token', FORM);
  const named = parseTokenLocation(market, { chain, address, tokenId }, (name, mistake) =>
    parameterError('token', `has a wrong part: ${name} ${mistake}`),
  );
  const { id } = named.chain;
  return { chain: id, collectionId: toCollectionId(id, named.contractAddress), asset: named.asset };
}
