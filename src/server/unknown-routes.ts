// Responds to requests that match no route. A request for an unknown path gets 404. A request for a known path with a method that the path
// does not have gets 405. OPTIONS (a CORS preflight) on a known path gets 204.

import type { IncomingMessage } from 'node:http';
import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../platform/core/errors.ts';
import type { RateLimiter } from '../platform/http/rate-limit.ts';
import { toRateLimitError } from '../platform/http/rate-limit.ts';
import { pathOf } from '../platform/http/request-target.ts';
import { corsHeadersOf } from './public-interfaces.ts';
import { bucketOf } from './rate-limit/bucket-of-path.ts';

const PREFLIGHT_MAX_AGE_S = '86400';

/** What counts the requests that the edge leaves to the routes of an interface (`bucketOf`), but no route has counted. */
export type UnknownRouteOptions = {
  clientAddress: (request: IncomingMessage) => string;
  limiter: RateLimiter;
};

/** Must be called before the routes are registered, because it collects their paths during the registration. */
export function answerUnknownRoutes(app: FastifyInstance, { clientAddress, limiter }: UnknownRouteOptions): void {
  const routes: { path: RegExp; methods: string[] }[] = [];
  app.addHook('onRoute', (route) => {
    const path = new RegExp(`^${route.url.replaceAll('.', String.raw`\.`).replaceAll(/:[^/]+/g, '[^/]+')}/?$`);
    routes.push({ path, methods: [route.method].flat() });
  });
  for (const method of METHODS)
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return undefined;
    const path = pathOf(request.url);
    if (bucketOf(path) === null) {
      const exceeded = await limiter.count('single', clientAddress(request.raw));
      if (exceeded) {
        const { error, headers } = toRateLimitError(exceeded);
        reply.headers(headers);
        throw error;
      }
    }
    const methods = new Set(routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods));
    if (methods.size === 0) throw new ServiceError('not_found', 'Not found');
    const allowed = [...methods, 'OPTIONS'].join(', ');
    if (request.method === 'OPTIONS') return sendPreflight(request, reply, allowed);
    reply.header('allow', allowed);
    throw new ServiceError('method_not_allowed', `Method ${request.method} is not allowed here`);
  });
  app.setNotFoundHandler(() => {
    throw new ServiceError('not_found', 'Not found');
  });
}

function sendPreflight(request: FastifyRequest, reply: FastifyReply, allowed: string): FastifyReply {
  reply.header('allow', allowed);
  const cors = corsHeadersOf(request.url);
  if (Object.keys(cors).length > 0) {
    reply.headers({
      ...cors,
      'access-control-allow-methods': allowed,
      'access-control-allow-headers': '*',
      'access-control-max-age': PREFLIGHT_MAX_AGE_S,
    });
  } else reply.header('cache-control', 'no-store');
  return reply.code(204).send();
}
