// The composition root of a serving process: opens its parts in their order, and closes them in the reverse order.

import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../platform/core/clock.ts';
import type { Log } from '../platform/core/log.ts';
import type { Databases, OpenOptions } from '../platform/database/open.ts';
import { openDatabases } from '../platform/database/open.ts';
import type { RateLimits } from '../platform/http/rate-limit.ts';
import { RejectionCounts } from '../platform/http/rejection-counts.ts';
import { startPeriodic } from '../platform/tasks/periodic.ts';
import { DESCRIPTORS_MIN, readDescriptorLimit } from '../server/descriptor-limit.ts';
import { listen } from '../server/listen.ts';
import { socketPathOf } from '../server/local-socket.ts';
import type { RedisWindows } from '../server/rate-limit/redis-windows.ts';
import { holdPort } from '../server/starting-server.ts';
import { requireSecretKeys } from '../shop/stored-secrets.ts';
import { bindAddresses } from './addresses.ts';
import type { Config } from './config.ts';
import type { ServiceContext } from './context.ts';
import { createContext } from './context.ts';
import { migrateAll, recordStart, startClock, watchWrites } from './databases.ts';
import { openHttpServer } from './http-server.ts';
import { openTelemetry } from './observability.ts';
import { Parts } from './parts.ts';
import type { Membership } from './processes/membership.ts';
import { loadSample } from './sample.ts';
import { openStore } from './store.ts';
import { openStream } from './stream.ts';
import { createWorkers } from './working.ts';

export type ServiceOptions = {
  config: Config;
  log: Log;
  /** Default: the clock of the primary database. */
  clock?: Clock;
  /** A clock for rate limits, which is never set back. Default: the monotonic clock of this process. */
  monotonic?: Clock;
  /** Whether this process also runs the workers. Default: true. */
  workers?: boolean;
  /** Whether to load the sample marketplace into an empty embedded database. Default: false. */
  sample?: boolean;
  limits?: RateLimits;
  /** Opens the databases. Default: opens the databases that the settings name. */
  open?: (config: Config, log: Log, options: OpenOptions) => Promise<Databases>;
  /** The folder of the built web console. Default: where `npm run build` writes it. */
  consoleFolder?: string;
  /** What this process shares with the other processes that serve together with it. Null: this process serves alone. Default: null. */
  membership?: Membership | null;
};

export type Service = {
  /** The URL of the HTTP server, without a trailing slash. */
  url: string;
  /** The local socket over which commands reach this process. */
  socketPath: string;
  /** Whether the web console is served at the URL. False if it is switched off or has not been built. */
  hasConsole: boolean;
  /** The number of records of the sample marketplace that this start has loaded. */
  sampleRecords: number;
  /** Reports on /readyz that the service shuts down, so that balancers choose other nodes. Continues to serve for `graceMs`. */
  drain(graceMs: number): Promise<void>;
  /** Rejects with OperatorError when the service must not go on. Never resolves. */
  failed: Promise<never>;
  close(): Promise<void>;
};

/** The period at which recent views are written to the database, from which the workers read them. */
const RECENT_VIEWS_PERIOD_MS = 5_000;
/** The start waits this long for a command that has the embedded database open. */
const COMMAND_PATIENCE_MS = 20_000;

