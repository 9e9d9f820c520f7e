// The small market of the degradation tests. This file also checks the responses: with all databases, and without the indexer.

import assert from 'node:assert/strict';
import { toSolanaSignature } from '../../sample/random.ts';
import type { TwoDatabaseService } from './two-databases.ts';
import type { TestCollection } from '../support/service/market.ts';
import { BUYER, SELLER, SOLANA_SELLER, START, mintOf, newCollection } from '../support/service/market.ts';
import { until } from '../support/until.ts';
import { withClient } from '../support/engines/postgres-locks.ts';
import type { TestResponse } from '../support/service/service.ts';

/** A service that has not recovered after this time fails its test. The time is long enough for a slow machine. */
export const RECOVERY_MAX_MS = 30_000;

const SNAPSHOT = { floorRaw: '640', volumeAllTime: 5.5, supply: 100, owners: 50 };
const ETHER = 10n ** 18n;

export const ethereum = newCollection({ slug: 'on-ethereum', royaltyBps: 500, snapshot: SNAPSHOT });
export const solana = newCollection({ slug: 'on-solana', chain: 'solana', royaltyBps: 500, snapshot: SNAPSHOT });
export const base = newCollection({ slug: 'on-base', chain: 'base', snapshot: SNAPSHOT });
const SUBJECTS = [ethereum, solana, base];
export const MINT = mintOf('breakable');

