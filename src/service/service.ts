// The composition root: opens the databases, starts the servers and the workers, and closes everything in reverse order.

import os from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../platform/core/clock.ts';
import { ACTIVITY_CHANNEL } from '../market/activity/merge-notice.ts';
import type { Config } from './config.ts';
import type { ServiceContext } from './context.ts';
import { createContext } from './context.ts';
import { CHANGES_CHANNEL } from '../platform/database/change-notices.ts';
import { BackupJobs } from '../platform/database/backup/jobs.ts';
import { createBackupStatus } from '../platform/database/backup/record.ts';
import { CLOCK_PERIOD_MS, DatabaseClock } from '../platform/database/clock.ts';
import { Notifications } from '../platform/database/notifications.ts';
import { isEmpty } from '../platform/database/emptiness.ts';
import { findSchemaState } from '../platform/database/health.ts';
import type { Database } from '../platform/database/port.ts';
import type { WriteHealth } from '../platform/database/write-health.ts';
import { tryWrite } from '../platform/database/try-write.ts';
import type { MigrationStep, OnMigrationStep, Schema } from '../platform/database/migrate.ts';
import { migrate } from '../platform/database/migrate.ts';
import type { Databases, OpenOptions } from '../platform/database/open.ts';
import { openDatabases } from '../platform/database/open.ts';
import { findOrInsertSecret } from '../platform/database/secrets.ts';
import type { Chain } from '../platform/core/chains.ts';
import { OperatorError } from '../platform/core/errors.ts';
import { createActivityFeed } from '../market/explore/http/stream/feed.ts';
import { Subscriptions } from '../market/explore/http/stream/subscriptions.ts';
import { createStreamStatus } from '../market/explore/stream/status.ts';
import { ResponseCache, cacheBytesFor } from '../platform/http/response-cache.ts';
import type { MetricsSources } from './metrics/metrics.ts';
import type { MetricsServer } from './metrics/metrics-server.ts';
import type { Membership } from './processes/membership.ts';
import type { RequestObserver } from '../server/request-observer.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import type { LocalServer } from '../server/local-server.ts';
import { startLocalServer } from '../server/local-server.ts';
import { socketPathOf } from '../server/local-socket.ts';
import { OutageLog } from '../platform/http/outage-log.ts';
import { RejectionCounts } from '../platform/http/rejection-counts.ts';
import type { RateLimits } from '../platform/http/rate-limit.ts';
import { MARKETPLACE_LIMITS } from '../platform/http/rate-limit.ts';
import { UncountedProxies } from '../server/client-address.ts';
import { findConsole } from '../server/console.ts';
import { DESCRIPTORS_MIN, readDescriptorLimit } from '../server/descriptor-limit.ts';
import { Health, createPrimaryCheck } from '../server/health.ts';
import { listen } from '../server/listen.ts';
import { readOncePerSecond } from '../server/recent-read.ts';
import { closeHttpServer, createHttpServer } from '../server/server.ts';
import { holdPort } from '../server/starting-server.ts';
import { removeCollections } from '../market/reads/remove-collections.ts';
import { importRecords } from '../intake/import.ts';
import { createImportOperations } from '../intake/operations.ts';
import type { Log } from '../platform/core/log.ts';
import type { MetricsAddress } from '../platform/core/metrics-address.ts';
import { toAddressOf } from '../platform/core/metrics-address.ts';
import { isDoneWithin } from '../platform/resilience/deadline.ts';
import type { RedisWindows } from '../server/rate-limit/redis-windows.ts';
import { KEY_USES_PERIOD_MS, KeyVerifier } from '../shop/keys/key-verifier.ts';
import type { Operations } from '../shop/operations.ts';
import { createShopOperations } from '../shop/operations.ts';
import type { ShopContext } from '../shop/context.ts';
import { createSecretOperations, requireSecretKeys } from '../shop/stored-secrets.ts';
import { createDeliveryStatus } from '../shop/webhooks/delivery-status.ts';
import { createTradingStatus } from '../market/orders/trading.ts';
import { createDeliveryOperations } from '../shop/webhooks/delivery-operations.ts';
import { startPeriodic } from '../platform/tasks/periodic.ts';
import { createTasks } from './workers/start.ts';
import type { RunningTasks } from './workers/start.ts';
import type { StatusProvider } from '../platform/core/status.ts';
import { createStatusReader } from '../platform/core/status.ts';
import { listUnrecordedCollections } from '../market/index/queries/unrecorded-collections.ts';
import { insertStart, readServiceHistory } from '../platform/database/service-history.ts';
import { createDatabaseStatus } from '../platform/database/status.ts';
import { readVersion } from '../platform/version.ts';
import { WebhookWorker } from '../shop/webhooks/worker.ts';

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

