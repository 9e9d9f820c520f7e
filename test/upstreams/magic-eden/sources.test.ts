// Magic Eden, Solana and EVM: recorded answers become exact records, walks say whether they were whole, and no fault makes a
// bad row.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNativeAmount, toDecimalText } from '../../../src/core/amount.ts';
import { createChains } from '../../../src/core/chains.ts';
import { parseJsonText } from '../../../src/core/json-text.ts';
import { parseMagicEdenAsks, walkMagicEdenAsks } from '../../../src/upstreams/magic-eden/evm.ts';
import {
  readMagicEdenStats,
  readMagicEdenToken,
  walkMagicEdenListings,
  walkMagicEdenSales,
} from '../../../src/upstreams/magic-eden/solana.ts';
import {
  assertValidRecords,
  collectPages,
  createTestUpstream,
  underEveryFault,
} from '../../support/replay/every-fault.ts';
import { findPayload } from '../../support/recordings/payloads.ts';
import { startReplayServer } from '../../support/replay/replay.ts';
import {
  addressOf,
  askRow,
  createMagicEdenBook,
  DEGODS,
  listingRow,
  magicEdenRoutes,
  readMagicEden,
  saleRow,
} from '../../support/replay/magic-eden.ts';

const NOW = Date.UTC(2026, 5, 1);
const AT = new Date(NOW).toISOString();
const COLLECTION = { symbol: 'degods', contractAddress: DEGODS };
const TICKET = { symbol: 'magicticket', contractAddress: addressOf('tick', 1) };
const PATIENCE_MS = 20_000;
const CONTRACT = '0x8132176f60e9db5288d84feeefae455c8caa3f95';
const ethereum = createChains().get('ethereum') ?? assert.fail();

async function start(t: Parameters<typeof startReplayServer>[0]) {
  const book = createMagicEdenBook();
  const replay = await startReplayServer(t, magicEdenRoutes(book));
  return { book, replay, upstream: createTestUpstream(replay.url) };
}

const walk = (upstream: ReturnType<typeof createTestUpstream>, counted: number | null = null) =>
  collectPages(walkMagicEdenListings(upstream, COLLECTION, { now: NOW, counted }));

test('the recorded listing keeps its exact price, its place as id, its rank and its picture', async (t) => {
  const { book, upstream } = await start(t);
  const recorded = readMagicEden('recorded_collections_listings.degods-2025-07');
  if (!recorded) return t.diagnostic('the recorded listing is not at hand: nothing was tested');
  book.listings.set('degods', recorded);
  const { records, refused, end } = await walk(upstream);
  assert.deepEqual(refused, []);
  assert.equal(end?.whole, true);
  assert.deepEqual(records, [
    {
      kind: 'listing',
      source: 'magic-eden',
      chain: 'solana',
      contractAddress: DEGODS,
      mint: '4yeWHnJ11vYYVJ9QWZiCxsiuXA2tQkj15AaczN6Z4hUt',
      id: 'HdddQqvN3Rri7ViPdXGdMTNAF2P5g7JQLvzVRE6yenbP',
      priceRaw: '5388500000',
      seller: 'hero2pbJAsW6iGxkiGBwbptJXeoR4eJuwJQFnp1qa3B',
      timestamp: AT,
    },
    {
      kind: 'token',
      chain: 'solana',
      contractAddress: DEGODS,
      mint: '4yeWHnJ11vYYVJ9QWZiCxsiuXA2tQkj15AaczN6Z4hUt',
      name: 'DeGod #3203',
      image: 'https://metadata.degods.com/g/3202-dead-rm.png',
      rarityRank: 3936,
    },
  ]);
  assertValidRecords(records);
});

test('where the two mints of a row disagree tokenMint is believed, and nothing of the other token is told', async (t) => {
  const { book, upstream } = await start(t);
  const example = readMagicEden('v2_collections_symbol_listings');
  if (!example) return t.diagnostic('the example is not at hand: nothing was tested');
  book.listings.set('magicticket', example);
  const { records } = await collectPages(walkMagicEdenListings(upstream, TICKET, { now: NOW }));
  assert.deepEqual(
    records.map(({ kind, mint, priceRaw }) => [kind, mint, priceRaw]),
    [
      ['listing', 'HqRZKSAWHig98928x6jezNxUUmwY8VrHn1WF6NzeVU27', '2870000000'],
      ['listing', '5qiToEtKs4uf2CAxYxCM7RQXqbKK9Hd8XEe9XR7k2jG8', '9000000000'],
    ],
  );
});

