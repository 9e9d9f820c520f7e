// Responds to requests that match no route. A request for an unknown path gets 404. A request for a known path with a method that the path
// does not have gets 405. OPTIONS (a CORS preflight) on a known path gets 204.

import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../platform/core/errors.ts';
import { pathOf } from '../platform/http/request-target.ts';
import { corsHeadersOf } from './public-interfaces.ts';
import type { RouteTable } from './route-table.ts';

const PREFLIGHT_MAX_AGE_S = '86400';

export function answerUnknownRoutes(app: FastifyInstance, routes: Pick<RouteTable, 'methodsOf'>): void {
  for (const method of METHODS)
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return undefined;
    const methods = routes.methodsOf(pathOf(request.url));
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
