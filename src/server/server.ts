// The public HTTP server: edge, router, and the routes of all interfaces.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import { registerMcpRoute } from './agents/http/mcp.ts';
import type { Chains } from '../platform/core/chains.ts';
import type { Clock } from '../platform/core/clock.ts';
import type { Log } from '../platform/core/log.ts';
import { registerExplore } from '../market/explore/http/routes.ts';
import type { Subscriptions } from '../market/explore/http/stream/subscriptions.ts';
import { compressResponses } from '../platform/http/compression.ts';
import { DOCUMENT_PATH } from '../platform/http/document-route.ts';
import type { ErrorResponse } from '../platform/http/error-response.ts';
import { isUnexpected, toErrorResponse, toKnownError } from '../platform/http/error-response.ts';
import { splitQuery } from '../platform/http/query.ts';
import { isBelow, pathOf } from '../platform/http/request-target.ts';
import { OutageLog } from '../platform/http/outage-log.ts';
import type { RejectionCounts } from '../platform/http/rejection-counts.ts';
import { LocalRateLimiter } from '../platform/http/local-rate-limiter.ts';
import type { RateLimiter, RateLimits } from '../platform/http/rate-limit.ts';
import type { IntakeContext } from '../intake/http/access.ts';
import type { KeyedAccessOptions } from '../intake/http/access.ts';
import { KEYLESS_ORDERS_A_MINUTE_MAX, KeyedAccess } from '../intake/http/access.ts';
import { INTAKE_PREFIX, registerIntake } from '../intake/http/routes.ts';
import type { MarketplaceContext } from '../market/reads/http/context.ts';
import { registerMarketplace } from '../market/reads/http/routes.ts';
import { BATCHES_A_MINUTE_MAX, FAILURES_A_MINUTE_MAX } from '../shop/http/authenticate.ts';
import type { StoreRoutesContext } from '../shop/http/context.ts';
import { StoreShares } from '../shop/http/shares.ts';
import { STORE_PREFIX, registerStoreRoutes } from '../shop/http/routes.ts';
import type { StatusReader } from '../platform/core/status.ts';
import { createAccessLog } from './access-log.ts';
import { createClientAddress } from './client-address.ts';
import type { Networks } from '../platform/http/networks.ts';
import type { ConsoleOptions } from './console.ts';
import { registerConsole } from './console.ts';
import { createEdge } from './edge.ts';
import type { Health } from './health.ts';
import { answerHealthChecks } from './health.ts';
import { EventLoopDelay, inProgressMaxAt, shedLoad } from './load-shedding.ts';
import { registerDocumentation } from './documentation.ts';
import { corsHeadersOf, errorFieldsOf } from './public-interfaces.ts';
import { createPublicReads } from './public-reads.ts';
import { CLIENT_LIMITS, createNodeServer } from './node-server.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';
import type { Observation, RequestObserver, RequestTracer } from './request-observer.ts';
import { RoutesOfRequests } from './request-observer.ts';
import { registerReferencePage } from './reference-page.ts';
import type { SharedCounting } from './rate-limit/shared-rate-limiter.ts';
import { createLimiter } from './rate-limit/shared-rate-limiter.ts';
import { registerStatusRoute } from './status.ts';
import { RequestCounter } from './request-counter.ts';
import { RouteTable } from './route-table.ts';
import { answerUnknownRoutes } from './unknown-routes.ts';
import { handleInTurns } from './turns.ts';
import { UnreadBytes } from './unread-bytes.ts';

export type ServerOptions = {
  marketplace: MarketplaceContext;
  stream: Subscriptions;
  store: Pick<StoreRoutesContext, 'shop' | 'keys' | 'cursorSecret' | 'webhooks'>;
  intake: Pick<IntakeContext, 'records' | 'orders'>;
  /** The chains for which signed orders are accepted without a key. */
  keylessChains: ReadonlySet<string>;
  /** Requests a minute for each key of the store and the intake. */
  storeRateLimit: number;
  health: Health;
  /** Called with each request that has ended. */
  observers: readonly RequestObserver[];
  /** Null: no traces are made. */
  tracer: RequestTracer | null;
  /** Null: the web console is not served. */
  web: Omit<ConsoleOptions, 'baseUrl'> | null;
  /** Whether each request is logged. */
  accessLog: boolean;
  rejections: RejectionCounts;
  readStatus: StatusReader;
  chains: Chains;
  trustProxy: number | readonly string[];
  /** The requests a minute that each client address may make to each bucket of paths. */
  limits: RateLimits;
  /** The networks whose requests to the public interfaces are not counted. */
  exemptNetworks: Networks;
  /** How rate limits are counted with other nodes. Null: this node counts alone. */
  sharedCounting: SharedCounting | null;
  clock: Clock;
  /** A clock that is never set back. */
  monotonic: Clock;
  log: Log;
};