/** Every source has values for every collection, and no two sources have the same value. */
export const MARKET = [
  ...SUBJECTS.flatMap((subject) => {
    const [first, second] = subject === solana ? [MINT, mintOf('second')] : ['1', '2'];
    return [
      subject.collection(),
      subject.listing(second, 800, { buyerTotalRaw: '880' }),
      subject.sale(first, 3n * ETHER, {
        buyer: subject === solana ? SOLANA_SELLER : BUYER,
        tx: subject === solana ? toSolanaSignature('breakable') : `0x${'ab'.repeat(32)}`,
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
    // The row of asset 1 in the own order book replaces the cheaper mirrored row of the same asset.
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

/** Lists of the explore interface that are read from the indexer alone. */
const EXPLORED_FROM_INDEXER = [
  '/explore/v1/collections',
  exploredPath(ethereum, '/history'),
  exploredPath(ethereum, '/tokens'),
];

export const NO_WINDOWS = { allTime: null, sevenDay: null, twentyFourHour: null };
export const VOLUME = { allTime: 30, sevenDay: 20, twentyFourHour: 10 };
export const SALES = { allTime: 3, sevenDay: 2, twentyFourHour: 1 };

export function exploredPath({ slug }: TestCollection, rest = ''): string {
  return `/explore/v1/collections/${slug}${rest}`;
}

export async function assertComplete(service: TwoDatabaseService): Promise<void> {
  await Promise.all(SUBJECTS.map((subject) => assertCompleteCollection(service, subject)));
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
  await assertCompleteMarketPage(service);
}

/** Fails unless the present floor is in the last point of the history, in the collection and in the list of collections. */
async function assertCompleteMarketPage(service: TwoDatabaseService): Promise<void> {
  const history = exploredPath(ethereum, '/history');
  // The first floor is recorded when the collection record has been copied to the indexer, shortly after the import.
  await until(
    async () => {
      const { status, body } = await service.fresh(history);
      return status !== 200 || body.data.at(-1).floor.close !== null;
    },
    RECOVERY_MAX_MS,
    'no floor was recorded',
  );
  const [points, row, list] = await Promise.all(
    [history, exploredPath(ethereum), '/explore/v1/collections'].map((one) => service.fresh(one)),
  );
  assert.ok(points && row && list);
  assert.deepEqual([points.status, row.status, list.status], [200, 200, 200]);
  const { floor, listed } = points.body.data.at(-1);
  assert.deepEqual([floor.close.raw, listed], ['800', 7]);
  const { stats, sparkline, stale } = row.body.data;
  assert.deepEqual([stats.floor.raw, sparkline.at(-1), stale], ['800', floor.close.decimal, false]);
  assert.deepEqual(
    list.body.data.find(({ id }: { id: string }) => id === ethereum.id),
    row.body.data,
  );
}

export function untilComplete(service: TwoDatabaseService): Promise<void> {
  const isComplete = () =>
    assertComplete(service).then(
      () => true,
      () => false,
    );
  return until(isComplete, RECOVERY_MAX_MS, 'responses are not complete again');
}

async function assertCompleteCollection(service: TwoDatabaseService, subject: TestCollection): Promise<void> {
  const [detail, floor, listings, sales] = await readCollection(service, subject);
  const { floor: ask, ...stats } = detail.body.data.stats;
  assert.deepEqual(stats, { volume: VOLUME, sales: SALES, supply: 90, owners: 42, listedCount: 7 });
  assert.equal(ask.raw, '800');
  assert.equal(detail.body.data.stale, false);
  assert.match(detail.headers.get('cache-control') ?? '', /s-maxage=10\b/);
  const { askFloor, buyerFloor, stale } = floor.body.data;
  assert.deepEqual([askFloor.raw, buyerFloor.raw, stale], ['800', '880', false]);
  const raws = listings.body.data.map((row: any) => row.price.raw);
  assert.deepEqual(raws, subject === solana ? ['800'] : ['800', '1000']);
  assert.equal(listings.body.meta, undefined);
  assert.equal(sales.body.data.length, 1);
}

async function readCollection(service: TwoDatabaseService, { path }: TestCollection) {
  return Promise.all([
    service.fresh(path),
    service.fresh(`${path}/floor`),
    service.fresh(`${path}/listings`),
    service.fresh(`${path}/sales`),
  ]);
}

/** Waits until the last buyer floors on Ethereum and on Solana are stored. No last buyer floor is stored on Base. */
export async function untilFloorsAreStored(service: TwoDatabaseService): Promise<void> {
  await Promise.all(SUBJECTS.map(async (subject) => service.fresh(`${subject.path}/floor`)));
  await withClient(service.settings['DATABASE_URL'] ?? '', (client) =>
    until(
      async () => (await client.query('select from main.last_buyer_floor')).rowCount === 2,
      5_000,
      'the last buyer floors were not stored',
    ),
  );
}

/** Fails unless every response is as documented for an indexer that cannot be read. */
export async function assertWithoutIndexer(service: TwoDatabaseService): Promise<void> {
  await Promise.all(SUBJECTS.map((subject) => assertCollectionWithoutIndexer(service, subject)));
  const [listed, mirrored, onSolana] = await Promise.all(Object.values(token).map((one) => service.fresh(one)));
  assert.ok(listed && mirrored && onSolana);
  assertDegraded(listed);
  const { listing, owner, name, lastSale, rarity } = listed.body.data;
  assert.deepEqual([listing.price.raw, listing.marketplace, owner], ['1000', 'MERCAT', WALLET]);
  assert.deepEqual([name, lastSale, rarity.rank], [null, null, null]);
  for (const response of [mirrored, onSolana]) {
    assertDegraded(response);
    assert.equal(response.body.data.listing, null);
    assert.deepEqual(response.body.data.owner, { address: null, kind: 'unknown', label: null });
  }
  for (const response of await Promise.all(
    [...COLLECTION_LISTS, ...EXPLORED_FROM_INDEXER].map((one) => service.fresh(one)),
  )) {
    assertErrorResponse(response, 502, 'upstream_error');
  }
  await assertMarketRowWithoutIndexer(service);
}

async function assertMarketRowWithoutIndexer(service: TwoDatabaseService): Promise<void> {
  const response = await service.fresh(exploredPath(ethereum));
  assertDegraded(response);
  const { stats, sparkline, stale } = response.body.data;
  assert.deepEqual([stats.floor.raw, stats.buyerFloor?.price.raw, stale], ['800', '880', true]);
  assert.equal(stats.buyerFloor.stale, true);
  const unknown = { oneHour: null, twentyFourHour: null, sevenDay: null, thirtyDay: null };
  assert.deepEqual([stats.floorChange, stats.volumeChange], [unknown, unknown]);
  assert.deepEqual(new Set(sparkline), new Set([null]));
}

async function assertCollectionWithoutIndexer(service: TwoDatabaseService, subject: TestCollection): Promise<void> {
  const [detail, floor, listings, sales] = await readCollection(service, subject);
  assertDegraded(detail);
  const { floor: ask, ...stats } = detail.body.data.stats;
  const unknown = { volume: NO_WINDOWS, sales: NO_WINDOWS, owners: null, listedCount: null };
  assert.deepEqual(stats, { ...unknown, supply: SNAPSHOT.supply });
  assert.equal(ask.raw, askWithoutIndexer(subject));
  assert.equal(detail.body.data.stale, true);
  assert.equal(detail.body.data.contractAddress, subject.address);
  assertFloor(floor, { ask: askWithoutIndexer(subject), buyer: subject === base ? null : '880' });
  assertDegraded(listings);
  assert.deepEqual(listings.body.meta, { stale: true, staleSources: ['indexer-mirror'] });
  const rows = listings.body.data.map((row: any) => [row.tokenId, row.price.raw, row.marketplace]);
  assert.deepEqual(rows, subject === solana ? [] : [['1', '1000', 'MERCAT']]);
  assertErrorResponse(sales, 502, 'upstream_error');
}

/**
 * The ask floor while the mirror cannot be read: the floor of the own order book, but at most the ask of the last buyer floor, which is stored on
 * Ethereum and Solana. Solana has no own order book, so its floor is that of the snapshot.
 */
export function askWithoutIndexer(subject: TestCollection, { last = true } = {}): string {
  if (subject === solana) return SNAPSHOT.floorRaw;
  return subject === ethereum && last ? '800' : '1000';
}

/** Fails unless the floors are those of a collection whose mirrored listings cannot be read. `buyer` is the last buyer floor. */
export function assertFloor(response: TestResponse, expected: { ask: string; buyer: string | null }): void {
  assertDegraded(response);
  const { askFloor, buyerFloor, stale, aggregated } = response.body.data;
  assert.deepEqual(
    { ask: askFloor.raw, buyer: buyerFloor?.raw ?? null, stale, aggregated },
    { ...expected, stale: expected.buyer !== null, aggregated: true },
  );
}

/** Fails unless the response is a 200, shared caches may keep it for one second only, and it has no internal details. */
export function assertDegraded(response: TestResponse): void {
  assert.equal(response.status, 200, response.text);
  assert.match(response.headers.get('cache-control') ?? '', /s-maxage=1\b/);
  assertNoInternals(response);
}

export function assertErrorResponse(response: TestResponse, status: number, code: string): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.body.error.code, code);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  if (status === 503) assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
  assertNoInternals(response);
}

const INTERNALS =
  /127\.0\.0\.1|localhost|postgres|ECONN|\bat .*\.ts|node_modules|select |indexer\.|main\.|pg_|relation/i;
/** Ports of the databases. No response may contain one of them. */
export const databasePorts = new Set<string>();

/** Fails if the response contains a stack trace, SQL, a host or a port. The URL of the page about an error begins with the address of the service. */
export function assertNoInternals(response: TestResponse): void {
  const text = response.text.replace(/"docs":"[^"]*\/docs\/errors\.md#[a-z_]+"/, '');
  assert.doesNotMatch(text, INTERNALS);
  assert.doesNotMatch(text, new RegExp(`\\b(${[...databasePorts].join('|')})\\b`));
}