test('stats are in lamports; a symbol that does not exist is one without listings, not one with a floor of zero', async (t) => {
  const { book, upstream } = await start(t);
  book.stats.set('magicticket', readMagicEden('v2_collections_symbol_stats') ?? { symbol: 'magicticket' });
  const { records } = await readMagicEdenStats(upstream, TICKET, { now: NOW });
  const told = { kind: 'stats', chain: 'solana', contractAddress: TICKET.contractAddress, at: AT };
  if (findPayload('magiceden-solana/v2_collections_symbol_stats.json') !== null) {
    assert.deepEqual(records, [{ ...told, floorRaw: '2850000000', listedCount: 877 }]);
  }
  assertValidRecords(records);
  const unknown = await readMagicEdenStats(upstream, COLLECTION, { now: NOW });
  assert.deepEqual(unknown.records, [{ ...told, contractAddress: DEGODS, listedCount: 0 }]);
  book.stats.set('degods', { symbol: 'degods', floorPrice: 2850000000.5, listedCount: 3 });
  assert.deepEqual((await readMagicEdenStats(upstream, COLLECTION, { now: NOW })).refused, [
    'floorPrice: is not a whole number of lamports',
  ]);
});

test('buyNow is a sale with its signature and exact price; bids, lists and delists are none', async (t) => {
  const { book, upstream } = await start(t);
  const wallet = readMagicEden('v2_wallets_owner_activities');
  const lists = readMagicEden('v2_collections_symbol_activities');
  if (!wallet || !lists) return t.diagnostic('the examples are not at hand: nothing was tested');
  book.activities.set('runcible', [...wallet, ...lists]);
  const runcible = { symbol: 'runcible', contractAddress: addressOf('run', 1) };
  const { records, refused, end } = await collectPages(walkMagicEdenSales(upstream, runcible, { now: NOW, since: 0 }));
  assert.deepEqual(refused, []);
  assert.equal(end?.whole, true);
  assert.deepEqual(records, [
    {
      kind: 'sale',
      source: 'magic-eden',
      chain: 'solana',
      contractAddress: runcible.contractAddress,
      mint: '4DbHsohxbkSJRZUNeVPPdxgYKJwEtXVge1ibQivi9x3T',
      price: '45000000',
      seller: '4wejSnr97csngztZ5SU7A6iZRXJD7B3Y1R1koCQ5NjmD',
      buyer: 'FtynbMEVKQnZp5iUmVaooR2JNW4brGD68eU4PLUUjNdX',
      timestamp: '2022-01-28T22:15:48.000Z',
      tx: '2v5HjvhZf1bPJ6iFoHkbJWgcwEpYoTvhdWwDESDmrTsY6sX7MtN3eeEvLngoXMVrneyRboG74sQWScVcEFR7R5Qg',
    },
  ]);
  assertValidRecords(records);
});

test('sales are read back to the time that is known, and no further', async (t) => {
  const { book, replay, upstream } = await start(t);
  const newest = NOW / 1_000 - 60;
  book.activities.set(
    'degods',
    Array.from({ length: 2_600 }, (_, index) => saleRow(index, newest - index)),
  );
  const since = (newest - 700) * 1_000;
  const { records, end } = await collectPages(walkMagicEdenSales(upstream, COLLECTION, { now: NOW, since }));
  assert.equal(records.length, 701);
  assert.equal(end?.whole, true);
  assert.equal(replay.count(), 2);
  const all = await collectPages(walkMagicEdenSales(upstream, COLLECTION, { now: NOW, since: 0 }));
  assert.equal(new Set(all.records.map(({ tx }) => tx)).size, 2_600);
});

test('a token is told with its name, picture and owner; one that is not known is not told', async (t) => {
  const { book, upstream } = await start(t);
  const example = readMagicEden('v2_tokens_token_mint');
  if (!example) return t.diagnostic('the example is not at hand: nothing was tested');
  const mint = '4uvpqEL73361hRXCrHqBZQWeqfbKPQw55yKSFZvLQYTq';
  book.tokens.set(mint, example);
  assert.deepEqual((await readMagicEdenToken(upstream, COLLECTION, { mint })).records, [
    {
      kind: 'token',
      chain: 'solana',
      contractAddress: DEGODS,
      mint,
      name: 'Beyond Reach',
      image: 'https://ipfs.io/ipfs/QmY4PDbfRsuwCvmJeY6NdzaRXFJhypgVwzNyDwin91dsM2',
      owner: '8ao31PYJ7jHiGQDAkRN1sDWxUgUMwTjMZ7uyiS5F9aNs',
    },
  ]);
  assert.deepEqual((await readMagicEdenToken(upstream, COLLECTION, { mint: addressOf('no', 1) })).records, []);
});

