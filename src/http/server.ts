// The public HTTP server: edge, router, interfaces. It owns nothing long-lived but itself.

import { METHODS, createServer } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import type { Chains } from '../domain/chain.ts';
import { ServiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import { CORS_HEADERS } from './answer.ts';
import { createClientAddress } from './client-address.ts';
import { answerClientError, createEdge } from './edge.ts';
import { isUnexpected, toErrorAnswer } from './errors.ts';
import { MARKETPLACE_PREFIX, bucketOf } from './marketplace/paths.ts';
import type { MarketplaceContext } from './marketplace/answer-route.ts';
import { registerMarketplaceRoutes } from './marketplace/routes.ts';
import { COMPONENT_SCHEMAS } from './marketplace/schemas.ts';
import { registerOpenApi } from './openapi.ts';
import { createQueryValidator, splitQuery } from './query.ts';
import type { RateLimits } from './rate-limit.ts';
import { createRateLimiter } from './rate-limit.ts';
import { registerReferencePage } from './reference-page.ts';

export type ServerOptions = {
  marketplace: MarketplaceContext;
  chains: Chains;
  trustProxy: number | readonly string[];
  limits: RateLimits;
  clock: () => number;
  log: Log;
};

/** A client that takes longer than this to send its headers, or its whole request, is hung up on. */
const HEADERS_TIMEOUT_MS = 8_000;
const REQUEST_TIMEOUT_MS = 15_000;
const SLOW_CLIENT_CHECK_MS = 1_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Ids are judged by the routes; the router only has to let them through. Headers bound the URL to 16 KiB. */
const PATH_PART_LENGTH_MAX = 16_384;
const BODY_BYTES_MAX = 1024 * 1024;

export async function createHttpServer(options: ServerOptions): Promise<FastifyInstance> {
  const { marketplace, clock, log } = options;
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: PATH_PART_LENGTH_MAX, ignoreTrailingSlash: true, querystringParser: splitQuery },
    frameworkErrors: (error, request, reply) => sendError(log, error, request, reply),
    serverFactory: (route) => {
      const edge = createEdge(
        {
          bucketOf,
          limiter: createRateLimiter(options.limits, clock),
          clientAddress: createClientAddress(options.trustProxy),
          peek: marketplace.answers.peek,
          clock,
        },
        route,
      );
      return createServer(
        {
          headersTimeout: HEADERS_TIMEOUT_MS,
          requestTimeout: REQUEST_TIMEOUT_MS,
          connectionsCheckingInterval: SLOW_CLIENT_CHECK_MS,
          keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
          requireHostHeader: false,
        },
        edge,
      )
        .on('checkExpectation', edge)
        .on('clientError', answerClientError);
    },
  });
  for (const schema of COMPONENT_SCHEMAS) app.addSchema(schema);
  const readQuery = createQueryValidator(options.chains);
  // Path parameters are parsed by their routes, which know more than a schema can say.
  app.setValidatorCompiler((route) => (route.httpPart === 'querystring' ? readQuery(route as never) : () => true));
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler((error, request, reply) => sendError(log, error, request, reply));
  refuseUnknown(app);
  await registerOpenApi(app);
  registerMarketplaceRoutes(app, marketplace);
  await registerReferencePage(app);
  await app.ready();
  return app;
}

/** Unknown paths are 404, known paths under another method 405; a preflight of a known path is answered here too. */
function refuseUnknown(app: FastifyInstance): void {
  const routes: { path: RegExp; methods: string[] }[] = [];
  app.addHook('onRoute', (route) => {
    const path = new RegExp(`^${route.url.replaceAll('.', String.raw`\.`).replaceAll(/:[^/]+/g, '[^/]+')}/?$`);
    routes.push({ path, methods: [route.method].flat() });
  });
  for (const method of METHODS)
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return undefined;
    const path = request.url.split('?', 1)[0] ?? '';
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

const PREFLIGHT_MAX_AGE_S = '86400';

function sendPreflight(request: FastifyRequest, reply: FastifyReply, allowed: string): FastifyReply {
  reply.header('allow', allowed);
  if (request.url.startsWith(MARKETPLACE_PREFIX)) {
    reply.headers({
      ...CORS_HEADERS,
      'access-control-allow-methods': allowed,
      'access-control-allow-headers': '*',
      'access-control-max-age': PREFLIGHT_MAX_AGE_S,
    });
  }
  return reply.code(204).send();
}

function sendError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (isUnexpected(error)) log.error('a request failed', { method: request.method, url: request.url, error });
  const { status, headers, envelope } = toErrorAnswer(error);
  if (request.url.startsWith(MARKETPLACE_PREFIX)) reply.headers(CORS_HEADERS);
  void reply.code(status).headers(headers).send(envelope);
}
