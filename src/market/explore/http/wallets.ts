// GET /explore/v1/wallets/{address}/tokens and GET /explore/v1/wallets/{address}/listings.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseAnyAddress } from '../../../platform/core/address.ts';
import { ALL_COLLECTIONS } from '../../../platform/core/collection-versions.ts';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { chainSchema } from '../../reads/http/asset-identity.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery, readCursor } from '../../reads/http/envelopes.ts';
import { EXAMPLE_TOKEN } from '../../reads/http/example-collection.ts';
import { firstExpiry } from '../../reads/listing-window.ts';
import type { WalletPage, WalletPageQuery } from '../wallets.ts';
import { listWalletListings, listWalletTokens } from '../wallets.ts';
import { firstExpiryOf, readTokenPrices, toWireToken } from './token.ts';
import type { ExploreContext } from './context.ts';
import { HASHED_LISTING_EXAMPLE, readListingPrices, toListed, toWireListing } from './listing.ts';
import type { ExploreContent } from './offset-meta.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';

const CACHE_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };

const walletParams = Type.Object({
  address: Type.String({ description: 'EVM or Solana address of the wallet.', examples: [EXAMPLE_TOKEN.seller] }),
});
const walletQuery = Type.Object({ chain: Type.Optional(chainSchema), ...pageQuery });

type Query = PageQuery & { chain?: string };

export function registerWalletRoutes(app: FastifyInstance, context: ExploreContext): void {
  const { market } = context;

  exploreRoute<Query>(app, context, {
    path: '/explore/v1/wallets/:address/tokens',
    bucket: 'list',
    schema: {
      operationId: 'listWalletTokens',
      summary: 'List the tokens of a wallet',
      description:
        'The tokens whose beneficial owner is the wallet, on all chains or on one, sorted by collection and token. A page may be short or empty ' +
        'although there is a next page.',
      tags: ['Wallets'],
      params: walletParams,
      querystring: walletQuery,
      response: marketResponses(exploredPageOf('Token'), 400, 502),
    },
    respond: async ({ address = '' }, query) => {
      const list = toList(context, { kind: 'tokens', address, query });
      const page = await listWalletTokens(market, list.query);
      const prices = await readTokenPrices(market, page.rows);
      return list.respond(page, {
        data: page.rows.map((token) => toWireToken(context, token, prices)),
        validUntil: firstExpiryOf(page.rows, prices),
      });
    },
  });

  exploreRoute<Query>(app, context, {
    path: '/explore/v1/wallets/:address/listings',
    bucket: 'list',
    schema: {
      operationId: 'listWalletListings',
      summary: 'List the listings of a wallet',
      description:
        'The active listings whose seller is the wallet, on all chains or on one, sorted by collection and token: one row for each token, the ' +
        'cheapest, or the order of this service. `listOrders` with `maker` has all orders.',
      tags: ['Wallets'],
      params: walletParams,
      querystring: walletQuery,
      response: marketResponses(exploredPageOf('Listing', { rows: [HASHED_LISTING_EXAMPLE] }), 400, 502),
    },
    respond: async ({ address = '' }, query) => {
      const list = toList(context, { kind: 'listings', address, query });
      const page = await listWalletListings(market, list.query);
      const prices = await readListingPrices(market, page.rows.map(toListed));
      return list.respond(page, {
        data: page.rows.map(({ listing, location }) => toWireListing(listing, location, prices)),
        validUntil: firstExpiry(page.rows.flatMap(({ listing }) => listing ?? [])),
      });
    },
  });
}

type WalletList = {
  query: WalletPageQuery;
  respond(page: WalletPage<unknown>, options: { data: unknown[]; validUntil: number | null }): ExploreContent;
};

/** Parses the request. Returns the query, and a function that makes the response from the page which the query has found. */
function toList(
  { market, cursorSecret }: ExploreContext,
  { kind, address, query }: { kind: string; address: string; query: Query },
): WalletList {
  const account = parseAnyAddress(address);
  if (!account) throw parameterError('address', 'is not an EVM or Solana address', 'Path');
  const { chain = null, cursor, limit } = query;
  const scope = `wallet ${kind} ${account} ${chain ?? '*'}`;
  const after = cursor === undefined ? null : readPosition(cursorSecret, scope, cursor);
  return {
    query: { account, chain: market.chainOf(chain), after, limit },
    respond: (page, { data, validUntil }) => ({
      cacheTag: ALL_COLLECTIONS,
      policy: CACHE_POLICY,
      degraded: page.degraded,
      validUntil,
      body: {
        data,
        pagination: {
          nextCursor: page.next && sealCursor(cursorSecret, scope, JSON.stringify(page.next)),
          hasMore: page.next !== null,
        },
      },
    }),
  };
}

function readPosition(secret: Buffer, scope: string, cursor: string): NonNullable<WalletPageQuery['after']> {
  const payload = readCursor(secret, { scope, list: 'this list' }, cursor);
  return JSON.parse(payload) as NonNullable<WalletPageQuery['after']>;
}