/**
 * Starts the service, which accepts requests when the promise resolves. Throws OperatorError for a problem that the operator can correct.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  await using opening = new AsyncDisposableStack();
  const service = await start(options, opening);
  const opened = opening.move();
  return { ...service, close: () => opened.disposeAsync() };
}

/** Each line opens a part, and may use the parts above it. The databases are closed last, which ends work that still waits for them. */
async function start(options: ServiceOptions, opening: AsyncDisposableStack): Promise<Omit<Service, 'close'>> {
  const { config, log, membership = null } = options;
  const { number = 1, processes = 1, holdsPort = true } = membership?.start ?? {};
  const address = { host: config.host, port: config.port, reusePort: membership !== null };
  // Every address is bound before work begins, so that a start that cannot listen has changed nothing and sent nothing.
  await using port = holdsPort ? await holdPort(address) : null;
  const addresses = opening.adopt(await bindAddresses(config, log, membership), ({ close }) => close());
  // If this process has the local socket, then no server has the database open, but a command may have. Later commands use the socket.
  const lockPatienceMs = addresses.local ? COMMAND_PATIENCE_MS : 0;
  const openedDatabases = await (options.open ?? openDatabases)(config, log, { processes, lockPatienceMs });
  const databases = opening.adopt(openedDatabases, ({ close }) => close());
  warnOfLimits(log, { hasCommands: number > 1 || addresses.local !== null });

  const parts = opening.use(new Parts());
  const { failed } = parts.use(await migrateAll(databases, log, (step) => port?.announce(step)));
  const clock = options.clock ?? parts.use(await startClock(databases, log)).now;
  const context = parts.use(createContext({ ...options, clock, databases }));
  parts.use(watchWrites(context));
  if (number === 1) await recordStart(context, 'serve');
  const telemetry = parts.use(await openTelemetry(context));
  parts.onClose(keepRecentViews(context));
  await requireSecretKeys(context);
  const sampleRecords = options.sample ? await loadSample(context) : 0;
  const store = parts.use(await openStore(context, databases.store));
  const windows = parts.use(await openWindows(context));

  // The parts that begin work are closed at once. The readers of chains are closed after the requests that use them have ended. This also
  // ends a task that waits for an endpoint of a chain.
  const workers = await createWorkers(context, { drive: options.workers ?? true });
  const front = new Parts({ together: true });
  parts.onClose(() => Promise.all([workers.close(), front.close().finally(() => context.followed.close())]));
  front.use(addresses);
  const rejections = new RejectionCounts();
  const stream = front.use(openStream(context, rejections));
  const server = front.use(
    await openHttpServer(
      { databases, context, addresses, telemetry, store, stream, workers, windows, rejections, membership },
      options,
    ),
  );
  await port?.[Symbol.asyncDispose]();
  await listen(server.app, address);
  await server.serveCommands();
  membership?.onNudge(workers.nudge);
  workers.start();
  server.health.serve();
  parts.onClose(() => server.health.drain());
  return {
    url: server.url(),
    socketPath: socketPathOf(config.dataDir),
    hasConsole: server.hasConsole,
    sampleRecords,
    drain: async (graceMs) => {
      server.health.drain();
      stream.stream.drain(graceMs);
      await setTimeout(graceMs);
    },
    failed,
  };
}

function warnOfLimits(log: Log, { hasCommands }: { hasCommands: boolean }): void {
  if (!hasCommands)
    log.warn('another server listens on the local socket of this data directory, so commands use the other server');
  const limit = readDescriptorLimit();
  if (limit !== null && limit < DESCRIPTORS_MIN)
    log.warn('the limit of open files is low: connections of clients can use it up', { limit, least: DESCRIPTORS_MIN });
}

/** Writes the recent views from time to time. The returned function stops this. */
function keepRecentViews({ market, log }: ServiceContext): () => Promise<void> {
  const run = () => market.recentViews.flush();
  return startPeriodic({ name: 'recent-views', periodMs: RECENT_VIEWS_PERIOD_MS, run }, log);
}

/** The rate limit windows that all nodes share. Null if no Redis is configured. */
async function openWindows({ config, log, clock, random }: ServiceContext): Promise<RedisWindows | null> {
  const { redisUrl: url, serviceName } = config;
  if (url === null) return null;
  // Imported only if Redis is configured, because the client slows the start and uses memory.
  const { RedisWindows } = await import('../server/rate-limit/redis-windows.ts');
  return RedisWindows.open({ url, serviceName, log, clock, random });
}
