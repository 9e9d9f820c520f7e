// The public HTTP server: edge, router, interfaces. It owns nothing long-lived but itself.

import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import type { Chains } from '../core/chains.ts';
import { ServiceError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { CORS_HEADERS } from '../http/cached-response.ts';
import { createClientAddress } from './client-address.ts';
import { createEdge } from './edge.ts';
import { isUnexpected, toErrorResponse, toKnownError } from '../http/error-response.ts';
import type { IntakeContext } from '../intake/http/access.ts';
import { KeyedAccess } from '../intake/http/access.ts';
import { INTAKE_PREFIX, registerIntake } from '../intake/http/routes.ts';
import { MARKETPLACE_PREFIX, bucketOf } from '../market/http/paths.ts';
import type { MarketplaceContext } from '../market/http/cached-route.ts';
import { registerMarketplace } from '../market/http/routes.ts';
import { CLIENT_LIMITS, createNodeServer } from './node-server.ts';
import { splitQuery } from '../http/query.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import { registerReferencePage } from './reference-page.ts';
import type { SharedCounting } from './shared-rate-limiter.ts';
import { createLimiter } from './shared-rate-limiter.ts';
import { FAILURES_A_MINUTE_MAX } from '../shop/http/authenticate.ts';
import type { StatusReader } from '../core/status.ts';
import { registerStatusRoute } from './status.ts';
import { STORE_PREFIX, registerStoreRoutes } from '../shop/http/routes.ts';
import type { StoreRoutesContext } from '../shop/http/context.ts';

export type ServerOptions = {
  marketplace: MarketplaceContext;
  store: Pick<StoreRoutesContext, 'shop' | 'keys' | 'cursorSecret' | 'webhooks'>;
  intake: Pick<IntakeContext, 'records' | 'orders'>;
  /** Requests a minute, per key of the store and intake interfaces. */
  storeRateLimit: number;
  /** What anyone may know of how the service is doing. */
  readStatus: StatusReader;
  chains: Chains;
  trustProxy: number | readonly string[];
  limits: RateLimits;
  /** Where other nodes count too; null: this process counts for itself. */
  sharedCounting: SharedCounting | null;
  clock: () => number;
  log: Log;
};

/** Ids are judged by the routes; the router only has to let them through. Percent-encoding makes three bytes of one. */
const PATH_PART_LENGTH_MAX = 3 * CLIENT_LIMITS.headersBytesMax;
const BODY_BYTES_MAX = 1024 * 1024;
/** More than the slowest answer takes with the default deadlines. */
const CLOSE_WAIT_MS = 5_000;
const IDLE_LOOK_MS = 50;

export async function createHttpServer(options: ServerOptions): Promise<FastifyInstance> {
  const { marketplace, clock, log } = options;
  const clientAddress = createClientAddress(options.trustProxy);
  const app = Fastify({
    logger: false,
    // What still arrives while the server closes is answered like anything else, and its connection ends with the answer.
    return503OnClosing: false,
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: PATH_PART_LENGTH_MAX, ignoreTrailingSlash: true, querystringParser: splitQuery },
    frameworkErrors: (error, request, reply) => sendError(log, error, request, reply),
    // The server answers what is not HTTP by itself; Fastify's own listener beside it would answer twice.
    clientErrorHandler: () => undefined,
    serverFactory: (route) => {
      const edge = createEdge(
        {
          bucketOf,
          limiter: createLimiter(options.limits, clock, options.sharedCounting),
          clientAddress,
          peek: marketplace.answers.peek,
          clock,
        },
        route,
      );
      return createNodeServer(edge);
    },
  });
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler((error, request, reply) => sendError(log, error, request, reply));
  refuseUnknown(app);
  await app.register((scope) => registerMarketplace(scope, marketplace, options.chains));
  const storeRoutesContext = toStoreRoutesContext(options, clientAddress);
  await app.register((scope) =>
    registerStoreRoutes(scope, storeRoutesContext, { chains: options.chains, baseUrl: marketplace.baseUrl }),
  );
  const access = new KeyedAccess(storeRoutesContext);
  await app.register((scope) =>
    registerIntake(scope, { ...options.intake, market: marketplace.market }, { access, baseUrl: marketplace.baseUrl }),
  );
  registerReferencePage(app, marketplace.baseUrl);
  registerStatusRoute(app, options.readStatus);
  await app.ready();
  return app;
}

function toStoreRoutesContext(
  options: ServerOptions,
  clientAddress: StoreRoutesContext['clientAddress'],
): StoreRoutesContext {
  const limits = { key: options.storeRateLimit, failure: FAILURES_A_MINUTE_MAX };
  return { ...options.store, clientAddress, limiter: createLimiter(limits, options.clock, options.sharedCounting) };
}

/** Ends the server: what is under way is answered, and connections that stay longer than that takes are cut. */
export async function closeHttpServer(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_WAIT_MS);
  // A connection whose answer was under way is kept alive by it, and would be waited for.
  const dismiss = setInterval(() => app.server.closeIdleConnections(), IDLE_LOOK_MS);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
    clearInterval(dismiss);
  }
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
  } else reply.header('cache-control', 'no-store');
  return reply.code(204).send();
}

/** The marketplace's envelope has a code and a message only. */
function isDetailed(url: string): boolean {
  return url.startsWith(STORE_PREFIX) || url.startsWith(INTAKE_PREFIX);
}

function sendError(log: Log, thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toKnownError(log, thrown);
  if (isUnexpected(error)) log.error('a request failed', { method: request.method, url: request.url, error });
  const { status, headers, envelope } = toErrorResponse(error, { details: isDetailed(request.url) });
  if (request.url.startsWith(MARKETPLACE_PREFIX)) reply.headers(CORS_HEADERS);
  void reply.code(status).headers(headers).send(envelope);
}
