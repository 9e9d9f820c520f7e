// What the degradation tests share: a primary and an indexer that are servers of their own and may be broken, a service on
// both with a small market in it, and what is to be seen of that market when all is well and when the indexer is not.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { PostgresServer } from './engines.ts';
import { canStartPostgres, createTestDatabase, startOwnPostgres, until } from './engines.ts';
import type { Subject } from './market.ts';
import { BUYER, SELLER, SOLANA_SELLER, START, mintOf, newSubject } from './market.ts';
import type { TestAnswer, TestService } from './service.ts';
import { startTestService } from './service.ts';

export type TwoServers = { primary: PostgresServer; indexer: PostgresServer };

/** Declares `suite` around two servers, where PostgreSQL is on this machine. They may be used from the first hook on. */
export function withTwoServers(name: string, suite: (servers: TwoServers) => void): void {
  if (!canStartPostgres()) {
    test(`${name}: not run, no PostgreSQL on this machine`, (t) => {
      if (process.env['REQUIRE_POSTGRES'] === '1') throw new Error('PostgreSQL is required here and cannot be started');
      t.diagnostic('PostgreSQL is not on this machine: nothing was broken');
    });
    return;
  }
  describe(name, () => {
    const servers = {} as TwoServers;
    before(async () => {
      const [primary, indexer] = await Promise.all([startOwnPostgres(), startOwnPostgres()]);
      Object.assign(servers, { primary, indexer });
      for (const { url } of [primary, indexer]) ports.add(new URL(url).port);
    });
    after(async () => {
      await Promise.all([servers.primary.discard(), servers.indexer.discard()]);
    });
    suite(servers);
  });
}

/** Small, so that the tests are fast, and long enough for a slow machine to answer within it. */
export const SOURCE_TIMEOUT_MS = 300;
/** Longer than any answer is kept. */
const FORGET_MS = 2_000;

export type TimedAnswer = TestAnswer & { ms: number };

export type Breakable = TestService & {
  settings: Record<string, string>;
  /** Moves the service's clock on, which stands still otherwise, so that an answer that is kept is kept until then. */
  advance(ms: number): void;
  /** A request that no kept answer can serve. */
  fresh(path: string): Promise<TimedAnswer>;
  /** Another service on the same databases and directory, once this one is closed. */
  restart(): Promise<void>;
};

type BreakableOptions = {
  /** How the service reaches the databases, when not directly. */
  via?: { primary?: (url: string) => Promise<string>; indexer?: (url: string) => Promise<string> };
  settings?: Record<string, string>;
  /** Do not put the market in. */
  empty?: boolean;
};

/** A service on new databases of both servers, with the market in it, closed when the test ends. */
export async function startBreakable(
  t: TestContext,
  { primary, indexer }: TwoServers,
  { via = {}, settings: more = {}, empty = false }: BreakableOptions = {},
): Promise<Breakable> {
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
  const service = {} as Breakable;
  const advance = (ms: number) => void (passed += ms);
  t.after(async () => {
    await service.close();
    rmSync(dir, { recursive: true, force: true });
  });
  Object.assign(service, await start(), {
    settings,
    advance,
    fresh: async (path: string): Promise<TimedAnswer> => {
      advance(FORGET_MS);
      const startedAt = performance.now();
      const answer = await service.get(path);
      return { ...answer, ms: performance.now() - startedAt };
    },
    restart: async () => {
      await service.close();
      Object.assign(service, await start());
    },
  });
  if (!empty) await service.load(MARKET);
  return service;
}

const SNAPSHOT = { floorRaw: '640', volumeAllTime: 5.5, supply: 100, owners: 50 };
const ETHER = 10n ** 18n;

export const ethereum = newSubject({ slug: 'on-ethereum', royaltyBps: 500, snapshot: SNAPSHOT });
export const solana = newSubject({ slug: 'on-solana', chain: 'solana', royaltyBps: 500, snapshot: SNAPSHOT });
export const base = newSubject({ slug: 'on-base', chain: 'base', snapshot: SNAPSHOT });
const SUBJECTS = [ethereum, solana, base];
export const MINT = mintOf('breakable');

