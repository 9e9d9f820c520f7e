// OpenSea v2: how its responses become records and amounts, and that no fault leads to an incorrect record.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { parseAddress, parseAssetId } from '../../../src/core/address.ts';
import type { Address, AssetId } from '../../../src/core/address.ts';
import type { Chain } from '../../../src/core/chains.ts';
import { createChains } from '../../../src/core/chains.ts';
import { parseRecord } from '../../../src/intake/records/parse.ts';
import { createLog } from '../../../src/core/log.ts';
import { parseExactJson } from '../../../src/upstreams/exact-json.ts';
import {
  findOpenSeaContract,
  readOpenSeaCollection,
  readOpenSeaStats,
} from '../../../src/upstreams/opensea/collection.ts';
import {
  parseOpenSeaListings,
  walkOpenSeaCheapest,
  walkOpenSeaListings,
} from '../../../src/upstreams/opensea/listings.ts';
import { parseOpenSeaSales, walkOpenSeaSales } from '../../../src/upstreams/opensea/sales.ts';
import type { OpenSeaCollection } from '../../../src/upstreams/opensea/names.ts';
import { isOpenSeaChain, toOpenSeaChain } from '../../../src/upstreams/opensea/names.ts';
import { readOpenSeaToken, walkOpenSeaTokens } from '../../../src/upstreams/opensea/tokens.ts';
import type { ParsedPage, SourceRecord } from '../../../src/upstreams/response-rows.ts';
import { emptyPage } from '../../../src/upstreams/response-rows.ts';
import { toReasons } from '../../support/replay/every-fault.ts';
import type { Budget } from '../../../src/upstreams/budget.ts';
import { ProcessBudget } from '../../../src/upstreams/budget.ts';
import { UpstreamClient, UpstreamFailure } from '../../../src/upstreams/upstream-client.ts';
import type { WalkEnd } from '../../../src/upstreams/walk.ts';
import { parseFixture, readFixture } from '../../support/fixtures.ts';
import { watchLiveMemory } from '../../support/measure/live-memory.ts';
import type { ServedCollection, ServedListing } from '../../support/replay/opensea.ts';
import { APES, makeAddress, makeCollection, makeHash, openseaRoutes } from '../../support/replay/opensea.ts';
import type { ReplayFault } from '../../support/replay/replay.ts';
import { REPLAY_FAULTS, startReplayServer } from '../../support/replay/replay.ts';

const CHAINS = createChains();
const AT = Date.parse('2026-09-01T00:00:00Z');
const TIMEOUT_MS = 200;
/** Ends a test that hangs; no expectation of speed. */
const HANG_MS = 60_000;
const WETH_ON_POLYGON = '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619';
const WAPE = '0x48b62137edfa95a428d35c09e44256a739f6b557';
const USDC = { token: `0x${'dc'.repeat(20)}`, symbol: 'USDC', decimals: 6 };

function chainOf(id: string): Chain {
  return CHAINS.get(id) ?? assert.fail(id);
}

function addressOf(text: string): Address {
  return parseAddress('evm', text) ?? assert.fail(text);
}

function assetOf(text: string): AssetId {
  return parseAssetId('evm', text) ?? assert.fail(text);
}

const apes: OpenSeaCollection = {
  slug: APES.slug,
  chain: chainOf('apechain'),
  contractAddress: addressOf(APES.contract),
};
/** A contract that the replay server does not have, and the contract of `orders-2023.json`. */
const kites: OpenSeaCollection = {
  slug: 'paper-kites',
  chain: chainOf('ethereum'),
  contractAddress: addressOf('0x7f57bc32ee0034fa9a41fac7df1d2c0e5782b9ad'),
};

async function start(t: TestContext, collections: readonly ServedCollection[] = []) {
  const routes = openseaRoutes(collections);
  const replay = await startReplayServer(t, routes);
  const connect = (timeoutMs?: number, budget?: Budget) => connectTo(replay.url, timeoutMs, budget);
  return { replay, routes, connect, upstream: connect() };
}

function connectTo(baseUrl: string, timeoutMs = 5_000, budget: Budget | null = null) {
  return new UpstreamClient({
    budget,
    name: 'opensea',
    baseUrl,
    headers: { 'x-api-key': 'none' },
    timeoutMs,
    log: createLog('silent'),
    clock: Date.now,
    random: () => 0.5,
    retryMs: 1,
    breakerOpenMs: 0,
  });
}

type Walked = { records: SourceRecord[]; rejected: string[]; skipped: number; end: WalkEnd };