/**
 * Longer than any path that a client can send, even after percent-encoding, which turns one byte into three. So a long id is rejected by
 * the route, and not by the router.
 */
const PATH_PART_LENGTH_MAX = 3 * CLIENT_LIMITS.headersBytesMax;
const BODY_BYTES_MAX = 1024 * 1024;
/**
 * The longest wait for responses in progress when the server closes. Together with the default grace period before it, this wait must be
 * longer than the slowest marketplace response takes. The wait must be shorter than `CLOSE_PATIENCE_MS` in service/parts.ts.
 */
const CLOSE_TIMEOUT_MS = 2_200;
const IDLE_CHECK_MS = 50;

/** Builds the server. It does not listen yet. */
export async function createHttpServer(options: ServerOptions): Promise<FastifyInstance> {
  const { marketplace, log } = options;
  const outages = new OutageLog(log);
  const address = createClientAddress(options.trustProxy);
  const clientAddress = address.counted;
  const observation = toObservation(options, clientAddress);
  const delay = new EventLoopDelay();
  const limiter = createCountedLimiter(options, options.limits);
  const { keys } = options.store;
  const requests = new RequestCounter({ limiter, keys, address, exemptNetworks: options.exemptNetworks });
  const store = toStoreContext(options, { clientAddress, delay });
  const routes = new RouteTable();
  const app = createRouter(options, { clientAddress, routes, requests, observation, outages, delay });
  routes.collect(app);
  app.addHook('onClose', async () => delay.stop());
  if (observation) noteRoutes(app, observation.routes);
  if (options.tracer) traceRequests(app, options.tracer);
  const { baseUrl } = marketplace;
  app.setErrorHandler((error, request, reply) => sendError({ log, outages, baseUrl }, error, { request, reply }));
  noteServed(app, outages);
  compressResponses(app);
  answerUnknownRoutes(app, routes);
  await app.register((scope) => registerMarketplace(scope, marketplace, options.chains));
  await app.register((scope) =>
    registerExplore(scope, { ...marketplace, stream: options.stream, clientAddress }, options.chains),
  );
  await app.register((scope) => registerStoreRoutes(scope, store, { chains: options.chains, document: marketplace }));
  const access = new KeyedAccess({ keys: store, keylessChains: options.keylessChains, log });
  await app.register((scope) =>
    registerIntake(scope, { ...options.intake, market: marketplace.market }, { access, document: marketplace }),
  );
  const readFor = createPublicReads(app, { routes, requests, clock: options.clock });
  const { version, market } = marketplace;
  const mcp = { name: market.serviceName, version, chains: options.chains, log, readFor, baseUrl };
  await app.register(async (scope) => registerMcpRoute(scope, mcp));
  registerReferencePage(app, baseUrl);
  registerDocumentation(app, baseUrl);
  if (options.web) registerConsole(app, { ...options.web, baseUrl });
  registerStatusRoute(app, options.readStatus);
  await app.ready();
  return app;
}

type ClientAddress = StoreRoutesContext['clientAddress'];

function createCountedLimiter<B extends string>(options: ServerOptions, limits: Record<B, number>): RateLimiter<B> {
  const { rejections, sharedCounting: shared } = options;
  const alone = new LocalRateLimiter(limits, options);
  return rejections.countBy(createLimiter(limits, options, { shared, alone }));
}

function createRouter(
  options: ServerOptions,
  parts: {
    clientAddress: ClientAddress;
    routes: RouteTable;
    requests: RequestCounter;
    observation: Observation | null;
    outages: OutageLog;
    delay: EventLoopDelay;
  },
): FastifyInstance {
  const { clientAddress, routes, requests, observation, outages, delay } = parts;
  const { marketplace, clock, log, rejections } = options;
  const { responses, baseUrl } = marketplace;
  return Fastify({
    logger: false,
    // Requests that arrive during the closing get their response, and then their connection is closed.
    return503OnClosing: false,
    bodyLimit: BODY_BYTES_MAX,
    schemaController: { compilersFactory: { buildSerializer: () => () => (data) => JSON.stringify(data) } },
    routerOptions: { maxParamLength: PATH_PART_LENGTH_MAX, ignoreTrailingSlash: true, querystringParser: splitQuery },
    frameworkErrors: (error, request, reply) => sendError({ log, outages, baseUrl }, error, { request, reply }),
    // node-server.ts responds to input that is not HTTP. Fastify's listener would respond a second time.
    clientErrorHandler: () => undefined,
    serverFactory: (route) => {
      const shedding = shedLoad({ delayMs: delay.meanMs, onShed: () => rejections.add('load') }, route);
      const unread = new UnreadBytes({ clientAddress, onRejected: () => rejections.add('unread') });
      const edge = createEdge({ routes, requests, responses, unread, clock, baseUrl, observation }, shedding);
      const turns = handleInTurns(edge);
      return createNodeServer(answerHealthChecks(options.health, turns.listener), {
        isDraining: () => options.health.isDraining,
        unread,
      }).on('connection', turns.noteConnection);
    },
  });
}

