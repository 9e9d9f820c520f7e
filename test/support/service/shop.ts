// Starts a service for tests of the store, on each engine. A test can move the clock of the service, and create shops with keys. Each shop has a
// client that validates every response against the OpenAPI document that the service serves.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe } from 'node:test';
import type { Database, Queryable, Row, Statements } from '../../../src/platform/database/port.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { STORE_SCOPES } from '../../../src/shop/keys/scopes.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createShopOperations } from '../../../src/shop/operations.ts';
import { createOpenApiContract } from './contract.ts';
import { START } from './market.ts';
import type { TestEngine } from '../engines/each-engine.ts';
import { forEachEngine, forOneEngine } from '../engines/each-engine.ts';
import type { TestResponse, TestService } from './service.ts';
import { startTestService } from './service.ts';
import { SecretKeys } from '../../../src/platform/core/secret-keys.ts';

export type TestKey = { id: string; secret: string; prefix: string; expiresAt: string | null };

export type StoreRequest = {
  /** Sent as JSON. Text and bytes are sent as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The secret of the key to send. Default: the shop's own key. If null, the request has no key. */
  secret?: string | null;
};

export type Send = (method: string, path: string, request?: StoreRequest) => Promise<TestResponse>;

export type TestShop = {
  id: string;
  name: string;
  key: TestKey;
  /** Requests a path below /api/v1. */
  send: Send;
  /** Requests a path and returns the body. Fails unless the response has the given status. */
  ok(method: string, path: string, body?: unknown, status?: number): Promise<any>;
  /** Creates a product, with a default name and price unless they are given. */
  product(fields?: Record<string, unknown>): Promise<any>;
  newKey(scopes: readonly string[], options?: { expiresAt?: string }): Promise<TestKey>;
  /** All entries of a list, from all pages. */
  walk(path: string): Promise<any[]>;
  /** The events of the shop, in the order in which they were recorded. */
  events(): Promise<{ type: string; data: any }[]>;
};

export type TestStore = {
  service: TestService;
  main: Database;
  /** The OpenAPI document that the service serves for the store interface. */
  document: any;
  now(): number;
  /** Moves the clock forward. The clock never goes back, because the tests of a file share it. */
  advance(ms: number): void;
  shop(): Promise<TestShop>;
  operate(operation: string, input: Record<string, unknown>): Promise<any>;
  query(sql: string, params?: readonly unknown[]): Promise<Row[]>;
  /** How many statements with the text `mention` the service has run so far, including the statements of background workers. */
  statements(mention: string): number;
};

type StoreSuite = (store: TestStore) => void;

/** Declares `suite` once for each engine, with one service. The hooks and tests of the suite may use the store. */
export function forEachStore(name: string, suite: StoreSuite, settings: Record<string, string> = {}): void {
  forEachEngine(name, (engine) => describeStore(engine, suite, settings));
}

/** Like `forEachStore`, for rules that the engine cannot change (`forOneEngine`). */
export function forOneStore(name: string, suite: StoreSuite, settings: Record<string, string> = {}): void {
  forOneEngine(name, (engine) => describeStore(engine, suite, settings));
}

function describeStore(engine: TestEngine, suite: StoreSuite, settings: Record<string, string>): void {
  // The inner suite closes the service before the engine removes its database.
  describe('service', () => {
    const store = {} as TestStore;
    before(async () => {
      Object.assign(store, await startTestStore(engine, settings));
    });
    after(() => store.service.close());
    suite(store);
  });
}