test('float prices become lamports by their decimal text, or are refused: never another amount', async (t) => {
  const { book, upstream } = await start(t);
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const amounts = Array.from({ length: 2_000 }, (_, index) => {
    const raw = BigInt(Math.floor(random() ** 4 * 1e15)) + 1n;
    return index % 10 === 0 ? raw * 10n ** BigInt(Math.floor(random() * 4)) : raw;
  });
  book.listings.set(
    'degods',
    amounts.map((raw, index) =>
      // As a program of theirs prints it: through a double.
      listingRow(index, { price: Number(toDecimalText(raw, 9)), priceInfo: undefined, token: undefined }),
    ),
  );
  const { records, refused, end } = await walk(upstream);
  assert.deepEqual(refused, []);
  assert.equal(end?.whole, true);
  const found = new Map(records.map(({ mint, priceRaw }) => [mint, priceRaw]));
  for (const [index, raw] of amounts.entries()) {
    const told = parseNativeAmount(String(Number(toDecimalText(raw, 9))), 9);
    assert.equal(found.get(addressOf('mint', index)), String(told));
    if (raw < 10n ** 15n) assert.equal(told, raw);
  }
});

test('digits beyond the lamport, other currencies, other marketplaces and other collections are refused by name', async (t) => {
  const { book, upstream } = await start(t);
  const sol = { rawAmount: '1000000000', address: 'So11111111111111111111111111111111111111112', decimals: 9 };
  const bad = {
    'price: is not a whole number of lamports': { price: 0.1 + 0.2, priceInfo: undefined },
    'price: is not positive': { price: 0, priceInfo: undefined },
    'price: must be a number, not a string': { price: '1.5', priceInfo: undefined },
    'priceInfo.solPrice.rawAmount: is no amount': { priceInfo: { solPrice: { ...sol, rawAmount: '1.5' } } },
    'priceInfo.solPrice.decimals: are not those of SOL': { priceInfo: { solPrice: { ...sol, decimals: 6 } } },
    'priceInfo.splPrice: is another currency': {
      priceInfo: { solPrice: sol, splPrice: { ...sol, address: addressOf('usdc', 1) } },
    },
    'listingSource: is another marketplace': { listingSource: 'TENSOR_LISTING' },
    'tokenSize: is not one token': { tokenSize: 2 },
    'tokenMint: is no asset of the family solana': { tokenMint: 'not a mint' },
    'seller: is missing': { seller: null },
    'expiry: must be an integer': { expiry: 1.5 },
    'collection: is that of another collection': {
      token: { mintAddress: addressOf('mint', 1_011), collection: 'other' },
    },
  };
  const rows = Object.values(bad).map((more, index) => listingRow(1_000 + index, more));
  book.listings.set('degods', [...Array.from({ length: 200 }, (_, index) => listingRow(index)), ...rows]);
  const { records, refused, end } = await walk(upstream);
  assert.deepEqual([...new Set(refused)].sort(), Object.keys(bad).sort());
  assert.equal(new Set(records.map(({ mint }) => mint)).size, 200);
  assert.equal(end?.whole, true, 'a few bad rows are not a reason to doubt the rest');
});

test('an exact amount keeps all of its 20 digits beside a float that has lost them', async (t) => {
  const { book, upstream } = await start(t);
  const rawAmount = '12345678901234567891';
  book.listings.set('degods', [
    listingRow(1, { price: 12345678901.234568, priceInfo: { solPrice: { rawAmount, decimals: 9 } } }),
  ]);
  assert.equal((await walk(upstream)).records[0]?.['priceRaw'], rawAmount);
});

test('a pool sells many tokens from one place: each is a listing of its own', async (t) => {
  const { book, upstream } = await start(t);
  const pool = addressOf('pqq', 1);
  book.listings.set(
    'degods',
    [1, 2].map((number) => listingRow(number, { listingSource: 'MMM', pdaAddress: pool, token: undefined })),
  );
  const { records } = await walk(upstream);
  assert.deepEqual(
    records.map(({ id }) => id),
    [1, 2].map((number) => `${pool}:${addressOf('mint', number)}`),
  );
});

