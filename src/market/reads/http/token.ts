// GET /v1/tokens/{chain}/{address}/{tokenId}.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { parseAddress, parseAssetId } from '../../../platform/core/address.ts';
import type { ServiceError } from '../../../platform/core/errors.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { createCachedResponse } from '../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../platform/http/cached-route.ts';
import { closed, dataOf, ref, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { LISTED_IMAGE_LENGTH_MAX, toServedImage } from '../../../platform/core/image-url.ts';
import type { Market } from '../market.ts';
import type { Token, TokenLocation } from '../token.ts';
import { readToken } from '../token.ts';
import { assetIdentity, chainSchema, toAssetIdentity, toExampleIdentity } from './asset-identity.ts';
import { countOrNull } from './collection-identity.ts';
import type { MarketplaceContext } from './context.ts';
import { marketResponses } from './envelopes.ts';
import { EXAMPLE_COLLECTION, EXAMPLE_TOKEN, toExamplePrice } from './example-collection.ts';
import type { WireMarketItem } from './market-item.ts';
import { LISTING_EXAMPLE, toListingItem } from './market-item.ts';
import type { PriceContext, WirePrice } from './price.ts';
import { readPriceContext, toPriceOrNull } from './price.ts';

const CACHE_POLICY = { sharedMaxAgeS: 10, staleWhileRevalidateS: 60 };
const OWNER_KINDS = ['wallet', 'custody', 'unknown'] as const;

/** The fields that every representation of a token has, besides its listing and its last sale. */
export const tokenFields = {
  ...assetIdentity,
  name: typeOrNull<string>('string', 'Name of the token.'),
  image: typeOrNull<string>(
    'string',
    `Image URL. In a response with several tokens, null if it has more than ${LISTED_IMAGE_LENGTH_MAX} characters, as an inline image (\`data:\`) may: the response about the single token has it.`,
  ),
  rarity: Type.Object({ rank: countOrNull('Rarity rank; 1 is rarest.') }, { description: 'Rarity.', ...closed }),
  owner: Type.Object(
    {
      address: typeOrNull<string>('string', 'Address of the owner; withheld when `kind` is `custody`.'),
      kind: Type.Unsafe<(typeof OWNER_KINDS)[number]>({
        type: 'string',
        enum: OWNER_KINDS,
        description:
          '`wallet`: the owner itself. `custody`: a wallet that holds tokens of many owners. `unknown`: no owner is known.',
      }),
      label: typeOrNull<string>('string', 'Label of the custody wallet.'),
    },
    {
      description:
        'Beneficial owner, never the shared custody wallet: on a followed chain the holder that was read from the chain; otherwise ' +
        'the seller of a listed token, or the reported holder of a token that is not listed.',
      ...closed,
    },
  ),
};

/** The example of `tokenFields`. */
export const TOKEN_FIELDS_EXAMPLE = {
  ...toExampleIdentity(EXAMPLE_TOKEN.tokenId),
  name: `${EXAMPLE_COLLECTION.name} #${EXAMPLE_TOKEN.tokenId}`,
  image: `ipfs://bafybeihd5n3qwqk4m2hhuvqxkz3g6a/${EXAMPLE_TOKEN.tokenId}.png`,
  rarity: { rank: 211 },
  owner: { address: EXAMPLE_TOKEN.seller, kind: 'wallet', label: null },
};

export const TokenDetailSchema = Type.Object(
  {
    ...tokenFields,
    listing: refOrNull<WireMarketItem>('MarketItem', 'Active listing, if any.'),
    lastSale: Type.Unsafe<{ price: WirePrice } | null>({
      anyOf: [
        { type: 'object', properties: { price: { $ref: 'Price#' } }, required: ['price'], additionalProperties: false },
        { type: 'null' },
      ],
      description:
        'Price of the last sale; null when there is no sale, or when the price of the last sale could not be interpreted.',
    }),
  },
  {
    $id: 'TokenDetail',
    title: 'TokenDetail',
    description: 'One token.',
    examples: [{ ...TOKEN_FIELDS_EXAMPLE, listing: LISTING_EXAMPLE, lastSale: { price: toExamplePrice(395n) } }],
    ...closed,
  },
);

export function toTokenFields(token: Token) {
  return {
    ...toAssetIdentity(token, token.asset),
    name: token.name,
    image: toServedImage(token.image),
    rarity: { rank: token.rarityRank },
    owner: token.owner,
  };
}

/** In this response the id of a listing of another marketplace is the hash of the signed order, if it is known. */
function toWireToken(token: Token, prices: PriceContext): Static<typeof TokenDetailSchema> {
  const { listing } = token;
  const lastSalePrice = toPriceOrNull(token.lastSale?.raw ?? null, token.chain, prices);
  const isOwn = listing?.source === null;
  const orderId = (isOwn ? null : listing?.orderHash) ?? listing?.orderId ?? null;
  return {
    ...toTokenFields(token),
    listing: listing && { ...toListingItem(listing, token, prices), orderId },
    lastSale: lastSalePrice && { price: lastSalePrice },
  };
}

/**
 * The form of Solana addresses. The schema accepts this form and the EVM form for every chain. `parseTokenLocation` checks that an
 * address has the form that its chain uses.
 */
const BASE58_FORM = '[1-9A-HJ-NP-Za-km-z]{32,44}';

export const tokenNames = {
  chain: { ...chainSchema, examples: [EXAMPLE_COLLECTION.chain] },
  address: Type.String({
    pattern: `^(0[xX][0-9a-fA-F]{40}|${BASE58_FORM})$`,
    description: 'EVM contract address, or Solana collection mint.',
    examples: [EXAMPLE_COLLECTION.contractAddress],
  }),
  tokenId: Type.String({
    pattern: `^(0|[1-9][0-9]{0,77}|${BASE58_FORM})$`,
    description: 'EVM token id (decimal), or Solana asset mint.',
    examples: [EXAMPLE_TOKEN.tokenId],
  }),
};

export function registerTokenRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market } = context;

  cachedRoute(app, context, {
    path: '/v1/tokens/:chain/:address/:tokenId',
    bucket: 'single',
    schema: {
      operationId: 'getToken',
      summary: 'Read a token',
      description: 'A token with its beneficial owner, its active listing and the price of its last sale.',
      tags: ['Tokens'],
      params: Type.Object(tokenNames),
      response: marketResponses(dataOf(ref('TokenDetail')), 400, 404),
    },
    respond: async (params) => {
      const [token, prices] = await Promise.all([
        readToken(market, parseTokenLocation(market, params)),
        readPriceContext(market),
      ]);
      return createCachedResponse({
        cacheTag: token.collectionId,
        policy: CACHE_POLICY,
        degraded: token.degraded,
        validUntil: token.listing?.expiresAt ?? null,
        body: { data: toWireToken(token, prices) },
      });
    },
  });
}

/** Parses the three names of a token. Throws `invalid` of the name that is wrong. By default the names are parameters of the path. */
export function parseTokenLocation(
  { chains }: Pick<Market, 'chains'>,
  names: { chain?: unknown; address?: unknown; tokenId?: unknown },
  invalid = (name: string, mistake: string): ServiceError => parameterError(name, mistake, 'Path'),
): TokenLocation {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
  const chain = chains.get(textOf(names.chain));
  if (!chain) throw invalid('chain', `must be one of ${[...chains.keys()].join(', ')}`);
  const contractAddress = parseAddress(chain.family, textOf(names.address));
  if (!contractAddress) throw invalid('address', `is not an address on ${chain.id}`);
  const asset = parseAssetId(chain.family, textOf(names.tokenId));
  if (!asset) throw invalid('tokenId', `is not a token id on ${chain.id}`);
  return { chain, contractAddress, asset };
}
