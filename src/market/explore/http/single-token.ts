// GET /explore/v1/tokens/{chain}/{address}/{tokenId}.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { ServiceError } from '../../../platform/core/errors.ts';
import { ref } from '../../../platform/http/schema-builders.ts';
import { marketResponses } from '../../reads/http/envelopes.ts';
import { parseTokenLocation, tokenNames } from '../../reads/http/token.ts';
import { findTokens } from '../../reads/token.ts';
import type { ExploreContext } from './context.ts';
import { exploreRoute, exploredDataOf } from './offset-meta.ts';
import { firstExpiryOf, readTokenPrices, toWireToken } from './token.ts';

const CACHE_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };

export function registerSingleTokenRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market } = context;

  exploreRoute(app, context, {
    path: '/explore/v1/tokens/:chain/:address/:tokenId',
    bucket: 'single',
    schema: {
      operationId: 'getMarketToken',
      summary: 'Read a token with its traits',
      description:
        'A token as the lists of tokens have it. A token that is listed on this service exists, even if nothing else is known of it.',
      tags: ['Tokens'],
      params: Type.Object(tokenNames),
      response: marketResponses(exploredDataOf(ref('Token')), 400, 404),
    },
    respond: async (params) => {
      const location = parseTokenLocation(market, params);
      const { tokens, degraded } = await findTokens(market, market.tokenOverlay, [location], { openListed: true });
      const [token] = tokens;
      if (!token || token.isBurned) throw new ServiceError('not_found', 'Token not found');
      const prices = await readTokenPrices(market, [token]);
      return {
        cacheTag: token.collectionId,
        policy: CACHE_POLICY,
        degraded: degraded || prices.degraded,
        validUntil: firstExpiryOf([token], prices),
        body: { data: toWireToken(context, token, prices) },
      };
    },
  });
}
