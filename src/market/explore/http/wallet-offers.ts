// GET /explore/v1/wallets/{address}/offers.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { parseAnyAddress } from '../../../platform/core/address.ts';
import { ALL_COLLECTIONS } from '../../../platform/core/collection-versions.ts';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { closed, ref } from '../../../platform/http/schema-builders.ts';
import { assetIdentity, chainSchema, toAssetIdentity, toExampleIdentity } from '../../reads/http/asset-identity.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery, readCursor } from '../../reads/http/envelopes.ts';
import { EXAMPLE_TOKEN } from '../../reads/http/example-collection.ts';
import { firstExpiry } from '../../reads/listing-window.ts';
import { listWalletOffers } from '../bids.ts';
import type { OfferPosition } from '../queries/bids.ts';
import type { WireTopBid } from './bid.ts';
import { TOP_BID_EXAMPLE, toWireTopBid } from './bid.ts';
import type { ExploreContext } from './context.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';
import { readExplorePrices } from './price.ts';

const CACHE_POLICY = { sharedMaxAgeS: 1, staleWhileRevalidateS: 5 };

export const OfferSchema = Type.Object(
  { ...assetIdentity, topBid: ref<WireTopBid>('TopBid') },
  {
    $id: 'Offer',
    title: 'Offer',
    description: 'A token that a wallet holds, and the best bid that the wallet can accept for it.',
    examples: [{ ...toExampleIdentity(EXAMPLE_TOKEN.tokenId), topBid: TOP_BID_EXAMPLE }],
    ...closed,
  },
);

type Query = PageQuery & { chain?: string };

export function registerWalletOffersRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market, cursorSecret } = context;

  exploreRoute<Query>(app, context, {
    path: '/explore/v1/wallets/:address/offers',
    bucket: 'list',
    schema: {
      operationId: 'listWalletOffers',
      summary: 'List what is offered for the tokens of a wallet',
      description:
        'The tokens that the wallet holds, by the logs of the followed chains, and for which another account has bid: one row for each token, with its best bid. ' +
        'Sorted by chain, and then by the proceeds of the seller, the highest first. `listOrders` with `side=bid` and `token` has all bids of a token.',
      tags: ['Wallets'],
      params: Type.Object({
        address: Type.String({ description: 'EVM or Solana address of the wallet.', examples: [EXAMPLE_TOKEN.seller] }),
      }),
      querystring: Type.Object({ chain: Type.Optional(chainSchema), ...pageQuery }),
      response: marketResponses(exploredPageOf('Offer'), 400, 502),
    },
    respond: async ({ address = '' }, { chain, cursor, limit }) => {
      const account = parseAnyAddress(address);
      if (!account) throw parameterError('address', 'is not an EVM or Solana address', 'Path');
      const scope = `wallet offers ${account} ${chain ?? '*'}`;
      const after =
        cursor === undefined
          ? null
          : (JSON.parse(readCursor(cursorSecret, { scope, list: 'this list' }, cursor)) as OfferPosition);
      const [page, prices] = await Promise.all([
        listWalletOffers(market, { account, chain: market.chainOf(chain ?? null), after, limit }),
        readExplorePrices(market),
      ]);
      return {
        cacheTag: ALL_COLLECTIONS,
        policy: CACHE_POLICY,
        validUntil: firstExpiry(page.offers.map(({ bid }) => bid)),
        body: {
          data: page.offers.map(({ asset, bid, location }): Static<typeof OfferSchema> => ({
            ...toAssetIdentity(location, asset),
            topBid: toWireTopBid(bid, location.chain, prices),
          })),
          pagination: {
            nextCursor: page.next && sealCursor(cursorSecret, scope, JSON.stringify(page.next)),
            hasMore: page.next !== null,
          },
        },
      };
    },
  });
}
