// GET /v1/tokens/{chain}/{address}/{tokenId}.

import type { FastifyInstance } from 'fastify';
import { parseAddress, parseAssetId } from '../../core/address.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Market } from '../market.ts';
import { readToken } from '../token.ts';
import { DEGRADED_POLICY, createCachedResponse } from '../../http/cached-response.ts';
import { responses, tokenParams } from './documented.ts';
import type { MarketplaceContext } from './cached-route.ts';
import { cachedRoute, readPriceContext } from './cached-route.ts';
import { wrapped } from './schemas.ts';
import { toWireToken } from './shapes.ts';

const TOKEN_POLICY = { sharedMaxAgeS: 10, staleWhileRevalidateS: 60 };

export function registerTokenRoute(app: FastifyInstance, context: MarketplaceContext): void {
  const { market } = context;

  cachedRoute(app, context, {
    path: '/v1/tokens/:chain/:address/:tokenId',
    schema: {
      operationId: 'getToken',
      summary: 'Read a token',
      description: 'A token with its beneficial owner, its active listing and the price of its last sale.',
      tags: ['Tokens'],
      params: tokenParams,
      response: responses(wrapped('TokenDetail'), 400, 404),
    },
    make: async (params) => {
      const [token, wording] = await Promise.all([
        readToken(market, parseSubject(market, params)),
        readPriceContext(market),
      ]);
      const data = toWireToken(token, wording);
      return createCachedResponse({
        subject: token.collectionId,
        policy: token.degraded ? DEGRADED_POLICY : TOKEN_POLICY,
        trueUntil: token.listing?.expiresAt ?? null,
        body: { data },
      });
    },
  });
}

function parseSubject(market: Market, params: Record<string, string>) {
  const chain = market.chains.get(params['chain'] ?? '');
  if (!chain)
    throw new ServiceError(
      'bad_request',
      `Path parameter chain must be one of ${[...market.chains.keys()].join(', ')}`,
    );
  const contractAddress = parseAddress(chain.family, params['address'] ?? '');
  if (!contractAddress)
    throw new ServiceError('bad_request', `Path parameter address is not an address on ${chain.id}`);
  const asset = parseAssetId(chain.family, params['tokenId'] ?? '');
  if (!asset) throw new ServiceError('bad_request', `Path parameter tokenId is not a token id on ${chain.id}`);
  return { chain, contractAddress, asset };
}