/** Every source has something to say about every collection, and each says something else. */
export const MARKET = [
  ...SUBJECTS.flatMap((subject) => {
    const [first, second] = subject === solana ? [MINT, mintOf('second')] : ['1', '2'];
    return [
      subject.collection(),
      subject.listing(second, 800, { buyerTotalRaw: '880' }),
      subject.sale(first, 3n * ETHER, {
        buyer: subject === solana ? SOLANA_SELLER : BUYER,
        tx: `0x${'ab'.repeat(32)}`,
      }),
      subject.token(first, { name: 'First', rarityRank: 7 }),
      subject.stats({ owners: 42, listedCount: 7, supply: 90, floorRaw: '750' }),
      subject.analytics({
        floorRaw: '700',
        volume: { allTime: 30, sevenDay: 20, twentyFourHour: 10 },
        sales: { allTime: 3, sevenDay: 2, twentyFourHour: 1 },
      }),
    ];
  }),
  ...[ethereum, base].flatMap((subject) => [
    // The own row of asset 1 wins over the cheaper mirrored one.
    subject.order('1', 1_000),
    subject.listing('1', 900),
  ]),
  { kind: 'rate', symbol: 'ETH', usd: 2_000, at: new Date(START).toISOString() },
];

export const token = {
  listed: `/v1/tokens/ethereum/${ethereum.address}/1`,
  mirrored: `/v1/tokens/ethereum/${ethereum.address}/2`,
  solana: `/v1/tokens/solana/${solana.address}/${MINT}`,
};

const COLLECTION_LISTS = ['', '?sort=floor', '?sort=recent', '?chain=base'].map((query) => `/v1/collections${query}`);
const WALLET = { address: SELLER, kind: 'wallet', label: null };

export const NO_WINDOWS = { allTime: null, sevenDay: null, twentyFourHour: null };
export const VOLUME = { allTime: 30, sevenDay: 20, twentyFourHour: 10 };
export const SALES = { allTime: 3, sevenDay: 2, twentyFourHour: 1 };

/** Fails unless every answer is what it is when nothing is broken. */
export async function assertWhole(service: Breakable): Promise<void> {
  await Promise.all(SUBJECTS.map((subject) => assertWholeCollection(service, subject)));
  const tokens = await Promise.all(Object.values(token).map((one) => service.fresh(one)));
  assert.deepEqual(
    tokens.map(({ body }) => [body.data.name, body.data.listing?.price.raw ?? null]),
    [
      ['First', '1000'],
      [null, '800'],
      ['First', null],
    ],
  );
  const collections = await Promise.all(COLLECTION_LISTS.map((one) => service.fresh(one)));
  assert.deepEqual(
    collections.map(({ status }) => status),
    COLLECTION_LISTS.map(() => 200),
  );
}

async function assertWholeCollection(service: Breakable, subject: Subject): Promise<void> {
  const [detail, floor, listings, sales] = await readCollection(service, subject);
  const { floor: ask, ...stats } = detail.body.data.stats;
  assert.deepEqual(stats, { volume: VOLUME, sales: SALES, supply: 90, owners: 42, listedCount: 7 });
  assert.equal(ask.raw, '700');
  assert.equal(detail.body.data.stale, false);
  assert.match(detail.headers.get('cache-control') ?? '', /s-maxage=10\b/);
  const { askFloor, buyerFloor, stale } = floor.body.data;
  assert.deepEqual([askFloor.raw, buyerFloor.raw, stale], ['700', '880', false]);
  const raws = listings.body.data.map((row: any) => row.price.raw);
  assert.deepEqual(raws, subject === solana ? ['800'] : ['800', '1000']);
  assert.equal(listings.body.meta, undefined);
  assert.equal(sales.body.data.length, 1);
}

async function readCollection(service: Breakable, { path }: Subject) {
  return Promise.all([
    service.fresh(path),
    service.fresh(`${path}/floor`),
    service.fresh(`${path}/listings`),
    service.fresh(`${path}/sales`),
  ]);
}

/** Waits until the last buyer floors that there are to keep are kept. */
export async function untilFloorsAreKept(service: Breakable): Promise<void> {
  await Promise.all(SUBJECTS.map(async (subject) => service.fresh(`${subject.path}/floor`)));
  await withClient(service.settings['DATABASE_URL'] ?? '', (client) =>
    until(
      async () => (await client.query('select from main.last_buyer_floor')).rowCount === 2,
      5_000,
      'the last buyer floors were not kept',
    ),
  );
}

/** Fails unless every answer is what the contract says when nothing of the indexer can be read. */
export async function assertWithoutIndexer(service: Breakable): Promise<void> {
  await Promise.all(SUBJECTS.map((subject) => assertCollectionWithoutIndexer(service, subject)));
  const [listed, mirrored, onSolana] = await Promise.all(Object.values(token).map((one) => service.fresh(one)));
  assert.ok(listed && mirrored && onSolana);
  assertDegraded(listed);
  const { listing, owner, name, lastSale, rarity } = listed.body.data;
  assert.deepEqual([listing.price.raw, listing.marketplace, owner], ['1000', 'MERCAT', WALLET]);
  assert.deepEqual([name, lastSale, rarity.rank], [null, null, null]);
  for (const answer of [mirrored, onSolana]) {
    assertDegraded(answer);
    assert.equal(answer.body.data.listing, null);
    assert.deepEqual(answer.body.data.owner, { address: null, kind: 'unknown', label: null });
  }
  for (const answer of await Promise.all(COLLECTION_LISTS.map((one) => service.fresh(one)))) {
    assertRefused(answer, 502, 'upstream_error');
  }
}