test('an expiry of -1 is none, one in seconds is a time', async (t) => {
  const { book, upstream } = await start(t);
  book.listings.set('degods', [listingRow(1, { expiry: -1 }), listingRow(2, { expiry: 1_800_000_000 })]);
  const { records } = await walk(upstream);
  const listings = records.filter(({ kind }) => kind === 'listing');
  assert.deepEqual(
    listings.map(({ expiresAt }) => expiresAt),
    [undefined, '2027-01-15T08:00:00.000Z'],
  );
});

test('listings that end while pages are read hide none of the others; when too many end at once the walk is not whole', async (t) => {
  const { book, upstream } = await start(t);
  const rows = Array.from({ length: 257 }, (_, index) => listingRow(index));
  for (const [gone, whole] of [
    [9, true],
    [10, false],
    [11, false],
  ] as const) {
    book.listings.set('degods', rows);
    book.onListings = (offset) => {
      if (offset > 0 && offset < 100) book.listings.set('degods', rows.slice(gone));
    };
    const { records, end } = await walk(upstream);
    assert.equal(end?.whole, whole, `${gone} gone`);
    const found = new Set(records.flatMap(({ kind, id }) => (kind === 'listing' ? [id] : [])));
    if (gone <= 10) assert.equal(found.size, 257);
  }
});

test('a walk that finds fewer listings than the stats count is not whole', async (t) => {
  const { book, upstream } = await start(t);
  book.listings.set(
    'degods',
    Array.from({ length: 40 }, (_, index) => listingRow(index)),
  );
  assert.equal((await walk(upstream, 44)).end?.whole, true);
  assert.equal((await walk(upstream, 45)).end?.why, 'fewer than counted');
});

test('a server that gives the same page again, or more rows than asked for, does not keep the walk going', async (t) => {
  const { book, replay } = await start(t);
  // What is measured here is size, not time.
  const upstream = createTestUpstream(replay.url, PATIENCE_MS);
  book.listings.set(
    'degods',
    Array.from({ length: 257 }, (_, index) => listingRow(index)),
  );
  replay.fail('repeated-page');
  assert.deepEqual((await walk(upstream)).end, { whole: false, why: 'repeated page', pages: 2, rows: 100 });
  assert.equal(replay.count(), 2);
  replay.fail('huge-page');
  const { failure, records } = await walk(upstream);
  assert.deepEqual([failure, records], ['too-large', []]);
  assert.equal(replay.count(), 3);
});

test('no fault at any request makes a bad listing, or a whole walk that is not', async (t) => {
  const { book, replay, upstream } = await start(t);
  book.listings.set(
    'degods',
    Array.from({ length: 257 }, (_, index) => listingRow(index)),
  );
  const run = () => walk(upstream, 257);
  const good = await run();
  assert.equal(good.end?.whole, true);
  await underEveryFault(replay, run, { good });
});

test('no fault at any request makes a bad sale, or a whole walk that is not', async (t) => {
  const { book, replay, upstream } = await start(t);
  book.activities.set(
    'degods',
    Array.from({ length: 1_100 }, (_, index) => saleRow(index, NOW / 1_000 - index)),
  );
  const run = () => collectPages(walkMagicEdenSales(upstream, COLLECTION, { now: NOW, since: 0 }));
  const good = await run();
  assert.equal(good.records.length, 1_100);
  await underEveryFault(replay, run, { good });
});

test('the recorded ask of the EVM side is of another marketplace and left out; as its own it is a listing with its hash', (t) => {
  const text = findPayload('magiceden-evm/orders_asks_v5.me-evm-v3-rtp.json');
  if (text === null) return t.diagnostic('the recorded ask is not at hand: nothing was tested');
  const subject = { chain: ethereum, contractAddress: CONTRACT };
  const { orders } = parseJsonText(text) as { orders: Record<string, unknown>[] };
  assert.deepEqual(parseMagicEdenAsks(orders, subject), { records: [], refused: [], skipped: 1 });
  const own = orders.map((order) => ({ ...order, source: { domain: 'magiceden.io' } }));
  const { records } = parseMagicEdenAsks(own, subject);
  assert.deepEqual(records, [
    {
      kind: 'listing',
      source: 'magic-eden',
      chain: 'ethereum',
      contractAddress: CONTRACT,
      tokenId: '653',
      id: '0x5844792a36ff5966a325d2180ebda80f8f63a7f3d4585e1c88615a111ce42942',
      orderHash: '0x5844792a36ff5966a325d2180ebda80f8f63a7f3d4585e1c88615a111ce42942',
      priceRaw: '39999000000000000',
      seller: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045',
      timestamp: '2024-04-24T19:01:40.579Z',
    },
  ]);
  assertValidRecords(records);
});

