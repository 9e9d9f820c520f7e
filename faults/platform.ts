// Starts the platform on which a fault is tested. A platform has databases, a webhook receiver, a service and a worker as separate processes,
// and the load, which sends requests to the service.

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { STORE_SCOPES } from '../src/shop/keys/scopes.ts';
import { copyDatabase } from '../test/support/engines/embedded-template.ts';
import type { PostgresOptions, PostgresServer } from '../test/support/engines/postgres-server.ts';
import { startOwnPostgres } from '../test/support/engines/postgres-server.ts';
import type { RedisServer } from '../test/support/engines/redis-server.ts';
import { startRedis } from '../test/support/engines/redis-server.ts';
import { freePort } from '../test/support/free-port.ts';
import { sendToSocket } from '../test/support/service/service-process.ts';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';
import { until } from '../test/support/until.ts';
import type { Balancer } from './balancer.ts';
import { startBalancer } from './balancer.ts';
import { Client, Tally } from './client.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { Program } from './program.ts';
import type { Receiver } from './receiver.ts';
import { startDeliveryReceiver } from './receiver.ts';

export type FaultEngine = 'embedded' | 'postgresql';

/** The time limit for the start of a process. It is long enough for a slow machine. */
const START_LIMIT_MS = 120_000;
/** When the fault has been mended for this long, every request has to succeed again. */
export const RECOVERY_LIMIT_MS = 60_000;
/** The number of requests that must be acknowledged before a fault begins, so that the fault happens under load. */
const WARM_UP_REQUESTS = 150;

export type PlatformOptions = {
  /** Further settings of the service and the worker. */
  settings?: Record<string, string>;
  /** Settings of the service alone. */
  serviceSettings?: Record<string, string>;
  /** Settings of the worker alone. */
  workerSettings?: Record<string, string>;
  /** A running PostgreSQL server for the primary, or the options for a new one. Default: a new, durable server. */
  postgres?: PostgresServer | PostgresOptions;
  /** Maps the URL of the primary to the URL for the service, such as the URL of a proxy. */
  via?: (url: string) => Promise<string>;
  /** Whether the indexer has a separate PostgreSQL server. */
  ownIndexer?: boolean;
  /** If given, the nodes share rate limits through Redis. `dead`: Redis does not run when the service starts. */
  redis?: 'running' | 'dead';
  /** The data directory of the service. Default: a temporary directory. */
  dataDir?: string;
  /** The number of services behind a balancer, only on PostgreSQL. Default: one service without a balancer. */
  nodes?: number;
  /** Whether the balancer sends a failed request again, to another node. Default: false. */
  repeats?: boolean;
  /** false: no separate worker, and the service delivers the webhooks. The embedded engine never has a separate worker. */
  ownWorker?: boolean;
};

export class Platform {
  readonly engine: FaultEngine;
  readonly ledger = new Ledger();
  /** The settings with which a command uses the databases of the platform. */
  readonly databaseSettings: Record<string, string>;
  /** The services. The first service has the data directory of the platform. */
  readonly nodes: readonly Program[];
  readonly #balancer: Balancer | null;
  /** The process of `mercat work`. Null if the service runs the workers. */
  readonly worker: Program | null;
  readonly receiver: Receiver;
  readonly url: string;
  readonly metricsUrls: readonly string[];
  readonly client: Client;
  readonly load: Load;
  readonly webhookId: string;
  readonly #secret: string;
  readonly #postgres: PostgresServer | null;
  readonly #indexer: PostgresServer | null;
  readonly #redis: RedisServer | null;
  /** The responses during the fault. */
  during = new Tally();
  /** The lines that the processes logged during the fault. */
  loggedDuring: string[] = [];
  /** When the fault was mended (`performance.now()`). */
  mendedAt = 0;

  constructor(parts: PlatformParts) {
    this.engine = parts.engine;
    this.databaseSettings = parts.databaseSettings;
    this.nodes = parts.nodes;
    this.#balancer = parts.balancer;
    this.worker = parts.worker;
    this.receiver = parts.receiver;
    this.url = parts.url;
    this.metricsUrls = parts.metricsUrls;
    this.#postgres = parts.postgres;
    this.#indexer = parts.indexer;
    this.#redis = parts.redis;
    this.webhookId = parts.shop.webhookId;
    this.#secret = parts.shop.secret;
    this.client = this.newClient();
    this.load = new Load(this.client, this.ledger);
  }