/** How many entries of the history an operation returns by default. */
const HISTORY_LENGTH = 50;
/** The period at which recent views are written to the database, from which the workers read them. */
const RECENT_VIEWS_PERIOD_MS = 5_000;
/** If the indexer database cannot be reached, its migration is repeated after this time. */
const MIGRATION_RETRY_MS = 2_000;
/** The start waits this long for the indexer database, then continues without it. */
const INDEXER_PATIENCE_MS = 3_000;
/** The start waits this long for a command that has the embedded database open. */
const COMMAND_PATIENCE_MS = 20_000;
/** The shutdown waits this long for work in progress. The HTTP server destroys its connections before this time has passed. */
const CLOSE_PATIENCE_MS = 2_500;

/** Closes one part of the service. Resolves after the part is closed. */
export type Closer = () => Promise<unknown>;

/**
 * Starts the service, which accepts requests when the promise resolves. Throws OperatorError for a problem that the operator can correct.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const closers: Closer[] = [];
  const close = () => closeInOrder(closers);
  try {
    return { ...(await start(options, closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Closes the parts in reverse order and empties the list. The first closer must close the databases, if they are open. All other parts together have
 * `CLOSE_PATIENCE_MS`, so that a database that does not respond cannot block the shutdown. The databases are closed last, which ends work
 * that still waits for them. If a part fails to close, the other parts are closed all the same. The function then rejects with the error,
 * or with an AggregateError of several errors.
 */
export async function closeInOrder(closers: Closer[]): Promise<void> {
  const [closeDatabases, ...others] = closers.splice(0);
  const deadline = performance.now() + CLOSE_PATIENCE_MS;
  const errors: unknown[] = [];
  const attempt = async (close: () => Promise<unknown>) => {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  };
  for (const closeNext of others.toReversed())
    await attempt(() => isDoneWithin(closeNext(), Math.max(0, deadline - performance.now())));
  if (closeDatabases) await attempt(closeDatabases);
  if (errors.length > 1) throw new AggregateError(errors, 'several parts of the service failed to close');
  if (errors.length === 1) throw errors[0];
}

