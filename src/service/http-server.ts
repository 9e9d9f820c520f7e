// The public HTTP server of a serving process, and the local socket of the operator's commands, over the open parts of the process.

import os from 'node:os';
import type { FastifyInstance } from 'fastify';
import type { Chain } from '../platform/core/chains.ts';
import type { Clock } from '../platform/core/clock.ts';
import type { StatusProvider } from '../platform/core/status.ts';
import { createStatusReader } from '../platform/core/status.ts';
import { BackupJobs } from '../platform/database/backup/jobs.ts';
import type { Databases } from '../platform/database/open.ts';
import { findOrInsertSecret } from '../platform/database/secrets.ts';
import { createDatabaseStatus } from '../platform/database/status.ts';
import type { RateLimits } from '../platform/http/rate-limit.ts';
import { MARKETPLACE_LIMITS } from '../platform/http/rate-limit.ts';
import type { RejectionCounts } from '../platform/http/rejection-counts.ts';
import { ResponseCache, cacheBytesFor } from '../platform/http/response-cache.ts';
import { readVersion } from '../platform/version.ts';
import { createTradingStatus } from '../market/orders/trading.ts';
import { UncountedProxies } from '../server/client-address.ts';
import { findConsole } from '../server/console.ts';
import { Health, createPrimaryCheck } from '../server/health.ts';
import type { RedisWindows } from '../server/rate-limit/redis-windows.ts';
import { closeHttpServer, createHttpServer } from '../server/server.ts';
import type { Addresses } from './addresses.ts';
import type { ServiceContext } from './context.ts';
import { listDatabases } from './databases.ts';
import { openMetrics } from './observability.ts';
import { createOperations } from './operations.ts';
import { Parts } from './parts.ts';
import type { Membership } from './processes/membership.ts';
import type { OpenStore } from './store.ts';
import type { OpenStream } from './stream.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import type { Workers } from './working.ts';

/** The parts of the process that the server serves. */
export type ServedParts = {
  databases: Databases;
  context: ServiceContext;
  addresses: Addresses;
  telemetry: Telemetry | null;
  store: OpenStore;
  stream: OpenStream;
  workers: Workers;
  /** Null if this node counts alone. */
  windows: RedisWindows | null;
  rejections: RejectionCounts;
  membership: Membership | null;
};

export type HttpServer = {
  app: FastifyInstance;
  health: Health;
  hasConsole: boolean;
  /** The URL of the listening server, without a trailing slash. */
  url: () => string;
  /** Serves the operator's commands over the local socket, if this process has it. */
  serveCommands: () => Promise<void>;
  close: () => Promise<void>;
};

export type HttpServerOptions = {
  limits?: RateLimits | undefined;
  monotonic?: Clock | undefined;
  consoleFolder?: string | undefined;
};

/** Builds the server. It does not listen yet. */
export async function openHttpServer(served: ServedParts, options: HttpServerOptions): Promise<HttpServer> {
  const { databases, context, addresses, telemetry, store, stream, workers, windows, rejections, membership } = served;
  const { config, market, changes, clock, log, secretKeys } = context;
  const parts = new Parts({ together: true });
  const proxies = new UncountedProxies(config.trustProxy);
  const readStatus = createStatusReader([...listStatus(served), proxies.status], clock);
  const health = new Health(createPrimaryCheck(databases.main), () =>
    listDatabases(context).flatMap(({ writes, title }) => (writes.failure ? [`The ${title} accepts no writes`] : [])),
  );
  const intake = {
    records: context,
    orders: { ...context, checksOf: (chain: Chain) => context.followed.readerOf(chain.id)?.contracts ?? null },
  };
  // `constrainedMemory` returns the memory limit, for example of a container. Without a limit the result is 0, or more than the machine has.
  const memoryBytes = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, os.totalmem());
  const bytesMax = cacheBytesFor(memoryBytes, membership?.start.processes ?? 1);
  const responses = new ResponseCache(changes, clock, { bytesMax });
  const http = { responses, rejections, store: databases.store, stream: stream.stream };
  const sources = { tasks: workers.tasks, http };
  const metrics = parts.use(await openMetrics(context, { telemetry, sources, server: addresses.metrics }));
  const consoleFolder = config.console ? findConsole(options.consoleFolder) : null;
  const { shop, keys, cursorSecret } = store;
  const nudge = () => (membership && !membership.isFirst ? membership.nudgeWebhooks() : workers.nudge());
  // Each error of the explore interface names this URL, and `address` is a system call.
  let knownUrl: string | undefined;
  const url = () => {
    if (!app.server.listening) return listeningUrl(app, config.host);
    return (knownUrl ??= listeningUrl(app, config.host));
  };
  const app = await createHttpServer({
    intake,
    marketplace: {
      market,
      changes,
      responses,
      clock,
      cursorSecret,
      baseUrl: () => config.baseUrl ?? url(),
      version: readVersion(),
    },
    store: { shop, keys, cursorSecret, webhooks: { allowPrivate: config.webhookAllowPrivate, nudge } },
    stream: stream.stream,
    chains: context.chains,
    storeRateLimit: config.storeRateLimit,
    accessLog: config.accessLog,
    trustProxy: config.trustProxy,
    keylessChains: new Set(config.tradingChains.keys()),
    health,
    observers: [...metrics.observers, proxies.observe],
    tracer: telemetry?.tracer ?? null,
    web: consoleFolder === null ? null : { folder: consoleFolder, imageGateways: config.imageGateways },
    rejections,
    readStatus,
    limits: options.limits ?? MARKETPLACE_LIMITS,
    exemptNetworks: config.rateLimitsExempt,
    sharedCounting: windows && {
      windows,
      secret: await findOrInsertSecret(databases.main, 'rate-limits', secretKeys),
    },
    clock,
    monotonic: options.monotonic ?? (() => performance.now()),
    log,
  });
  parts.onClose(() => closeHttpServer(app));
  return {
    app,
    health,
    hasConsole: consoleFolder !== null,
    url,
    serveCommands: async () => {
      if (!addresses.local) return;
      const backups = parts.use(new BackupJobs({ databases, service: readVersion() }));
      const operations = { ...createOperations(context, workers), ...backups.operations, status: readStatus };
      await addresses.local.serve({ intake: { ...intake, market }, operations });
    },
    close: () => parts.close(),
  };
}

function listStatus({ databases, context, stream, workers, windows, membership }: ServedParts): StatusProvider[] {
  const { tradingChains } = context.config;
  return [
    createDatabaseStatus(databases),
    ...(windows ? [windows.status] : []),
    ...(tradingChains.size > 0 ? [createTradingStatus(tradingChains, context)] : []),
    { section: 'version', read: async () => readVersion() },
    stream.status,
    ...(membership ? [membership.status] : []),
    ...workers.status,
  ];
}

/** The URL of the listening server. Clients cannot connect to a wildcard address, so it is replaced by the loopback address. */
function listeningUrl(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const urlHost = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${urlHost}:${port}`;
}