async function assertCollectionWithoutIndexer(service: Breakable, subject: Subject): Promise<void> {
  const [detail, floor, listings, sales] = await readCollection(service, subject);
  assertDegraded(detail);
  const { floor: ask, ...stats } = detail.body.data.stats;
  const unknown = { volume: NO_WINDOWS, sales: NO_WINDOWS, owners: null, listedCount: null };
  assert.deepEqual(stats, { ...unknown, supply: SNAPSHOT.supply });
  assert.equal(ask.raw, SNAPSHOT.floorRaw);
  assert.equal(detail.body.data.stale, true);
  assert.equal(detail.body.data.contractAddress, subject.address);
  assertFloor(floor, subject === base ? null : '880');
  assertDegraded(listings);
  assert.deepEqual(listings.body.meta, { stale: true, staleSources: ['indexer-mirror'] });
  const rows = listings.body.data.map((row: any) => [row.tokenId, row.price.raw, row.marketplace]);
  assert.deepEqual(rows, subject === solana ? [] : [['1', '1000', 'MERCAT']]);
  assertRefused(sales, 502, 'upstream_error');
}

/** The floors of a collection whose book cannot be read: the ask of the snapshot, and the last buyer floor or none. */
export function assertFloor(answer: TestAnswer, lastGood: string | null): void {
  assertDegraded(answer);
  const { askFloor, buyerFloor, stale, aggregated } = answer.body.data;
  assert.deepEqual(
    { ask: askFloor.raw, buyer: buyerFloor?.raw ?? null, stale, aggregated },
    { ask: SNAPSHOT.floorRaw, buyer: lastGood, stale: lastGood !== null, aggregated: true },
  );
}

/** A 200 that shared caches may keep for a moment only, and that says nothing of what is behind the service. */
export function assertDegraded(answer: TestAnswer): void {
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.headers.get('cache-control') ?? '', /s-maxage=1\b/);
  assertTellsNothing(answer);
}

export function assertRefused(answer: TestAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.body.error.code, code);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  if (status === 503) assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
  assertTellsNothing(answer);
}

const INSIDE = /127\.0\.0\.1|localhost|postgres|ECONN|\bat .*\.ts|node_modules|select |indexer\.|main\.|pg_|relation/i;
const ports = new Set<string>();

/** No stack, SQL, host or port. */
export function assertTellsNothing({ text }: TestAnswer): void {
  assert.doesNotMatch(text, INSIDE);
  assert.doesNotMatch(text, new RegExp(`\\b(${[...ports].join('|')})\\b`));
}

/** Locks a table against all reads until the result is called. */
export function lockTable(
  t: TestContext,
  databaseUrl: string | undefined,
  table: string,
): Promise<() => Promise<void>> {
  return hold(t, databaseUrl, `lock table ${table} in access exclusive mode`);
}

/** Keeps the indexer's migrations waiting until the result is called. */
export function lockMigrations(t: TestContext, databaseUrl: string): Promise<() => Promise<void>> {
  return hold(t, databaseUrl, `select pg_advisory_xact_lock(hashtextextended('mercat migrations indexer', 0))`);
}

async function hold(t: TestContext, databaseUrl: string | undefined, sql: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl ?? '' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  await client.query(sql);
  let ended: Promise<void> | null = null;
  const release = () => (ended ??= client.end());
  t.after(release);
  return release;
}

export async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Connections of services to the server, as it sees them. */
export function countConnections(serverUrl: string): Promise<number> {
  return countActivity(serverUrl, `application_name = 'mercat'`);
}

/** Statements of services that wait for a lock. */
export function countWaiting(serverUrl: string): Promise<number> {
  return countActivity(serverUrl, `application_name = 'mercat' and wait_event_type = 'Lock'`);
}

function countActivity(serverUrl: string, condition: string): Promise<number> {
  return withClient(serverUrl, async (client) => {
    const sql = `select count(*) from pg_stat_activity where ${condition}`;
    const { rows } = await client.query<{ count: string }>(sql);
    return Number(rows[0]?.count);
  });
}