async function start(options: ServiceOptions, closers: Closer[]): Promise<Omit<Service, 'close'>> {
  const { config, log, membership = null } = options;
  const address = { host: config.host, port: config.port, reusePort: membership !== null };
  // Every address is bound before work begins, so that a start that cannot listen has changed nothing and sent nothing.
  await using port = (membership?.start.holdsPort ?? true) ? await holdPort(address) : null;
  const addresses = await bindAddresses(options, closers);
  const { processes = 1 } = membership?.start ?? {};
  // If this process has the local socket, then no server has the database open, but a command may have. Later commands use the socket.
  const lockPatienceMs = addresses.local ? COMMAND_PATIENCE_MS : 0;
  const databases = await (options.open ?? openDatabases)(config, log, { processes, lockPatienceMs });
  closers.unshift(databases.close);
  if ((membership?.isFirst ?? true) && !addresses.local)
    log.warn('another server listens on the local socket of this data directory, so commands use the other server');
  warnOfFewDescriptors(log);
  const failure = createFailure();
  const onStep = (step: MigrationStep) => {
    logMigration(log, step);
    port?.announce(`migration ${step.number} of ${step.count} of the schema ${step.schema}`);
  };
  closers.push(await migrateAll(databases, log, { onStep, onRefused: failure.reject }));
  const clock = options.clock ?? (await startClock(databases, log, closers));
  const context = createContext({ ...options, clock, databases });
  const { market, changes, secretKeys } = context;
  closers.push(context.close);
  watchWrites(context, closers);
  if (membership?.isFirst ?? true) await recordStart(context, 'serve');
  const telemetry = await openTelemetry(context, closers);
  closers.push(
    startPeriodic(
      { name: 'recent-views', periodMs: RECENT_VIEWS_PERIOD_MS, run: () => market.recentViews.flush() },
      log,
    ),
  );
  await requireSecretKeys(context);
  const sampleRecords = options.sample ? await loadSample(context) : 0;

  const cursorSecret = await findOrInsertSecret(databases.main, 'cursors', secretKeys);
  const shop = { ...toShopContext(context), main: databases.store };
  const keys = new KeyVerifier(shop);
  closers.push(() => keys.close());
  closers.push(startPeriodic({ name: 'key-uses', periodMs: KEY_USES_PERIOD_MS, run: () => keys.writeUses() }, log));

  const windows = await openWindows(context);
  if (windows) closers.push(async () => windows.close());

  // The parts that begin work (workers, servers, backups) are closed concurrently. The readers of chains are closed after the
  // requests that use them have ended. Closing the readers also ends a task that waits for an endpoint of a chain.
  const frontClosers: Closer[] = [async () => addresses.local?.close()];
  const workers = await createWorkers(context, { drive: options.workers ?? true });
  closers.push(() => {
    const frontClosed = Promise.all(frontClosers.map((closePart) => closePart()));
    return Promise.all([workers.stop(), frontClosed.finally(() => context.followed.close())]);
  });
  const nudge = () => (membership && !membership.isFirst ? membership.nudgeWebhooks() : workers.nudge());
  const rejections = new RejectionCounts();
  const { stream, status: streamStatus } = startStream(context, rejections, frontClosers);
  const proxies = new UncountedProxies(config.trustProxy);
  const readStatus = createStatusReader(
    [
      createDatabaseStatus(databases),
      ...(windows ? [windows.status] : []),
      ...(config.tradingChains.size > 0 ? [createTradingStatus(config.tradingChains, context)] : []),
      { section: 'version', read: async () => readVersion() },
      streamStatus,
      proxies.status,
      ...(membership ? [membership.status] : []),
      ...workers.status,
    ],
    clock,
  );
  const health = new Health(createPrimaryCheck(databases.main), () =>
    listDatabases(context).flatMap(({ writes, title }) => (writes.failure ? [`The ${title} accepts no writes`] : [])),
  );
  const intake = {
    records: context,
    orders: { ...context, checksOf: (chain: Chain) => context.followed.readerOf(chain.id)?.contracts ?? null },
  };
  // `constrainedMemory` returns the memory limit, for example of a container. Without a limit the result is 0, or more than the machine has.
  const memoryBytes = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, os.totalmem());
  const responses = new ResponseCache(changes, clock, { bytesMax: cacheBytesFor(memoryBytes, processes) });
  const metrics = await openMetrics(context, {
    telemetry,
    sources: {
      tasks: workers.tasks,
      http: { responses, rejections, store: databases.store, stream },
    },
    server: addresses.metrics,
  });
  frontClosers.push(metrics.close);
  const consoleFolder = config.console ? findConsole(options.consoleFolder) : null;
  const app = await createHttpServer({
    intake,
    marketplace: {
      market,
      changes,
      responses,
      clock,
      cursorSecret,
      baseUrl: () => config.baseUrl ?? listeningUrl(app, config.host),
      version: readVersion(),
    },
    store: {
      shop,
      keys,
      cursorSecret,
      webhooks: { allowPrivate: config.webhookAllowPrivate, nudge },
    },
    stream,
    keylessChains: new Set(config.tradingChains.keys()),
    storeRateLimit: config.storeRateLimit,
    health,
    observers: [...metrics.observers, proxies.observe],
    tracer: telemetry?.tracer ?? null,
    accessLog: config.accessLog,
    consoleFolder,
    rejections,
    readStatus: readOncePerSecond(readStatus),
    chains: context.chains,
    trustProxy: config.trustProxy,
    limits: options.limits ?? MARKETPLACE_LIMITS,
    sharedCounting: windows && {
      windows,
      secret: await findOrInsertSecret(databases.main, 'rate-limits', secretKeys),
    },
    clock,
    monotonic: options.monotonic ?? (() => performance.now()),
    log,
  });
  frontClosers.push(() => closeHttpServer(app));
  await port?.[Symbol.asyncDispose]();
  await listen(app, address);

  if (addresses.local) {
    const backups = new BackupJobs({ databases, service: readVersion() });
    frontClosers.push(() => backups.close());
    const operations = { ...createOperations(context, workers), ...backups.operations, status: readStatus };
    await addresses.local.serve({ intake: { ...intake, market }, operations });
  }
  membership?.onNudge(workers.nudge);
  workers.start();
  health.serve();
  closers.push(async () => health.drain());
  const drain = async (graceMs: number) => {
    health.drain();
    stream.drain(graceMs);
    await setTimeout(graceMs);
  };
  const hasConsole = consoleFolder !== null;
  const { failed } = failure;
  return {
    url: listeningUrl(app, config.host),
    socketPath: socketPathOf(config.dataDir),
    hasConsole,
    sampleRecords,
    drain,
    failed,
  };
}