async function walk(pages: AsyncGenerator<ParsedPage, WalkEnd>): Promise<Walked> {
  const all: Omit<Walked, 'end'> = { records: [], rejected: [], skipped: 0 };
  for (;;) {
    const page = await pages.next();
    if (page.done) return { ...all, end: page.value };
    all.records.push(...page.value.records);
    all.rejected.push(...toReasons(page.value));
    all.skipped += page.value.skipped;
  }
}

/** Fails unless the intake accepts every record. */
function assertTaken(records: readonly SourceRecord[]): void {
  const context = { chains: CHAINS, serviceName: 'mercat', seaport: new Map(), now: () => AT };
  for (const record of records) {
    const parsed = parseRecord(context, record);
    assert.ok(parsed.record, `${JSON.stringify(record)}: ${parsed.record ? '' : parsed.reason}`);
  }
}

const listing = (number: number, part: Partial<ServedListing> = {}): ServedListing => ({
  tokenId: String(number),
  seller: makeAddress(number % 7),
  total: 10n ** 18n + BigInt((number * 7_919) % 1_000),
  hash: makeHash(number + 1),
  ...part,
});

function makeMarket(part: Partial<ServedCollection> = {}): ServedCollection {
  return makeCollection({
    tokens: Array.from({ length: 450 }, (_, index) => String(index)),
    listings: Array.from({ length: 450 }, (_, index) => listing(index)),
    sales: Array.from({ length: 250 }, (_, index) => ({
      tokenId: String(index),
      raw: 10n ** 18n,
      tx: makeHash(90_000 + index),
      soldAt: 1_770_000_000 + index,
    })),
    ...part,
  });
}

test('every chain has the name that OpenSea gives it', () => {
  assert.equal(toOpenSeaChain(chainOf('apechain')), 'ape_chain');
  for (const id of ['ethereum', 'polygon', 'base', 'ink', 'abstract']) assert.equal(toOpenSeaChain(chainOf(id)), id);
  assert.equal(toOpenSeaChain(chainOf('solana')), null);
  assert.ok(isOpenSeaChain('matic', chainOf('polygon')));
  assert.ok(!isOpenSeaChain('apechain', chainOf('apechain')) && !isOpenSeaChain('ethereum', chainOf('base')));
});

test('statistics become exact amounts', async (t) => {
  const statistics = { path: /.*/, origin: 'schema', answer: () => readFixture('opensea/stats.json') } as const;
  const { url } = await startReplayServer(t, [statistics]);
  const { records, rejected } = await readOpenSeaStats(connectTo(url), apes, { at: AT });
  const fields = { chain: 'apechain', contractAddress: APES.contract, at: '2026-09-01T00:00:00.000Z' };
  assert.deepEqual(rejected, []);
  assert.deepEqual(records, [
    { kind: 'stats', ...fields, floorRaw: '1507500000000000000', owners: 2 },
    {
      kind: 'analytics',
      ...fields,
      floorRaw: '1507500000000000000',
      volume: { allTime: 52.41300000000001, twentyFourHour: 0.1458, sevenDay: 0.30000000000000004 },
      sales: { allTime: 3_140, twentyFourHour: 11, sevenDay: 23 },
    },
  ]);
  assertTaken(records);
});

test('a page of listings becomes records, and a listing in another currency is left out with its reason', () => {
  const { listings } = parseExactJson(Buffer.from(readFixture('opensea/listings.json'))) as { listings: unknown[] };
  const { records, rejected, unsupported, skipped } = parseOpenSeaListings(listings, apes);
  assert.deepEqual([rejected, skipped], [[], 0]);
  assert.deepEqual(unsupported, ['consideration: is in another currency']);
  const [{ order_hash: hash }] = parseFixture('opensea/listings.json').listings;
  assert.deepEqual(records[0], {
    kind: 'listing',
    source: 'opensea',
    chain: 'apechain',
    contractAddress: APES.contract,
    tokenId: '1',
    id: hash,
    orderHash: hash,
    priceRaw: '1500000000000000000',
    buyerTotalRaw: '1500000000000000000',
    seller: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
    status: 'active',
    timestamp: '2025-11-13T02:13:20.000Z',
    expiresAt: '2026-05-12T02:13:20.000Z',
  });
  assert.equal(records.length, 2);
  assertTaken(records);
});