async function startTestStore(engine: TestEngine, more: Record<string, string>): Promise<TestStore> {
  let now = START;
  const clock = () => now;
  let main: Database | undefined;
  const statements: string[] = [];
  const count = (database: Queryable): Queryable => ({
    query: (sql, params) => {
      statements.push(sql);
      return database.query(sql, params);
    },
  });
  const countAll = (database: Statements): Statements => ({
    ...count(database),
    queryPrepared: (sql, params) => {
      statements.push(sql);
      return database.queryPrepared(sql, params);
    },
    transaction: (work) => database.transaction((tx) => work(countAll(tx as Statements))),
  });
  // The service trusts the header of a proxy, so that a test can send requests from any address.
  const settings = { ...(await engine.settings()), TRUST_PROXY: 'true', ...more };
  const service = await startTestService({
    settings,
    clock,
    open: async (config, log) => {
      const databases = await openDatabases(config, log);
      main = databases.main;
      const toCounted = (database: Database): Database => ({
        ...database,
        ...countAll(database),
        within: (timeoutMs, lane) => countAll(database.within(timeoutMs, lane)),
      });
      const [counted, countedStore] = [toCounted(databases.main), toCounted(databases.store)];
      return { ...databases, main: counted, indexer: counted, store: countedStore };
    },
  });
  if (!main) throw new Error('the service has not opened its databases');
  const database = main;
  const document: any = await (await fetch(`${service.url}/api/v1/openapi.json`)).json();
  const contract = createOpenApiContract(document);
  const operations = createShopOperations({
    main,
    clock,
    log: createLog('silent'),
    serviceName: 'mercat',
    secretKeys: new SecretKeys([]),
  });
  const operate = async (operation: string, input: Record<string, unknown>) => operations[operation]?.(input);
  const shop = async (): Promise<TestShop> => {
    const { id, name } = (await operate('shops.create', { name: `shop ${randomUUID()}` })) as {
      id: string;
      name: string;
    };
    const newKey: TestShop['newKey'] = (scopes, options = {}) =>
      operate('keys.create', { shop: name, scopes, ...options }) as Promise<TestKey>;
    const key = await newKey(STORE_SCOPES);
    const send = createSend(service.url, key.secret, contract);
    const ok: TestShop['ok'] = async (method, path, body, status = 200) => {
      const answer = await send(method, path, { body });
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
      return answer.body;
    };
    return {
      id,
      name,
      key,
      send,
      ok,
      newKey,
      product: async (fields = {}) =>
        (await ok('POST', '/products', { name: 'Mug', price: '19.90', ...fields }, 201)).data,
      walk: (path) => walk(ok, path),
      events: async () => {
        const rows = await database.query('select type, data from main.event where shop_id = $1 order by sequence', [
          id,
        ]);
        return rows.map((row) => ({ type: row['type'] as string, data: JSON.parse(row['data'] as string) }));
      },
    };
  };
  return {
    service,
    main,
    document,
    now: clock,
    advance: (ms) => void (now += ms),
    shop,
    operate,
    query: (sql, params) => database.query(sql, params),
    statements: (mention) => statements.filter((sql) => sql.includes(mention)).length,
  };
}

function createSend(url: string, ownSecret: string, contract: ReturnType<typeof createOpenApiContract>): Send {
  return async (method, path, { body, headers = {}, secret = ownSecret } = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(secret !== null && { authorization: `Bearer ${secret}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? null : JSON.parse(text),
    };
    contract.check(method, `/api/v1${path}`, answer);
    assert.equal(answer.headers.get('cache-control'), 'no-store', `${method} ${path} may be stored by a cache`);
    assert.deepEqual(
      [...answer.headers.keys()].filter((header) => header.startsWith('access-control-')),
      [],
    );
    return answer;
  };
}

const PAGES_MAX = 10_000;

async function walk(ok: TestShop['ok'], path: string): Promise<any[]> {
  const rows: unknown[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page: any = await ok(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}${cursor === null ? '' : `cursor=${cursor}`}`,
    );
    rows.push(...page.data);
    assert.equal(page.pagination.hasMore, page.pagination.nextCursor !== null);
    if (!page.pagination.hasMore) return rows;
    cursor = page.pagination.nextCursor;
  }
  throw new Error(`${path} has more than ${PAGES_MAX} pages`);
}

/** Runs `work` on every item, with a limited number at a time. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const run = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: width }, run));
  return results;
}

/** Fails unless the response is the 400 for an invalid product. Its details must name exactly these paths. */
export function assertInvalidProduct({ status, body, text }: TestResponse, ...paths: string[]): void {
  assert.deepEqual(
    [status, body.error?.code, body.error?.message],
    [400, 'bad_request', 'Invalid product payload'],
    text,
  );
  assert.deepEqual(body.error.details.map((detail: any) => detail.path).toSorted(), paths.toSorted());
}

export async function assertNothingStored(shop: TestShop): Promise<void> {
  assert.deepEqual(await shop.walk('/products'), []);
  assert.deepEqual(await shop.events(), []);
}