type Addresses = { local: LocalServer | null; metrics: MetricsServer | null };

/**
 * Binds the local socket and the address of the metrics. Several serving processes have one local socket, and each has an address of its own
 * for metrics. Throws OperatorError if the process cannot listen on an address.
 */
async function bindAddresses(
  { config, log, membership = null }: Pick<ServiceOptions, 'config' | 'log' | 'membership'>,
  closers: Closer[],
): Promise<Addresses> {
  const metrics = await bindMetrics(toAddressOf(config.metricsAddress, membership?.start.number ?? 1), log, closers);
  if (!(membership?.isFirst ?? true)) return { metrics, local: null };
  const local = await startLocalServer(socketPathOf(config.dataDir), log);
  if (local) closers.push(() => local.close());
  return { metrics, local };
}

/** Null if the settings name no address for metrics. */
async function bindMetrics(address: MetricsAddress | null, log: Log, closers: Closer[]): Promise<MetricsServer | null> {
  if (address === null) return null;
  const { startMetricsServer } = await import('./metrics/metrics-server.ts');
  const server = await startMetricsServer(address, log);
  closers.push(() => server.close());
  return server;
}

/** Starts the change stream: the reader of the activity log, the subscriptions of clients, and the receiver of notices from the primary. */
function startStream(
  context: ServiceContext,
  rejections: RejectionCounts,
  closers: Closer[],
): { stream: Subscriptions; status: StatusProvider } {
  const { config, clock, random, log } = context;
  const feed = createActivityFeed(context);
  const limits = {
    connectionsMax: config.streamConnectionsMax,
    connectionsPerClient: config.streamConnectionsPerClient,
  };
  const stream = new Subscriptions({ feed, clock, random, rejections, limits });
  const notifications =
    config.databaseUrl === null
      ? null
      : new Notifications({
          url: config.databaseUrl,
          db: context.main,
          channels: { [ACTIVITY_CHANNEL]: () => feed.hint(), [CHANGES_CHANNEL]: context.onChangeNotice },
          onListen: () => {
            feed.hint();
            context.onChangeNotice(null);
          },
          log,
          random,
        });
  feed.run();
  notifications?.start();
  context.activityMerged.onMerged(() => feed.hint());
  closers.push(async () => {
    stream.close();
    await Promise.all([feed.stop(), notifications?.close()]);
  });
  const isListening = () => notifications && notifications.isListening;
  return { stream, status: createStreamStatus(feed, { counts: () => stream.counts, isListening }) };
}