test('an order in the format of 2023 becomes the same listing as in the current format', () => {
  const { orders } = parseExactJson(Buffer.from(readFixture('opensea/orders-2023.json'))) as { orders: unknown[] };
  const { records, rejected } = parseOpenSeaListings(orders, kites);
  const [order] = parseFixture('opensea/orders-2023.json').orders;
  const today = {
    order_hash: order.order_hash,
    chain: 'ethereum',
    protocol_data: order.protocol_data,
    protocol_address: order.protocol_address,
    asset: { identifier: '41', contract: kites.contractAddress },
    remaining_quantity: order.remaining_quantity,
    order_created_at: order.listing_time,
    price: { current: { currency: 'ETH', decimals: 18, value: order.current_price } },
    type: 'basic',
    status: 'ACTIVE',
  };
  const rows = parseExactJson(Buffer.from(JSON.stringify([today]))) as unknown[];
  assert.deepEqual([rejected, records], [[], parseOpenSeaListings(rows, kites).records]);
  assert.deepEqual(records[0], {
    kind: 'listing',
    source: 'opensea',
    chain: 'ethereum',
    contractAddress: kites.contractAddress,
    tokenId: '41',
    id: order.order_hash,
    orderHash: order.order_hash,
    priceRaw: '250000000000000000',
    buyerTotalRaw: '250000000000000000',
    seller: '0x6813eb9362372eef6200f3b1dbc3f819671cba69',
    status: 'active',
    timestamp: '2023-03-01T10:10:00.000Z',
    expiresAt: '2023-08-28T10:10:00.000Z',
  });
  assertTaken(records);
});

test('the slug is found by the contract, and the collection by the slug', async (t) => {
  const market = makeMarket();
  const { upstream } = await start(t, [market]);
  assert.deepEqual(await findOpenSeaContract(upstream, apes), { slug: APES.slug, tokenStandard: 'ERC-721' });
  assert.equal(await findOpenSeaContract(upstream, kites), null, 'OpenSea does not have the contract');
  assert.equal(await findOpenSeaContract(upstream, { ...apes, chain: chainOf('solana') }), null);
  const { records, rejected } = await readOpenSeaCollection(upstream, apes);
  assert.deepEqual(rejected, []);
  assert.deepEqual(records, [
    {
      kind: 'collection',
      chain: 'apechain',
      contractAddress: APES.contract,
      name: 'Ape Things',
      slug: APES.slug,
      image: 'https://pictures.example/things.png',
      banner: 'https://pictures.example/banner.png',
      description: 'Things of apes, and “quotes”.',
      createdAt: '2024-10-20T08:00:00.123456+00:00',
      royaltyBps: 475,
      snapshot: { supply: 450 },
    },
  ]);
  assertTaken(records);
  market.createdText = '2024-10-20';
  assert.equal((await readOpenSeaCollection(upstream, apes)).records[0]?.['createdAt'], '2024-10-20T00:00:00Z');
  const other = await readOpenSeaCollection(upstream, { ...apes, contractAddress: addressOf(makeAddress(9)) });
  assert.deepEqual(other.rejected, ['contracts: do not include the followed contract']);
});

test('a floor is exact, in the chain’s own currency, or unknown', async (t) => {
  const market = makeMarket();
  const { upstream } = await start(t, [market]);
  const floorOf = async (floorText: string, symbol = 'APE') => {
    Object.assign(market, { floorText, symbol });
    const { records } = await readOpenSeaStats(upstream, apes, { at: AT });
    return records.map((record) => record['floorRaw']);
  };
  assert.deepEqual(await floorOf('12345678901.234567890123456789'), Array(2).fill('12345678901234567890123456789'));
  assert.deepEqual(await floorOf('1.5e-05', 'WAPE'), Array(2).fill('15000000000000'));
  for (const [text, symbol] of [
    ['0', 'APE'],
    ['0.0000000000000000001', 'APE'],
    ['1.5', 'ETH'],
    ['1.5', 'USDC'],
  ] as const) {
    assert.deepEqual(await floorOf(text, symbol), [undefined, undefined], `${text} ${symbol}`);
  }
});

test('a token comes with its rank and its owner, and the tokens of a contract with names and pictures', async (t) => {
  const { upstream } = await start(t, [makeMarket()]);
  const { records } = await readOpenSeaToken(upstream, apes, assetOf('7'));
  assert.deepEqual(records, [
    {
      kind: 'token',
      chain: 'apechain',
      contractAddress: APES.contract,
      tokenId: '7',
      name: 'Thing #7',
      image: 'https://pictures.example/7.png',
      rarityRank: 12,
      owner: makeAddress(3),
    },
  ]);
  const all = await walk(walkOpenSeaTokens(upstream, apes));
  assert.deepEqual(all.end, { gap: null, pages: 3, rows: 450 });
  assert.deepEqual(new Set(all.records.map((record) => record['tokenId'])).size, 450);
  assertTaken([...records, ...all.records]);
  await assert.rejects(readOpenSeaToken(upstream, apes, assetOf('999999')), { reason: 'not-found' });
});

