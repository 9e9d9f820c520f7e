// Lets another interface, such as /mcp, read the public interfaces inside the process on behalf of its client. These reads count in the
// rate limits of the client or of its API key and use the cached responses, as if the client had sent the requests itself.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Json } from './agents/json.ts';
import type { PublicRead } from './agents/public-read.ts';
import { ToolError, toToolError } from './agents/public-read.ts';
import { sentResponseOf } from '../platform/http/cached-route.ts';
import { toRateLimitError } from '../platform/http/rate-limit.ts';
import type { EdgeOptions } from './edge.ts';

type PublicReadOptions = Pick<EdgeOptions, 'routes' | 'requests' | 'clock'>;

export function createPublicReads(
  app: FastifyInstance,
  { routes, requests, clock }: PublicReadOptions,
): (request: FastifyRequest) => PublicRead {
  return (request) =>
    async (path, query = {}) => {
      const bucket = routes.bucketOf('GET', path);
      const exceeded = bucket && (await requests.count(bucket, request.raw));
      if (exceeded) throw new ToolError(toRateLimitError(exceeded).error.message);
      const search = new URLSearchParams(query).toString();
      const response = await app.inject(search === '' ? path : `${path}?${search}`);
      const body = JSON.parse(response.payload) as Json;
      if (response.statusCode !== 200) throw toToolError(body);
      const { degraded = false, ageMs = 0 } = sentResponseOf(response.raw.res) ?? {};
      return { body, degraded, readAt: clock() - ageMs };
    };
}
