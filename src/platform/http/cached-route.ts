// Registers GET routes whose responses are cached. The cache key is the request target in its canonical spelling. If a request has this
// spelling and a fresh response is cached, server/edge.ts sends the cached response, and the request does not reach the route.

import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Clock } from '../core/clock.ts';
import type { CachedResponse } from './cached-response.ts';
import { writeCachedResponse } from './cached-response.ts';
import type { ObjectParameter } from './query.ts';
import { splitQuery } from './query.ts';
import type { RateLimitBucket } from './rate-limit.ts';
import { pathOf, queryOf, withoutTrailingSlash } from './request-target.ts';
import type { ResponseCache } from './response-cache.ts';

export type CachedRoute<Query extends object> = {
  path: string;
  bucket: RateLimitBucket;
  schema: FastifySchema;
  /** Computes the response from the path parameters and the validated query. */
  respond: (params: Record<string, string>, query: Query) => Promise<CachedResponse>;
};

const sentResponses = new WeakMap<ServerResponse, CachedResponse>();

/** The response that a cached route has sent. Undefined if `reply` is the response of another route, or an error response. */
export function sentResponseOf(reply: ServerResponse): CachedResponse | undefined {
  return sentResponses.get(reply);
}

/** Registers a GET route that responds from the cache, or computes and caches the response. */
export function cachedRoute<Query extends object>(
  app: FastifyInstance,
  { responses, clock }: { responses: ResponseCache; clock: Clock },
  { path, bucket, schema, respond }: CachedRoute<Query>,
): void {
  const hasQuery = schema.querystring !== undefined;
  app.get<{ Params: Record<string, string> }>(path, { config: { bucket }, schema }, async (request, reply) => {
    // A route without a query schema ignores the query.
    const query = (hasQuery ? request.query : {}) as Query;
    const key = toCacheKey(request.raw.url ?? '', query);
    const compute = async () => ({ ...(await respond(request.params, query)), route: path });
    const response = await responses.get(key, compute);
    sentResponses.set(reply.raw, response);
    reply.hijack();
    writeCachedResponse(request.raw, reply.raw, response, { now: clock() });
  });
}

/**
 * The path, and the parameters that the caller sent. The parameters are in the order of the schema, and percent-encoded as by
 * `encodeURIComponent`. A default value is part of the key only if the caller sent it.
 */
function toCacheKey(target: string, query: object): string {
  const sent = splitQuery(queryOf(target));
  const parameters = Object.entries(query)
    .filter(([name, value]) => sent[name] !== undefined || value instanceof Map)
    .flatMap(([name, value]) => toPairs(name, value))
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const path = withoutTrailingSlash(pathOf(target));
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

function toPairs(name: string, value: unknown): (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.map((one: unknown) => [name, one]);
  if (!(value instanceof Map)) return [[name, value]];
  return [...(value as ObjectParameter)].flatMap(([inner, values]) =>
    values.map((one) => [encodeURIComponent(`${name}[${inner}]`), one] as const),
  );
}