test('the walk over all tokens leaves half of the burst of requests to other sources', async (t) => {
  const { connect, replay } = await start(t, [makeMarket()]);
  const upstream = connect(5_000, new ProcessBudget({ perHour: 40, clock: () => 0 }));
  const tokens = walkOpenSeaTokens(upstream, apes, { signal: AbortSignal.timeout(300) });
  await assert.rejects(walk(tokens), { reason: 'aborted' });
  assert.equal(replay.count(), 2, 'two of the burst of four requests');
  const book = walkOpenSeaListings(upstream, apes, { signal: AbortSignal.timeout(300) });
  await assert.rejects(walk(book), { reason: 'over-budget' });
  assert.equal(replay.count(/listings/), 2);
});

test('all pages of a book are read, and the walk is reported as complete', async (t) => {
  const market = makeMarket();
  const { upstream, replay } = await start(t, [market]);
  const { records, rejected, end } = await walk(walkOpenSeaListings(upstream, apes));
  assert.deepEqual([rejected, end], [[], { gap: null, pages: 3, rows: 450 }]);
  assert.deepEqual(
    records.map((record) => [record['id'], record['priceRaw'], record['seller']]),
    market.listings.map(({ hash, total, seller }) => [hash, total.toString(), seller]),
  );
  assertTaken(records);
  assert.equal(replay.count(/limit=200/), 3);
  market.listings = [];
  assert.deepEqual((await walk(walkOpenSeaListings(upstream, apes))).end, {
    gap: null,
    pages: 1,
    rows: 0,
  });
});

test('the cheapest part of a book is complete up to its last price; the end of the book and a wrong sort order are recognised', async (t) => {
  const market = makeMarket();
  const { upstream, replay } = await start(t, [market]);
  const sorted = market.listings.map(({ total }) => total).toSorted((a, b) => (a < b ? -1 : 1));
  const part = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 }));
  assert.deepEqual(part.end, { gap: null, pages: 2, rows: 400, below: sorted[399] });
  assert.deepEqual(
    part.records.map((record) => BigInt(String(record['priceRaw']))),
    sorted.slice(0, 400),
  );
  const all = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 3 }));
  assert.deepEqual(all.end, { gap: null, pages: 3, rows: 450, below: null });
  replay.fail('wrong-types', { skip: 1 });
  await assert.rejects(walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 })), { name: 'UpstreamFailure' });
  replay.heal();
  // The price of such an order is that of all its units. The list sorts it by that price, so it comes after dearer units or not at all.
  market.standard = 'erc1155';
  const unit = listing(2, { total: 2n * 10n ** 18n, quantity: 4 });
  market.listings = [listing(1, { total: 10n ** 18n }), unit];
  const units = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 }));
  assert.deepEqual(units.end, { gap: null, pages: 1, rows: 2, below: null }, 'the complete book, in any sort order');
  market.listings = [...Array.from({ length: 400 }, (_, n) => listing(n + 10, { total: 10n ** 18n })), unit];
  const many = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 }));
  assert.deepEqual(
    many.end,
    { gap: null, pages: 2, rows: 400, below: 0n },
    'no listing is expected to be in this part',
  );
  market.standard = 'erc721';
  const disorder = [listing(1, { total: 2n }), listing(2, { total: 1n })];
  disorder.toSorted = () => disorder;
  market.listings = disorder;
  const { end } = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 }));
  assert.deepEqual(end.gap, 'out of order');
});

test('an order that has not begun is left out until a later run', async (t) => {
  const market = makeMarket();
  const begins = 1_790_000_000;
  market.listings = [listing(1, { listedAt: begins }), listing(2, { listedAt: begins + 1 })];
  const { upstream } = await start(t, [market]);
  const { records, rejected, end } = await walk(walkOpenSeaListings(upstream, apes, { begunBy: begins * 1_000 }));
  assert.deepEqual([records.map((record) => record['tokenId']), rejected, end.gap === null], [['1'], [], true]);
  assert.equal(
    (await walk(walkOpenSeaListings(upstream, apes, { begunBy: begins * 1_000 + 1_000 }))).records.length,
    2,
  );
});

