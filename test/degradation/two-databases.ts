// Fixtures of the degradation tests. Two PostgreSQL servers can be stopped, killed or frozen. A service has its primary and indexer
// databases on these servers, with a small market.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import { MARKET, databasePorts } from './small-market.ts';
import type { CitusCluster } from '../support/engines/citus-cluster.ts';
import { startCitus } from '../support/engines/citus-cluster.ts';
import { CITUS_MISSING, RUNS_ON_CITUS, canRunCitus } from '../support/engines/citus-node.ts';
import type { TcpProxy } from '../support/engines/tcp-proxy.ts';
import { startTcpProxy } from '../support/engines/tcp-proxy.ts';
import { START } from '../support/service/market.ts';
import type { PostgresServer } from '../support/engines/postgres-server.ts';
import { canStartPostgres, createTestDatabase, startOwnPostgres } from '../support/engines/postgres-server.ts';
import type { TestResponse, TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

export type TwoServers = {
  primary: PostgresServer;
  /** A single server. If TEST_CITUS is 1, the coordinator of a Citus cluster. */
  indexer: PostgresServer;
  /**
   * Makes an indexer database and returns its URL. On a single server the database has no migrations. On a cluster it has all migrations,
   * because they take long there, unless `empty` is true.
   */
  createIndex(options?: { empty?: boolean }): Promise<string>;
};

/**
 * Declares a suite with two PostgreSQL servers, which are started before its tests and removed afterwards. `suite` must read
 * `servers` in hooks and tests only, because the servers do not exist earlier. Without PostgreSQL the suite is skipped. If
 * REQUIRE_POSTGRES is 1, the suite fails instead.
 */
export function withTwoServers(name: string, suite: (servers: TwoServers) => void): void {
  if (!canStartPostgres() && process.env['REQUIRE_POSTGRES'] !== '1') {
    test(name, { skip: 'PostgreSQL is not installed' });
    return;
  }
  if (RUNS_ON_CITUS && !canRunCitus()) {
    test(name, { skip: CITUS_MISSING });
    return;
  }
  describe(name, () => {
    const servers = {} as TwoServers;
    let cluster: CitusCluster | null = null;
    before(async () => {
      const [primary, index] = await Promise.all([
        startOwnPostgres(),
        RUNS_ON_CITUS ? startCitus() : startOwnPostgres(),
      ]);
      if ('coordinator' in index) cluster = index;
      const indexer = 'coordinator' in index ? index.coordinator : index;
      const createIndex: TwoServers['createIndex'] = ({ empty = false } = {}) =>
        cluster?.createDatabase(empty ? 'empty' : 'migrated') ?? createTestDatabase(indexer.url);
      Object.assign(servers, { primary, indexer, createIndex });
      for (const { url } of [primary, indexer, ...(cluster?.workers ?? [])]) databasePorts.add(new URL(url).port);
    });
    after(async () => {
      await Promise.all([servers.primary.discard(), (cluster ?? servers.indexer).discard()]);
    });
    suite(servers);
  });
}

/** The deadline of a source in these tests. It is short because tests wait for it, but long enough for a read on a busy machine. */
export const SOURCE_TIMEOUT_MS = 1_000;
/** If a response takes this long, the request hangs and its test fails. A request that does not hang is faster, even on a slow machine. */
export const HANG_MS = 30_000;
/** How far `fresh` advances the clock. No response stays fresh in the cache for this long. */
const FORGET_MS = 2_000;

export type TimedResponse = TestResponse & { ms: number };

export type TwoDatabaseService = TestService & {
  settings: Record<string, string>;
  /** Advances the service's clock. The clock does not move by itself, so a cached response stays fresh until this call. */
  advance(ms: number): void;
  /** Advances the clock so far that every cached response is stale, and then requests `path`. `ms` is how long the response took. */
  fresh(path: string): Promise<TimedResponse>;
  /** Closes the service and starts a new service on the same databases and directory. */
  restart(): Promise<void>;
};

type TwoDatabaseOptions = {
  /** Turns the URL of each database into the URL that the service connects to, for example the URL of a proxy. */
  via?: { primary?: (url: string) => Promise<string>; indexer?: (url: string) => Promise<string> };
  settings?: Record<string, string>;
  /** If true, the small market is not loaded, and a new database on a cluster has no migrations. */
  empty?: boolean;
};

/** Starts a service on a new database of each server and loads the small market. The service is closed when the test ends. */
export async function startOnTwoDatabases(
  t: TestContext,
  { primary, createIndex }: TwoServers,
  { via = {}, settings: extraSettings = {}, empty = false }: TwoDatabaseOptions = {},
): Promise<TwoDatabaseService> {
  const direct = (url: string) => Promise.resolve(url);
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-breakable-'));
  const settings = {
    DATA_DIR: dir,
    DATABASE_URL: await (via.primary ?? direct)(await createTestDatabase(primary.url)),
    INDEXER_DATABASE_URL: await (via.indexer ?? direct)(await createIndex({ empty })),
    SOURCE_TIMEOUT_MS: String(SOURCE_TIMEOUT_MS),
    ...extraSettings,
  };
  let advancedMs = 0;
  const start = () => startTestService({ settings, clock: () => START + advancedMs });
  const service = {} as TwoDatabaseService;
  const advance = (ms: number) => void (advancedMs += ms);
  t.after(async () => {
    await service.close();
    rmSync(dir, { recursive: true, force: true });
  });
  Object.assign(service, await start(), {
    settings,
    advance,
    fresh: async (path: string): Promise<TimedResponse> => {
      advance(FORGET_MS);
      const startedAt = performance.now();
      const response = await service.get(path);
      return { ...response, ms: performance.now() - startedAt };
    },
    restart: async () => {
      await service.close();
      Object.assign(service, await start());
    },
  });
  if (!empty) await service.load(MARKET);
  return service;
}

/**
 * Like `startOnTwoDatabases`, with a TCP proxy between the service and the indexer. If `broken` is given, from the start the
 * proxy refuses connections (`refuse`) or lets them hang (`hang`), and the databases are empty.
 */
export async function startBehindProxy(
  t: TestContext,
  servers: TwoServers,
  broken?: 'refuse' | 'hang',
): Promise<{ service: TwoDatabaseService; proxy: TcpProxy }> {
  const { promise, resolve } = Promise.withResolvers<TcpProxy>();
  const indexer = async (url: string) => {
    const proxy = await startTcpProxy(url);
    resolve(proxy);
    if (broken) await proxy[broken]();
    return proxy.url;
  };
  const service = await startOnTwoDatabases(t, servers, { empty: broken !== undefined, via: { indexer } });
  const proxy = await promise;
  t.after(proxy.close);
  return { service, proxy };
}