  /** The first service. */
  get service(): Program {
    return present(this.nodes[0] ?? null, 'service');
  }

  get balancer(): Balancer {
    return present(this.#balancer, 'balancer');
  }

  /** The primary's server. Throws on the embedded engine. */
  get postgres(): PostgresServer {
    return present(this.#postgres, 'PostgreSQL server');
  }

  get indexer(): PostgresServer {
    return present(this.#indexer, 'PostgreSQL server for the indexer');
  }

  get redis(): RedisServer {
    return present(this.#redis, 'Redis server');
  }

  /** Returns a client that uses the same key as the load and counts its own responses. */
  newClient(): Client {
    return new Client(() => this.url, this.#secret);
  }

  /** Runs an operation of the operator on the first service. */
  async operate(operation: string, input: object): Promise<void> {
    await operate(this.databaseSettings['DATA_DIR'] ?? '', operation, input);
  }

  /** All processes of Mercat on the platform. */
  get programs(): readonly Program[] {
    return this.worker === null ? this.nodes : [...this.nodes, this.worker];
  }

  /** Runs `breakIt` under load. `breakIt` breaks and mends the platform. Afterwards `during` has the responses from the run of `breakIt`. */
  async whileBroken(breakIt: () => Promise<unknown>): Promise<void> {
    await this.load.progress(WARM_UP_REQUESTS);
    this.client.takeTally();
    const lines = this.programs.map((program) => program.lines.length);
    try {
      await breakIt();
    } finally {
      this.loggedDuring = this.programs.flatMap((program, index) => program.lines.slice(lines[index]));
      this.during = this.client.takeTally();
      this.mendedAt = performance.now();
    }
  }

  /** Waits until the service serves requests. */
  async ready(limitMs = START_LIMIT_MS): Promise<void> {
    await until(
      async () => !this.service.isRunning || (await isReady(this.url)),
      limitMs,
      'the service did not become ready',
    );
    if (!this.service.isRunning) {
      throw new Error(`the service has ended: ${this.service.lines.slice(-5).join('\n')}`);
    }
  }
}

type PlatformParts = {
  engine: FaultEngine;
  databaseSettings: Record<string, string>;
  nodes: readonly Program[];
  balancer: Balancer | null;
  worker: Program | null;
  receiver: Receiver;
  url: string;
  metricsUrls: readonly string[];
  postgres: PostgresServer | null;
  indexer: PostgresServer | null;
  redis: RedisServer | null;
  shop: { secret: string; webhookId: string };
};

type OnEnd = (undo: () => Promise<unknown> | void) => void;

/** Starts a platform and its load. Passes the functions that end the platform and the load to `onEnd`. */
export async function startPlatform(engine: FaultEngine, options: PlatformOptions, onEnd: OnEnd): Promise<Platform> {
  const dataDir = options.dataDir ?? temporaryDirectory();
  const databases = await startDatabases(engine, { ...options, dataDir }, onEnd);
  const redis = options.redis === undefined ? null : await startRedis();
  if (redis) onEnd(() => redis.discard());
  if (options.redis === 'dead') await redis?.stop();
  const receiver = await startDeliveryReceiver();
  onEnd(receiver.close);
  const metricsUrls: string[] = [];
  const isBalanced = (options.nodes ?? 1) > 1;
  const newSettings = async (dir: string): Promise<Record<string, string>> => {
    const metricsPort = await freePort();
    metricsUrls.push(`http://127.0.0.1:${metricsPort}/metrics`);
    return {
      PRICE_SOURCES: 'none',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      // The clients send X-Forwarded-For like a proxy. A balancer appends its own entry to the header, so it is the second proxy.
      TRUST_PROXY: isBalanced ? '2' : '1',
      STORE_RATE_LIMIT: '100000000',
      ...databases.settings,
      ...(redis && { REDIS_URL: redis.url }),
      ...options.settings,
      DATA_DIR: dir,
      METRICS_ADDRESS: `127.0.0.1:${metricsPort}`,
    };
  };
  const ownWorker = engine === 'postgresql' && options.ownWorker !== false;
  const args = ['serve', '--no-sample', ...(ownWorker ? ['--no-workers'] : [])];
  const nodes: Program[] = [];
  const urls: string[] = [];
  for (let index = 0; index < (options.nodes ?? 1); index += 1) {
    const port = await freePort();
    const settings = await newSettings(index === 0 ? dataDir : temporaryDirectory());
    urls.push(`http://127.0.0.1:${port}`);
    nodes.push(new Program(args, { ...settings, PORT: String(port), ...options.serviceSettings }));
  }
  const worker = ownWorker
    ? new Program(['work'], { ...(await newSettings(temporaryDirectory())), ...options.workerSettings })
    : null;
  let platform: Platform | null = null;
  // If the run of a fault throws, its load has not been stopped. These functions are called in reverse order: first the processes are killed,
  // which ends the open requests of the load, and then the load is stopped.
  onEnd(() => platform?.load.stop(0));
  onEnd(() => Promise.all([...nodes, ...(worker ? [worker] : [])].map((program) => program.end('SIGKILL'))));
  for (const [index, node] of nodes.entries()) {
    node.launch();
    await node.written(`serves on ${urls[index]}`, START_LIMIT_MS);
  }
  const balancer = isBalanced ? await startBalancer(urls, { repeats: options.repeats ?? false }) : null;
  if (balancer) onEnd(balancer.close);
  const url = balancer?.url ?? urls[0] ?? '';
  worker?.launch();
  await worker?.written('The workers are running', START_LIMIT_MS);
  const shop = await createShop({ dataDir, url, receiverUrl: receiver.url });
  const databaseSettings = { ...databases.settings, DATA_DIR: dataDir };
  const parts = { engine, databaseSettings, nodes, balancer, worker, receiver, url, metricsUrls, redis, shop };
  platform = new Platform({ ...parts, ...databases });
  await platform.load.prepare();
  platform.load.start();
  return platform;
}

async function startDatabases(engine: FaultEngine, options: PlatformOptions & { dataDir: string }, onEnd: OnEnd) {
  if (engine === 'embedded') {
    await copyDatabase(path.join(options.dataDir, 'db'), 'migrated');
    return { settings: {}, postgres: null, indexer: null };
  }
  const started = options.postgres;
  const postgres =
    started !== undefined && 'url' in started ? started : await startOwnPostgres({ durable: true, ...started });
  onEnd(() => postgres.discard());
  const indexer = options.ownIndexer ? await startOwnPostgres({ durable: true }) : null;
  if (indexer) onEnd(() => indexer.discard());
  const url = options.via ? await options.via(postgres.url) : postgres.url;
  const settings = { DATABASE_URL: url, ...(indexer && { INDEXER_DATABASE_URL: indexer.url }) };
  return { settings, postgres, indexer };
}

/** Runs an operation of the operator on the service with this data directory. */
async function operate(dataDir: string, operation: string, input: object): Promise<Record<string, string>> {
  const socketPath = path.join(dataDir, 'mercat.sock');
  const { status, body } = await sendToSocket(socketPath, 'POST', `/operator/v1/${operation}`, input);
  if (status !== 200) throw new Error(`${operation}: ${JSON.stringify(body)}`);
  return (body as { result: Record<string, string> }).result;
}

/** Creates a shop, a key with all scopes, and a webhook for all events. */
async function createShop(at: { dataDir: string; url: string; receiverUrl: string }) {
  await operate(at.dataDir, 'shops.create', { name: 'shop' });
  const { secret = '' } = await operate(at.dataDir, 'keys.create', {
    shop: 'shop',
    scopes: [...STORE_SCOPES, 'intake:write'],
  });
  const client = new Client(() => at.url, secret);
  const body = { url: at.receiverUrl, events: ['product.*', 'inventory.low'] };
  let made = '';
  const isMade = async () => {
    const { status, text } = await client.send({ method: 'POST', path: '/api/v1/webhooks', body });
    if (status !== 201 && status !== 503) throw new Error(`the webhook cannot be created: ${text}`);
    made = text;
    return status === 201;
  };
  await until(isMade, START_LIMIT_MS, 'the webhook cannot be created');
  return { secret, webhookId: (JSON.parse(made) as { data: { id: string } }).data.id };
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    await sleep(50);
    return false;
  }
}

function present<T>(part: T | null, what: string): T {
  if (part === null) throw new Error(`this platform has no ${what}`);
  return part;
}