test('a price keeps all of its twenty digits and more, and an order of several units has the price of one unit, rounded up', async (t) => {
  const market = makeMarket({ standard: 'erc1155' });
  market.listings = [
    listing(1, { total: 12_345_678_901_234_567_890_123n }),
    listing(2, { total: 10n ** 18n + 1n, quantity: 3 }),
    listing(3, { currency: { token: WAPE, symbol: 'WAPE', decimals: 18 } }),
    listing(4, { tokenId: (2n ** 256n - 1n).toString() }),
  ];
  const { upstream } = await start(t, [market]);
  const { records, rejected } = await walk(walkOpenSeaListings(upstream, apes));
  assert.deepEqual(rejected, []);
  assert.deepEqual(
    records.slice(0, 2).map((record) => record['priceRaw']),
    ['12345678901234567890123', '333333333333333334'],
  );
  assert.equal(records[3]?.['tokenId'], (2n ** 256n - 1n).toString());
  assertTaken(records);
});

test('a listing in another currency is left out and counted, and the walk is still complete', async (t) => {
  const weth = { token: WETH_ON_POLYGON, symbol: 'WETH', decimals: 18 };
  const listings = Array.from({ length: 20 }, (_, index) => listing(index, index % 2 === 0 ? { currency: weth } : {}));
  const { upstream } = await start(t, [makeMarket({ chain: 'matic', symbol: 'POL', listings })]);
  const { records, rejected, end } = await walk(walkOpenSeaListings(upstream, { ...apes, chain: chainOf('polygon') }));
  assert.equal(records.length, 10);
  assert.deepEqual(rejected, Array(10).fill('unsupported: consideration: is in another currency'));
  assert.equal(end.gap, null);
});

type Json = { [name: string]: Json } & Json[] & string & number & boolean;

/** A valid row of the given market, with changes. */
async function changeRow(
  path: string,
  name: string,
  change: (row: Json) => unknown,
  t: TestContext,
): Promise<unknown[]> {
  const { replay } = await start(t, [makeMarket()]);
  const answer = (await (await fetch(replay.url + path)).json()) as Record<string, Json[]>;
  const row = answer[name]?.[0] ?? assert.fail('no row');
  change(row);
  return [(parseExactJson(Buffer.from(JSON.stringify([row]))) as unknown[])[0]];
}

const orderOf = (row: Json) => row['protocol_data']?.['parameters'] ?? assert.fail('no order');
const set = (target: unknown, fields: object) => Object.assign(target as object, fields);

const BAD_LISTINGS: [string, (row: Json) => unknown, RegExp][] = [
  ['no order behind it', (row) => delete row['protocol_data'], /^protocol_data: must be an object/],
  ['no offerer', (row) => set(orderOf(row), { offerer: null }), /^offerer: is missing/],
  ['an offerer that is none', (row) => set(orderOf(row), { offerer: '0x12' }), /^offerer: is not an address/],
  ['nothing offered', (row) => set(orderOf(row), { offer: [] }), /^offer: is empty/],
  [
    'a bundle',
    (row) => set(orderOf(row), { offer: [orderOf(row)['offer']?.[0], orderOf(row)['offer']?.[0]] }),
    /^unsupported: offer: is a bundle/,
  ],
  [
    'a criteria offer',
    (row) => set(orderOf(row)['offer']?.[0], { itemType: 4 }),
    /^unsupported: offer\[0\]\.itemType: /,
  ],
  [
    'a payment offered',
    (row) => set(orderOf(row)['offer']?.[0], { itemType: 1 }),
    /^unsupported: offer\[0\]\.itemType: /,
  ],
  [
    'two of one',
    (row) => set(orderOf(row)['offer']?.[0], { startAmount: '2', endAmount: '2' }),
    /^offer\[0\]\.startAmount: is not 1/,
  ],
  [
    'none of one',
    (row) => set(orderOf(row)['offer']?.[0], { startAmount: '0', endAmount: '0' }),
    /is not a fixed amount/,
  ],
  [
    'a token id that is a number',
    (row) => set(orderOf(row)['offer']?.[0], { identifierOrCriteria: 7 }),
    /must be a string/,
  ],
  ['another asset than offered', (row) => set(row['asset'], { identifier: '8' }), /^asset\.identifier/],
  ['another contract than offered', (row) => set(row['asset'], { contract: makeAddress(5) }), /^asset\.contract/],
  [
    'a swap',
    (row) => set(orderOf(row)['consideration']?.[0], { itemType: 2 }),
    /^unsupported: consideration: asks for a token/,
  ],
  ['nothing asked', (row) => set(orderOf(row), { consideration: [] }), /^consideration: is empty/],
  ['a price of nothing', (row) => set(row['price']?.['current'], { value: '0' }), /^price\.current\.value: is zero/],
  ['a negative price', (row) => set(row['price']?.['current'], { value: '-1' }), /^value: is not an amount/],
  ['a float', (row) => set(row['price']?.['current'], { value: 1e18 }), /^value: must be a string/],
  [
    'a price that the order does not ask',
    (row) => set(row['price']?.['current'], { value: '1' }),
    /^price\.current\.value: is not the price/,
  ],
  ['other decimals', (row) => set(row['price']?.['current'], { decimals: 6 }), /^price\.current\.decimals/],
  [
    'another name of the currency',
    (row) => set(row['price']?.['current'], { currency: 'USDC' }),
    /^unsupported: price\.current\.currency: /,
  ],
  ['a hash that is none', (row) => set(row, { order_hash: '0x12' }), /^order_hash: is not a hash/],
  ['nothing left', (row) => set(row, { remaining_quantity: 0 }), /^remaining_quantity/],
  ['more left than offered', (row) => set(row, { remaining_quantity: 9 }), /^remaining_quantity/],
  ['a status that nobody knows', (row) => set(row, { status: 'MAYBE' }), /^status: is unknown/],
  ['an auction', (row) => set(row, { type: 'english' }), /^unsupported: type: is an auction/],
  ['an end that is not a time', (row) => set(orderOf(row), { endTime: 'never' }), /^endTime: is not a time/],
  [
    'a time in milliseconds',
    (row) => set(row, { order_created_at: 1_763_000_000_000 }),
    /^order_created_at: is not a time/,
  ],
];

