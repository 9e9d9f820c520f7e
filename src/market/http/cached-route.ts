// What the routes of the marketplace interface share: what they are given, and how an answer is found or made.

import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Changes } from '../../core/changes.ts';
import type { Market } from '../market.ts';
import type { ResponseCache } from '../../http/response-cache.ts';
import type { CachedResponse } from '../../http/cached-response.ts';
import { writeCachedResponse } from '../../http/cached-response.ts';
import type { RawQuery } from '../../http/query.ts';
import { splitQuery } from '../../http/query.ts';
import { pathOf } from '../../http/request-target.ts';
import { toCacheKey } from './paths.ts';
import type { PriceContext } from './shapes.ts';

export type MarketplaceContext = {
  market: Market;
  changes: Changes;
  answers: ResponseCache;
  /** The key that authenticates cursors, the same on every node. */
  cursorSecret: Buffer;
  /** Where callers reach the service. */
  baseUrl: () => string;
  version: string;
};

/** A GET route whose answers are kept: `make` turns path and query into an answer when none is at hand. */
export function cachedRoute<Q extends object>(
  app: FastifyInstance,
  context: MarketplaceContext,
  route: {
    path: string;
    schema: FastifySchema;
    make: (params: Record<string, string>, query: Q) => Promise<CachedResponse>;
  },
): void {
  const takesQuery = route.schema.querystring !== undefined;
  app.get(route.path, { schema: route.schema }, async (request: FastifyRequest, reply: FastifyReply) => {
    // Without a schema nothing was sorted out of the query: a route that documents no parameter knows none.
    const query = (takesQuery ? request.query : {}) as Q;
    const key = toCacheKey(pathOf(request.raw.url ?? ''), query as Record<string, unknown>, rawQueryOf(request));
    const answer = await context.answers.get(key, () => route.make(request.params as Record<string, string>, query));
    reply.hijack();
    writeCachedResponse(request.raw, reply.raw, answer, context.market.clock());
  });
}

/** What prices are worded with right now. */
export async function readPriceContext(market: Market): Promise<PriceContext> {
  return { rates: await market.rates.read(), now: market.clock(), ownCode: market.serviceName.toUpperCase() };
}

function rawQueryOf(request: FastifyRequest): RawQuery {
  const url = request.raw.url ?? '';
  const start = url.indexOf('?');
  return start < 0 ? {} : splitQuery(url.slice(start + 1));
}