test('asks of the EVM side are read to the end; wrapped native counts as native, anything else is refused', async (t) => {
  const { book, upstream } = await start(t);
  const currency = (contract: string) => ({
    price: { amount: { raw: '5' }, currency: { contract, symbol: 'X', decimals: 18, displayName: 'X' } },
  });
  book.asks.set(CONTRACT, [
    ...Array.from({ length: 230 }, (_, index) => askRow(index, CONTRACT)),
    askRow(500, CONTRACT, currency('0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2')),
    askRow(501, CONTRACT, currency('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48')),
    askRow(502, CONTRACT, { quantity: { filled: '0', remaining: '3' } }),
    askRow(503, CONTRACT, { assetId: `0x${'1'.repeat(40)}:503` }),
    askRow(504, CONTRACT, { source: 'OPENSEA' }),
  ]);
  const run = () => collectPages(walkMagicEdenAsks(upstream, { chain: ethereum, contractAddress: CONTRACT }));
  const { records, refused, end } = await run();
  assertValidRecords(records);
  assert.equal(records.length, 231);
  assert.deepEqual(end, { whole: true, why: null, pages: 3, rows: 235 });
  assert.deepEqual(refused, [
    'price.currency: is another currency',
    'quantity.remaining: is not one token',
    'assetId: is of another contract',
  ]);
});

test('asks that have not begun are left to a later look, in either shape', () => {
  const beginning = (time: string) =>
    askRow(1, CONTRACT, { expiry: { validFrom: time, validUntil: '2030-01-01T00:00:00Z' } });
  const rows = [beginning('2026-05-01T00:00:00Z'), beginning('2026-05-01T00:00:01Z'), beginning('1777593601')];
  const at = Date.parse('2026-05-01T00:00:00Z');
  const subject = { chain: ethereum, contractAddress: CONTRACT, begunBy: at };
  const { records, refused, skipped } = parseMagicEdenAsks(parseJsonText(JSON.stringify(rows)) as unknown[], subject);
  assert.deepEqual([records.length, refused, skipped], [1, [], 2]);
  const text = findPayload('magiceden-evm/orders_asks_v5.me-evm-v3-rtp.json');
  if (text === null) return;
  const { orders } = parseJsonText(text) as { orders: Record<string, unknown>[] };
  const own = orders.map((order) => ({ ...order, source: { domain: 'magiceden.io' } }));
  const from = 1_713_985_300_000;
  assert.equal(parseMagicEdenAsks(own, { ...subject, begunBy: from }).records.length, 1);
  assert.equal(parseMagicEdenAsks(own, { ...subject, begunBy: from - 1 }).skipped, 1);
});

test('a book of which most is in another currency was seen whole, and one that makes no sense was not', async (t) => {
  const { book, upstream } = await start(t);
  const usdc = { contract: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', symbol: 'USDC', decimals: 6 };
  const price = { amount: { raw: '1000000' }, currency: usdc };
  const rows = (more: object) =>
    Array.from({ length: 50 }, (_, index) => askRow(index, CONTRACT, index < 40 ? more : {}));
  const run = () => collectPages(walkMagicEdenAsks(upstream, { chain: ethereum, contractAddress: CONTRACT }));
  book.asks.set(CONTRACT, rows({ price }));
  const { records, refused, end } = await run();
  assert.deepEqual([records.length, refused.length, end?.whole], [10, 40, true]);
  book.asks.set(CONTRACT, rows({ maker: 'nobody' }));
  assert.equal((await run()).end?.whole, false);
});

test('no fault at any request makes a bad ask, or a whole walk that is not', async (t) => {
  const { book, replay, upstream } = await start(t);
  book.asks.set(
    CONTRACT,
    Array.from({ length: 230 }, (_, index) => askRow(index, CONTRACT)),
  );
  const run = () => collectPages(walkMagicEdenAsks(upstream, { chain: ethereum, contractAddress: CONTRACT }));
  await underEveryFault(replay, run, { good: await run() });
});