test('an invalid listing is rejected with its reason', async (t) => {
  for (const [what, change, reason] of BAD_LISTINGS) {
    const rows = await changeRow(`/api/v2/listings/collection/${APES.slug}/all`, 'listings', change, t);
    const page = parseOpenSeaListings(rows, apes);
    assert.deepEqual(page.records, [], what);
    assert.match(toReasons(page)[0] ?? '', reason, what);
  }
  for (const row of [null, 7, 'row', [], true]) assert.equal(parseOpenSeaListings([row], apes).rejected.length, 1);
});

test('a listing without a signature is accepted, and one that cannot be filled or is of another contract is left out', async (t) => {
  const path = `/api/v2/listings/collection/${APES.slug}/all`;
  const harvest = async (change: (row: Json) => unknown) =>
    parseOpenSeaListings(await changeRow(path, 'listings', change, t), apes);
  const unsigned = await harvest((row) => set(row['protocol_data'], { signature: null }));
  assert.equal(unsigned.records.length, 1);
  const endless = await harvest((row) => set(orderOf(row), { endTime: (2n ** 256n - 1n).toString() }));
  assert.equal(endless.records[0]?.['expiresAt'], undefined);
  const upper = await harvest((row) =>
    set(orderOf(row), { offerer: makeAddress(3).toUpperCase().replace('0X', '0x') }),
  );
  assert.equal(upper.records[0]?.['seller'], makeAddress(3));
  for (const change of [
    (row: Json) => set(row, { status: 'INACTIVE' }),
    (row: Json) => set(row, { chain: 'ethereum' }),
    (row: Json) => {
      set(row['asset'], { contract: makeAddress(5) });
      set(orderOf(row)['offer']?.[0], { token: makeAddress(5) });
    },
  ]) {
    assert.deepEqual(await harvest(change), { ...emptyPage(), skipped: 1 });
  }
  const falling = await harvest((row) => {
    set(orderOf(row)['consideration']?.[0], { endAmount: '1000' });
    set(row['price']?.['current'], { value: '500000000000000000' });
  });
  assert.equal(falling.records[0]?.['priceRaw'], '500000000000000000');
});

test('sales are read back to a given time, newest first, and the amount of a sale in another currency is kept as text', async (t) => {
  const market = makeMarket();
  const [first, second] = market.sales;
  set(first, { currency: USDC, raw: 1_500_000n });
  set(second, { currency: { token: WAPE, symbol: 'WAPE', decimals: 18 } });
  const { upstream, replay } = await start(t, [market]);
  const { records, rejected, end } = await walk(walkOpenSeaSales(upstream, apes, { since: null }));
  assert.deepEqual([rejected, end], [[], { gap: null, pages: 2, rows: 250 }]);
  assert.equal(records.at(-1)?.['price'], '1500000 USDC');
  assert.deepEqual(records.at(-2), {
    kind: 'sale',
    source: 'opensea',
    chain: 'apechain',
    contractAddress: APES.contract,
    tokenId: '1',
    price: '1000000000000000000',
    seller: makeAddress(1),
    buyer: makeAddress(2),
    timestamp: '2026-02-02T02:40:01.000Z',
    listingId: makeHash(1_770_000_001),
    tx: makeHash(90_001),
  });
  assertTaken(records);
  const later = await walk(walkOpenSeaSales(upstream, apes, { since: 1_770_000_199_999 }));
  assert.equal(later.records.length, 50);
  assert.equal(replay.count(/event_type=sale&after=1770000199&limit=200/), 1);
});

