// What the degradation tests share: a primary and an indexer on servers that can be made to fail, and a service on both with a
// small market.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import { MARKET, databasePorts } from './small-market.ts';
import type { TcpProxy } from '../support/engines/tcp-proxy.ts';
import { startTcpProxy } from '../support/engines/tcp-proxy.ts';
import { START } from '../support/service/market.ts';
import type { PostgresServer } from '../support/engines/postgres-server.ts';
import { canStartPostgres, createTestDatabase, startOwnPostgres } from '../support/engines/postgres-server.ts';
import type { TestResponse, TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

export type TwoServers = { primary: PostgresServer; indexer: PostgresServer };

/** Declares `suite` around two servers, if PostgreSQL is installed. They may be used from the first hook on. */
export function withTwoServers(name: string, suite: (servers: TwoServers) => void): void {
  if (!canStartPostgres() && process.env['REQUIRE_POSTGRES'] !== '1') {
    test(name, { skip: 'PostgreSQL is not on this machine' });
    return;
  }
  describe(name, () => {
    const servers = {} as TwoServers;
    before(async () => {
      const [primary, indexer] = await Promise.all([startOwnPostgres(), startOwnPostgres()]);
      Object.assign(servers, { primary, indexer });
      for (const { url } of [primary, indexer]) databasePorts.add(new URL(url).port);
    });
    after(async () => {
      await Promise.all([servers.primary.discard(), servers.indexer.discard()]);
    });
    suite(servers);
  });
}

/** Short, because tests wait for it, and long enough for a busy machine to read within it. */
export const SOURCE_TIMEOUT_MS = 1_000;
/** Ends a test that hangs. It expects no speed. */
export const HANG_MS = 30_000;
/** Longer than any response is cached. */
const FORGET_MS = 2_000;

export type TimedResponse = TestResponse & { ms: number };

export type TwoDatabaseService = TestService & {
  settings: Record<string, string>;
  /** Advances the service's clock, which stands still otherwise: a cached response stays fresh until then. */
  advance(ms: number): void;
  /** A request that no cached response can serve. */
  fresh(path: string): Promise<TimedResponse>;
  /** Another service on the same databases and directory, once this one is closed. */
  restart(): Promise<void>;
};

type BreakableOptions = {
  /** The URLs of the databases for the service, when it does not connect to them directly. */
  via?: { primary?: (url: string) => Promise<string>; indexer?: (url: string) => Promise<string> };
  settings?: Record<string, string>;
  /** Leaves the databases empty. */
  empty?: boolean;
};

/** A service on new databases of both servers, with the market in it, closed when the test ends. */
export async function startOnTwoDatabases(
  t: TestContext,
  { primary, indexer }: TwoServers,
  { via = {}, settings: more = {}, empty = false }: BreakableOptions = {},
): Promise<TwoDatabaseService> {
  const direct = (url: string) => Promise.resolve(url);
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-breakable-'));
  const settings = {
    DATA_DIR: dir,
    DATABASE_URL: await (via.primary ?? direct)(await createTestDatabase(primary.url)),
    INDEXER_DATABASE_URL: await (via.indexer ?? direct)(await createTestDatabase(indexer.url)),
    SOURCE_TIMEOUT_MS: String(SOURCE_TIMEOUT_MS),
    ...more,
  };
  let passed = 0;
  const start = () => startTestService({ settings, clock: () => START + passed });
  const service = {} as TwoDatabaseService;
  const advance = (ms: number) => void (passed += ms);
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

/** The same with a proxy in front of the indexer. `broken`: it fails from the start, and the databases are empty. */
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