/** Notes each request that was served from a database. Responses of `/v1` are not noted, because they may come from memory. */
function noteServed(app: FastifyInstance, outages: OutageLog): void {
  app.addHook('onResponse', (request, reply, done) => {
    const isKeyed = isBelow(request.url, STORE_PREFIX) || isBelow(request.url, INTAKE_PREFIX);
    if (isKeyed && reply.statusCode < 300 && !request.url.endsWith(DOCUMENT_PATH)) outages.noteSuccess();
    done();
  });
}

/** Null if nothing observes requests, so that no time is spent on measuring them. */
function toObservation(options: ServerOptions, clientAddress: ClientAddress): Observation | null {
  const { observers, tracer, accessLog, log } = options;
  const all = [
    ...observers,
    ...(tracer ? [tracer.observe] : []),
    ...(accessLog ? [createAccessLog(log, clientAddress)] : []),
  ];
  if (all.length === 0) return null;
  const observe: RequestObserver = (ended) => {
    for (const observer of all) observer(ended);
  };
  return { observe, routes: new RoutesOfRequests() };
}

function noteRoutes(app: FastifyInstance, routes: RoutesOfRequests): void {
  app.addHook('onRequest', (request, _reply, done) => {
    routes.note(request.raw, request.routeOptions.url);
    done();
  });
}

function traceRequests(app: FastifyInstance, { enter }: RequestTracer): void {
  app.addHook('onRequest', (request, _reply, done) => enter(request.raw, done));
}

function toStoreContext(
  options: ServerOptions,
  { clientAddress, delay }: { clientAddress: ClientAddress; delay: EventLoopDelay },
): StoreRoutesContext & KeyedAccessOptions['keys'] {
  const limits = {
    key: options.storeRateLimit,
    batch: BATCHES_A_MINUTE_MAX,
    failure: FAILURES_A_MINUTE_MAX,
    keyless: KEYLESS_ORDERS_A_MINUTE_MAX,
  };
  const limiter = createCountedLimiter(options, limits);
  const shares = new StoreShares(options.store.shop.main, {
    log: options.log,
    requestsMax: () => inProgressMaxAt(delay.meanMs()),
  });
  return { ...options.store, keys: options.store.keys, clientAddress, limiter, shares };
}

/** Stops listening, waits for the responses in progress, and destroys the connections that are open after CLOSE_TIMEOUT_MS. */
export async function closeHttpServer(app: FastifyInstance): Promise<void> {
  const timeout = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  // A keep-alive connection becomes idle after its response. Without this timer, the server would wait until the client closes it.
  const closeIdle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  try {
    await app.close();
  } finally {
    clearTimeout(timeout);
    clearInterval(closeIdle);
  }
}

type ErrorContext = { log: Log; outages: OutageLog; baseUrl: () => string };

function sendError(
  context: ErrorContext,
  thrown: unknown,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): void {
  const { status, headers, envelope } = reportError(context, thrown, { request: request.raw, response: reply.raw });
  reply.headers(corsHeadersOf(request.url));
  void reply.code(status).headers(headers).send(envelope);
}

/** The response to an error. Logs an unexpected error. */
function reportError(
  { log, outages, baseUrl }: ErrorContext,
  thrown: unknown,
  { request: { method, url = '' }, response }: { request: IncomingMessage; response: ServerResponse },
): ErrorResponse {
  const error = toKnownError(outages, thrown);
  if (isUnexpected(error)) {
    const requestId = response.getHeader(REQUEST_ID_HEADER);
    // The query is left out, because a client may have put a key into it by mistake.
    log.error('a request failed', { requestId, method, path: pathOf(url), error });
  }
  return toErrorResponse(error, errorFieldsOf(url, baseUrl()));
}