const BAD_SALES: [string, (row: Json) => unknown, RegExp][] = [
  ['a bundle', (row) => delete row['nft'], /^unsupported: nft: is missing/],
  ['no payment', (row) => delete row['payment'], /^payment: must be an object/],
  ['a payment of nothing', (row) => set(row['payment'], { quantity: '0' }), /^payment\.quantity: is zero/],
  ['a payment in a float', (row) => set(row['payment'], { quantity: 1.5 }), /^quantity: must be a string/],
  ['a payment with a point', (row) => set(row['payment'], { quantity: '1.5' }), /^payment\.quantity: is not an amount/],
  ['a coin by another name', (row) => set(row['payment'], { symbol: 'ETH' }), /^payment\.symbol/],
  ['a coin in other units', (row) => set(row['payment'], { decimals: 9 }), /^payment\.decimals/],
  ['a transaction that is none', (row) => set(row, { transaction: 'abc' }), /^transaction: is not a hash/],
  ['no quantity', (row) => set(row, { quantity: 0 }), /^quantity: is zero/],
  ['no time', (row) => set(row, { event_timestamp: -1 }), /^event_timestamp: is not a time/],
  ['a buyer that is none', (row) => set(row, { buyer: 'bob.eth' }), /^buyer: is not an address/],
];

test('an invalid sale is rejected with its reason, and an event that is not a sale is left out', async (t) => {
  const path = `/api/v2/events/collection/${APES.slug}`;
  for (const [what, change, reason] of BAD_SALES) {
    const page = parseOpenSeaSales(await changeRow(path, 'asset_events', change, t), apes);
    assert.deepEqual(page.records, [], what);
    assert.match(toReasons(page)[0] ?? '', reason, what);
  }
  const transfer = await changeRow(path, 'asset_events', (row) => set(row, { event_type: 'transfer' }), t);
  assert.deepEqual(parseOpenSeaSales(transfer, apes), { ...emptyPage(), skipped: 1 });
  // The symbol of a currency may be misleading, so the currency is named by its contract.
  const odd = await changeRow(
    path,
    'asset_events',
    (row) => set(row['payment'], { symbol: '', token_address: USDC.token }),
    t,
  );
  assert.match(parseOpenSeaSales(odd, apes).rejected[0] ?? '', /^symbol: is missing/);
});

/** Reads every source of OpenSea in the order of a sync. A failed source does not stop the others, as with the tasks of a sync. */
async function readAll(upstream: UpstreamClient) {
  const records: SourceRecord[] = [];
  const ends: WalkEnd[] = [];
  const failures: string[] = [];
  const attempt = async (work: () => Promise<ParsedPage | Walked>) => {
    try {
      const told = await work();
      records.push(...told.records);
      if ('end' in told) ends.push(told.end);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      failures.push(error.reason);
    }
  };
  await attempt(async () => {
    await findOpenSeaContract(upstream, apes);
    return readOpenSeaCollection(upstream, apes);
  });
  await attempt(() => readOpenSeaStats(upstream, apes, { at: AT }));
  await attempt(() => walk(walkOpenSeaListings(upstream, apes)));
  await attempt(() => walk(walkOpenSeaSales(upstream, apes, { since: null })));
  await attempt(() => walk(walkOpenSeaTokens(upstream, apes)));
  await attempt(() => readOpenSeaToken(upstream, apes, assetOf('7')));
  return { records, ends, failures };
}

const REQUESTS = 12;

/** Faults that take long because the client waits: these run concurrently. */
const WAITING: ReadonlySet<ReplayFault> = new Set(['slow', 'hang', 'hang-in-body', 'drip']);
const GROWTH_MAX = 200 * 2 ** 20;