function warnOfFewDescriptors(log: Log): void {
  const limit = readDescriptorLimit();
  if (limit !== null && limit < DESCRIPTORS_MIN)
    log.warn('the limit of open files is low: connections of clients can use it up', { limit, least: DESCRIPTORS_MIN });
}

type NamedDatabase = { schema: Schema; title: string; db: Database; writes: WriteHealth };

/** The primary, and the indexer unless it is a schema of the primary. */
function listDatabases({ main, indexer }: Pick<ServiceContext, 'main' | 'indexer'>): NamedDatabase[] {
  const toNamed = (schema: Schema, title: string, db: Database) => ({ schema, title, db, writes: db.writes });
  const primary = toNamed('main', 'primary database', main);
  return indexer === main ? [primary] : [primary, toNamed('indexer', 'indexer database', indexer)];
}

/** Logs when a database no longer accepts writes, and when it accepts writes again. */
function watchWrites(context: ServiceContext, closers: Closer[]): void {
  for (const { schema, title, db, writes } of listDatabases(context)) {
    const messages = { begin: `the ${title} accepts no writes`, end: `the ${title} accepts writes again` };
    const outages = new OutageLog(context.log, messages);
    const stop = writes.watch({ tryWrite: () => tryWrite(db, schema), outages, clock: context.clock });
    closers.push(async () => stop());
  }
}

function toShopContext(context: ServiceContext): ShopContext & { main: Database } {
  const { main, clock, log, serviceName, secretKeys } = context;
  return { main, clock, log, serviceName, secretKeys };
}

/** A start that cannot be recorded, for example because the disk is full, goes on. */
async function recordStart({ main, config, log }: ServiceContext, command: string): Promise<void> {
  try {
    await insertStart(main, { command, version: readVersion(), settings: config.given });
  } catch (error) {
    log.warn('the start could not be recorded', { error });
  }
}

/** The operations for the operator's commands, called over the local socket of a running server or in the command's own process. */
export function createOperations(context: ServiceContext, workers: Pick<Workers, 'nudge' | 'tasks'>): Operations {
  const shop = toShopContext(context);
  return {
    ...createShopOperations(shop),
    ...createDeliveryOperations(shop, workers.nudge),
    ...createSecretOperations(shop),
    ...workers.tasks.operations,
    ...createImportOperations(context),
    'history.read': ({ limit }) => readServiceHistory(context, typeof limit === 'number' ? limit : HISTORY_LENGTH),
    'collections.unrecorded': () => listUnrecordedCollections(context.indexer),
    'databases.writes': async () =>
      Object.fromEntries(listDatabases(context).map(({ schema, writes }) => [schema, writes.failure])),
    'databases.schemas': async () => ({
      main: await findSchemaState(context.main, 'main'),
      indexer: await findSchemaState(context.indexer, 'indexer'),
    }),
    'sample.remove': async () => ({ collections: await removeSample(context) }),
  };
}

/** The rate limit windows that all nodes share. Null if no Redis is configured. */
async function openWindows({ config, log, clock, random }: ServiceContext): Promise<RedisWindows | null> {
  const { redisUrl: url, serviceName } = config;
  if (url === null) return null;
  // Imported only if Redis is configured, because the client slows the start and uses memory.
  const { RedisWindows } = await import('../server/rate-limit/redis-windows.ts');
  return RedisWindows.open({ url, serviceName, log, clock, random });
}

/** Starts the export of traces. Returns null if the settings name no receiver. */
async function openTelemetry(context: ServiceContext, closers: Closer[]): Promise<Telemetry | null> {
  const { config, serviceName, log } = context;
  if (config.otlpEndpoint === null) return null;
  const { Telemetry } = await import('./telemetry/telemetry.ts');
  const telemetry = new Telemetry(config.otlpEndpoint, { config, serviceName, version: readVersion(), log });
  closers.push(() => telemetry.close());
  telemetry.start();
  return telemetry;
}

/**
 * Collects the metrics of this process if the settings name an address for them, serves them through `server` unless it is null, and exports
 * them with `telemetry`. The server and the export have separate `Metrics`, because each read of the metrics begins a new measuring period of the event loop.
 */