test('under every fault at every request the reads end in time and give no incorrect row, and they succeed after the fault', async (t) => {
  const { replay, connect } = await start(t, [makeMarket()]);
  const truth = await readAll(connect());
  assert.equal(replay.count(), REQUESTS);
  assert.deepEqual([truth.failures, truth.ends.map((end) => end.gap === null)], [[], [true, true, true]]);
  const identity = ({ kind, ...rest }: SourceRecord) =>
    JSON.stringify([kind, rest['id'] ?? rest['tx'] ?? rest['tokenId']]);
  const whole = new Map(truth.records.map((record) => [identity(record), record]));
  // A token in a list has no owner and no rank. A field that the response lacks is left out of the record.
  const assertTrue = (record: SourceRecord, where: string) => {
    const known = whole.get(identity(record));
    for (const [field, value] of Object.entries(record)) assert.deepEqual(value, known?.[field], `${where}: ${field}`);
  };
  const tryFault = async (fault: ReplayFault) => {
    const broken = await start(t, [makeMarket()]);
    // The fault occurs once at each request, and then at every request from the first one on.
    for (let skip = 0; skip <= REQUESTS; skip += 1) {
      const where = `${fault} at ${skip}`;
      broken.replay.fail(fault, { ms: 50, ...(skip < REQUESTS && { skip, times: 1 }) });
      const begun = performance.now();
      const { records, ends } = await readAll(broken.connect(TIMEOUT_MS));
      assert.ok(performance.now() - begun < HANG_MS, `${where} took ${performance.now() - begun} ms`);
      for (const record of records) assertTrue(record, where);
      for (const end of ends) if (end.gap === null) assert.ok([250, 450].includes(end.rows), where);
    }
    broken.replay.heal();
    const after = await readAll(broken.connect());
    assert.deepEqual(after.records, truth.records, `after ${fault}`);
  };
  const memory = watchLiveMemory(t, GROWTH_MAX);
  await Promise.all([...WAITING].map(tryFault));
  for (const fault of REPLAY_FAULTS) if (!WAITING.has(fault)) await tryFault(fault);
  assert.ok(memory.growth() < GROWTH_MAX, `memory grew by ${Math.round(memory.growth() / 2 ** 20)} MiB`);
});

test('a cursor that loops, or a page that repeats, ends the walk, which is incomplete', async (t) => {
  const { replay, upstream } = await start(t, [makeMarket()]);
  for (const [fault, skip, why] of [
    ['repeated-page', 0, 'repeated page'],
    ['repeated-page', 1, 'repeated page'],
    ['looping-cursor', 0, 'repeated page'],
    ['looping-cursor', 2, 'repeated page'],
  ] as const) {
    replay.reset();
    replay.fail(fault, { skip });
    const { end } = await walk(walkOpenSeaListings(upstream, apes));
    assert.deepEqual(end.gap, why, `${fault} after ${skip} pages`);
    assert.ok(replay.count() <= 5, `${replay.count()} requests`);
  }
});

test('a page with more rows than requested, or with an invalid cursor, is a malformed response', async (t) => {
  const { upstream } = await start(t, [makeMarket({ slug: 'other' })]);
  const answers = [
    { listings: Array.from({ length: 201 }, () => ({})) },
    { listings: [], next: 7 },
    { listings: [], next: 'x'.repeat(5_000) },
    {},
    [],
  ];
  for (const answer of answers) {
    const broken = await startReplayServer(t, [{ path: /.*/, origin: 'schema', answer: () => answer }]);
    const there = new UpstreamClient({
      name: 'opensea',
      baseUrl: broken.url,
      timeoutMs: 5_000,
      log: createLog('silent'),
      clock: Date.now,
      random: () => 0.5,
    });
    await assert.rejects(walk(walkOpenSeaListings(there, apes)), { reason: 'malformed' });
  }
  await assert.rejects(walk(walkOpenSeaListings(upstream, apes)), { reason: 'not-found' });
});

test('a walk in which many rows are invalid is incomplete', async (t) => {
  const market = makeMarket();
  market.listings = market.listings.slice(0, 20).map((one, index) => (index < 4 ? { ...one, status: 'NEW' } : one));
  const { upstream } = await start(t, [market]);
  const { records, end } = await walk(walkOpenSeaListings(upstream, apes));
  assert.equal(records.length, 16);
  assert.deepEqual(end.gap, 'too many rejected');
});

test('a walk whose last page has only invalid rows is incomplete, however short that page is', async (t) => {
  const market = makeMarket();
  market.listings = market.listings.slice(0, 202);
  const { upstream, replay } = await start(t, [market]);
  replay.fail('wrong-types', { skip: 1 });
  const { records, end } = await walk(walkOpenSeaListings(upstream, apes));
  assert.equal(records.length, 200);
  assert.deepEqual(end.gap, 'too many rejected');
});