async function openMetrics(
  context: ServiceContext,
  {
    telemetry,
    sources,
    server,
  }: {
    telemetry: Telemetry | null;
    sources: Pick<MetricsSources, 'tasks' | 'http'>;
    server: MetricsServer | null;
  },
): Promise<OpenedMetrics> {
  const observers: RequestObserver[] = [];
  const closers: Closer[] = [];
  const create = async () => {
    // Imported only if metrics are read, because the library slows the start.
    const { Metrics } = await import('./metrics/metrics.ts');
    const metrics = new Metrics({ ...context, version: readVersion(), ...sources });
    observers.push(metrics.observe);
    closers.push(async () => metrics.close());
    return metrics;
  };
  if (server) {
    server.serve(await create());
    closers.push(() => server.close());
  }
  if (telemetry?.exportsMetrics) telemetry.exportMetrics(await create());
  return { observers, close: () => Promise.all(closers.map((close) => close())) };
}

type OpenedMetrics = { observers: RequestObserver[]; close: Closer };

export type Workers = {
  /** Begins to run tasks and to send webhooks, unless this process does not drive them. */
  start: () => void;
  /** Makes the webhook worker of this process check for due deliveries soon. Workers of other processes poll. */
  nudge: () => void;
  tasks: RunningTasks;
  status: readonly StatusProvider[];
  /** Stops the workers and waits for their current work. */
  stop: () => Promise<void>;
};

/**
 * Creates the workers, which do nothing before `start`. If `drive` is false, no worker runs in this process, but the status and the operations of
 * the tasks are available.
 */
export async function createWorkers(context: ServiceContext, { drive }: { drive: boolean }): Promise<Workers> {
  const { main, config, clock, log, random, secretKeys } = context;
  const tasks = await createTasks(context, { drive });
  const allowPrivate = config.webhookAllowPrivate;
  const webhooks = drive ? new WebhookWorker({ main, clock, log, random, secretKeys, allowPrivate }) : null;
  return {
    start: () => {
      tasks.start();
      webhooks?.start();
    },
    nudge: () => webhooks?.nudge(),
    tasks,
    status: [createDeliveryStatus(main), createBackupStatus(main), ...tasks.status],
    stop: async () => {
      await Promise.all([tasks.stop(), webhooks?.stop()]);
    },
  };
}

/** Runs the workers without a server, until the returned object is disposed. `failed` rejects when the workers must not go on. */
export async function startWorkerProcess({
  config,
  log,
}: {
  config: Config;
  log: Log;
}): Promise<AsyncDisposable & Pick<Service, 'failed'>> {
  const closers: Closer[] = [];
  try {
    const server = await bindMetrics(config.metricsAddress, log, closers);
    const databases = await openDatabases(config, log);
    closers.unshift(databases.close);
    const failure = createFailure();
    const onStep = (step: MigrationStep) => logMigration(log, step);
    closers.push(await migrateAll(databases, log, { onStep, onRefused: failure.reject }));
    const clock = await startClock(databases, log, closers);
    const context = createContext({ config, log, clock, databases });
    closers.push(context.close);
    watchWrites(context, closers);
    await recordStart(context, 'work');
    const telemetry = await openTelemetry(context, closers);
    await requireSecretKeys(context);
    const workers = await createWorkers(context, { drive: true });
    closers.push(() => {
      const stopped = workers.stop();
      // Ends tasks that wait for an endpoint of a chain.
      context.followed.close();
      return stopped;
    });
    const metrics = await openMetrics(context, {
      telemetry,
      sources: { tasks: workers.tasks, http: null },
      server,
    });
    closers.push(metrics.close);
    workers.start();
    return { failed: failure.failed, [Symbol.asyncDispose]: () => closeInOrder(closers) };
  } catch (error) {
    await closeInOrder(closers);
    throw error;
  }
}

function createFailure(): Pick<Service, 'failed'> & { reject: (error: OperatorError) => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  // Without this handler, the rejection would end a process that does not wait for `failed`.
  promise.catch(() => undefined);
  return { failed: promise, reject };
}

/** Starts a clock that follows the clock of the primary database. Adds to `closers` a function that stops the clock. */
async function startClock({ main }: Databases, log: Log, closers: Closer[]): Promise<Clock> {
  const clock = await DatabaseClock.start({ db: main, log });
  // While the database cannot be read, the clock continues without it. The level is debug, because requests already report the outage.
  const noteUnread = (error: unknown) => log.debug('the clock of the primary database could not be read', { error });
  closers.push(
    startPeriodic({ name: 'clock', periodMs: CLOCK_PERIOD_MS, run: () => clock.adjust().catch(noteUnread) }, log),
  );
  return clock.now;
}

/**
 * Brings both schemas up to date. If a separate indexer database cannot be reached, the service starts without it. The migration is then
 * repeated until it succeeds. If a repeated migration shows that the indexer database must not be used, for example because a newer version
 * has made it, `onRefused` receives the OperatorError. The returned function stops the repetition.
 */
async function migrateAll(
  { main, indexer }: Databases,
  log: Log,
  options: MigrationReports,
): Promise<() => Promise<void>> {
  await migrate(main, 'main', { onStep: options.onStep });
  if (indexer === main) {
    await migrate(indexer, 'indexer', { onStep: options.onStep });
    return () => Promise.resolve();
  }
  return migrateIndexer(indexer, log, options);
}

type MigrationReports = { onStep: OnMigrationStep; onRefused: (error: OperatorError) => void };

function logMigration(log: Log, { tookMs, schema, name, number, count }: MigrationStep): void {
  const fields = { schema, migration: name, number, count };
  if (tookMs === null) log.info('a migration begins', fields);
  else log.info('a migration is applied', { ...fields, ms: tookMs });
}

async function migrateIndexer(
  indexer: Database,
  log: Log,
  { onStep, onRefused }: MigrationReports,
): Promise<() => Promise<void>> {
  const attempt = async () => {
    await migrate(indexer, 'indexer', { onStep });
    log.info('the indexer database is ready');
  };
  let firstInProgress: Promise<void> | null = null;
  try {
    const first = attempt();
    if (await isDoneWithin(first, INDEXER_PATIENCE_MS)) return () => Promise.resolve();
    firstInProgress = first;
    log.warn('the indexer database does not respond; the service continues without it');
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    log.warn('the indexer database cannot be reached; the service continues without it', { error });
  }
  let stop = () => Promise.resolve();
  const run = async () => {
    const current = firstInProgress ?? attempt();
    firstInProgress = null;
    try {
      await current;
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      onRefused(error);
    }
    void stop();
  };
  stop = startPeriodic({ name: 'indexer-migration', periodMs: MIGRATION_RETRY_MS, run }, log);
  return () => stop();
}

/**
 * Loads the sample marketplace if the database is embedded, is empty, and holds both schemas. Returns the number of loaded records, 0 if a
 * condition is not met.
 */
async function loadSample(context: ServiceContext): Promise<number> {
  const { main, indexer, serviceName, clock } = context;
  if (main.engine !== 'embedded' || indexer !== main || !(await isEmpty(main))) return 0;
  const { generateSampleMarket } = await import('../../sample/market.ts');
  const summary = await importRecords(context, toLines(generateSampleMarket({ serviceName, at: clock() })), {
    format: 'ndjson',
    recorded: false,
  });
  return summary.read;
}

/** Removes the sample marketplace. Returns the number of removed collections. */
async function removeSample(context: ServiceContext): Promise<number> {
  const { listSampleCollections } = await import('../../sample/market.ts');
  const { collections } = await removeCollections(context, listSampleCollections());
  return collections;
}

async function* toLines(records: Iterable<Record<string, unknown>>): AsyncGenerator<Uint8Array> {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
}

/** The URL of the listening server. Clients cannot connect to a wildcard address, so it is replaced by the loopback address. */
function listeningUrl(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const urlHost = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${urlHost}:${port}`;
}
