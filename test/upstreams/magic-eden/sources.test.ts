// Magic Eden on Solana and EVM chains: responses become exact records, a walk reports whether it is complete, and no fault leads to an
// incorrect record.

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
import { parseFixture, readFixture } from '../../support/fixtures.ts';
import { startReplayServer } from '../../support/replay/replay.ts';
import {
  addressOf,
  askRow,
  createMagicEdenBook,
  LANTERNS,
  LANTERNS_SYMBOL,
  listingRow,
  magicEdenRoutes,
  saleRow,
} from '../../support/replay/magic-eden.ts';

const NOW = Date.UTC(2026, 5, 1);
const AT = new Date(NOW).toISOString();
const COLLECTION = { symbol: LANTERNS_SYMBOL, contractAddress: LANTERNS };
/** The contract of `asks-v3.json`. */
const KITES = '0x7f57bc32ee0034fa9a41fac7df1d2c0e5782b9ad';
const PATIENCE_MS = 20_000;
const CONTRACT = '0x00000000000000000000000000000000000a5ced';
const ethereum = createChains().get('ethereum') ?? assert.fail();

async function start(t: Parameters<typeof startReplayServer>[0]) {
  const book = createMagicEdenBook();
  const replay = await startReplayServer(t, magicEdenRoutes(book));
  return { book, replay, upstream: createTestUpstream(replay.url) };
}

const walk = (upstream: ReturnType<typeof createTestUpstream>, counted: number | null = null) =>
  collectPages(walkMagicEdenListings(upstream, COLLECTION, { now: NOW, counted }));

test('a listing keeps its exact price, its account as id, its rank and its picture', async (t) => {
  const { book, upstream } = await start(t);
  const [row] = parseFixture('magic-eden/listings.json');
  book.listings.set(LANTERNS_SYMBOL, [row]);
  const { records, rejected, end } = await walk(upstream);
  assert.deepEqual([rejected, end?.gap], [[], null]);
  assert.deepEqual(records, [
    {
      kind: 'listing',
      source: 'magic-eden',
      chain: 'solana',
      contractAddress: LANTERNS,
      mint: row.tokenMint,
      id: row.pdaAddress,
      priceRaw: '4207500000',
      seller: row.seller,
      timestamp: AT,
    },
    {
      kind: 'token',
      chain: 'solana',
      contractAddress: LANTERNS,
      mint: row.tokenMint,
      name: 'Lantern #1',
      image: 'https://pictures.example/lanterns/1.png',
      rarityRank: 612,
    },
  ]);
  assertValidRecords(records);
});

test('when the two mints of a row differ the listing is of tokenMint, and no token record is made', async (t) => {
  const { book, upstream } = await start(t);
  const [, row] = parseFixture('magic-eden/listings.json');
  assert.notEqual(row.tokenMint, row.token.mintAddress);
  book.listings.set(LANTERNS_SYMBOL, [row]);
  const { records } = await walk(upstream);
  assert.deepEqual(
    records.map(({ kind, mint, priceRaw }) => [kind, mint, priceRaw]),
    [['listing', row.tokenMint, '9000000000']],
  );
});

test('stats are in lamports; a symbol that does not exist has no listings and an unknown floor, not a floor of zero', async (t) => {
  const { book, upstream } = await start(t);
  const fields = { kind: 'stats', chain: 'solana', contractAddress: LANTERNS, at: AT };
  const unknown = await readMagicEdenStats(upstream, COLLECTION, { now: NOW });
  assert.deepEqual(unknown.records, [{ ...fields, listedCount: 0 }]);
  book.stats.set(LANTERNS_SYMBOL, parseFixture('magic-eden/stats.json'));
  const { records } = await readMagicEdenStats(upstream, COLLECTION, { now: NOW });
  assert.deepEqual(records, [{ ...fields, floorRaw: '4207500000', listedCount: 2 }]);
  assertValidRecords([...unknown.records, ...records]);
  book.stats.set(LANTERNS_SYMBOL, { symbol: LANTERNS_SYMBOL, floorPrice: 2850000000.5, listedCount: 3 });
  assert.deepEqual((await readMagicEdenStats(upstream, COLLECTION, { now: NOW })).rejected, [
    'floorPrice: is not a whole number of lamports',
  ]);
});

test('buyNow is a sale with its signature and exact price; lists, bids and delists are left out', async (t) => {
  const { book, upstream } = await start(t);
  const rows = parseFixture('magic-eden/activities.json');
  book.activities.set(LANTERNS_SYMBOL, rows);
  const { records, rejected, end } = await collectPages(
    walkMagicEdenSales(upstream, COLLECTION, { now: NOW, since: 0 }),
  );
  assert.deepEqual([rejected, end?.gap], [[], null]);
  const sale = rows.find(({ type }: { type: string }) => type === 'buyNow');
  assert.deepEqual(records, [
    {
      kind: 'sale',
      source: 'magic-eden',
      chain: 'solana',
      contractAddress: LANTERNS,
      mint: sale.tokenMint,
      price: '62500000',
      seller: sale.seller,
      buyer: sale.buyer,
      timestamp: '2026-02-13T16:20:40.000Z',
      tx: sale.signature,
    },
  ]);
  assertValidRecords(records);
});

test('a token has its name, picture and owner; an unknown token has no record', async (t) => {
  const { book, upstream } = await start(t);
  const row = parseFixture('magic-eden/token.json');
  const mint: string = row.mintAddress;
  book.tokens.set(mint, row);
  assert.deepEqual((await readMagicEdenToken(upstream, COLLECTION, { mint })).records, [
    {
      kind: 'token',
      chain: 'solana',
      contractAddress: LANTERNS,
      mint,
      name: 'Lantern #4',
      image: 'https://pictures.example/lanterns/4.png',
      owner: row.owner,
    },
  ]);
  assert.deepEqual((await readMagicEdenToken(upstream, COLLECTION, { mint: addressOf('no', 1) })).records, []);
});

test('sales are read back to the given time, and no further', async (t) => {
  const { book, replay, upstream } = await start(t);
  const newest = NOW / 1_000 - 60;
  book.activities.set(
    LANTERNS_SYMBOL,
    Array.from({ length: 2_600 }, (_, index) => saleRow(index, newest - index)),
  );
  const since = (newest - 700) * 1_000;
  const { records, end } = await collectPages(walkMagicEdenSales(upstream, COLLECTION, { now: NOW, since }));
  assert.equal(records.length, 701);
  assert.equal(end?.gap, null);
  assert.equal(replay.count(), 2);
  const all = await collectPages(walkMagicEdenSales(upstream, COLLECTION, { now: NOW, since: 0 }));
  assert.equal(new Set(all.records.map(({ tx }) => tx)).size, 2_600);
});

test('float prices become lamports by their decimal text, or are rejected: never another amount', async (t) => {
  const { book, upstream } = await start(t);
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const amounts = Array.from({ length: 2_000 }, (_, index) => {
    const raw = BigInt(Math.floor(random() ** 4 * 1e15)) + 1n;
    return index % 10 === 0 ? raw * 10n ** BigInt(Math.floor(random() * 4)) : raw;
  });
  book.listings.set(
    LANTERNS_SYMBOL,
    amounts.map((raw, index) =>
      // The amount as a program prints it that holds it in a double.
      listingRow(index, { price: Number(toDecimalText(raw, 9)), priceInfo: undefined, token: undefined }),
    ),
  );
  const { records, rejected, end } = await walk(upstream);
  assert.deepEqual(rejected, []);
  assert.equal(end?.gap, null);
  const found = new Map(records.map(({ mint, priceRaw }) => [mint, priceRaw]));
  for (const [index, raw] of amounts.entries()) {
    const told = parseNativeAmount(String(Number(toDecimalText(raw, 9))), 9);
    assert.equal(found.get(addressOf('mint', index)), String(told));
    if (raw < 10n ** 15n) assert.equal(told, raw);
  }
});

test('digits beyond the lamport, other currencies, other marketplaces and other collections are rejected by name', async (t) => {
  const { book, upstream } = await start(t);
  const sol = { rawAmount: '1000000000', address: 'So11111111111111111111111111111111111111112', decimals: 9 };
  const bad = {
    'price: is not a whole number of lamports': { price: 0.1 + 0.2, priceInfo: undefined },
    'price: is not positive': { price: 0, priceInfo: undefined },
    'price: must be a number, not a string': { price: '1.5', priceInfo: undefined },
    'priceInfo.solPrice.rawAmount: is not an amount': { priceInfo: { solPrice: { ...sol, rawAmount: '1.5' } } },
    'priceInfo.solPrice.decimals: are not those of SOL': { priceInfo: { solPrice: { ...sol, decimals: 6 } } },
    'priceInfo.splPrice: is another currency': {
      priceInfo: { solPrice: sol, splPrice: { ...sol, address: addressOf('usdc', 1) } },
    },
    'listingSource: is another marketplace': { listingSource: 'TENSOR_LISTING' },
    'tokenSize: is not one token': { tokenSize: 2 },
    'tokenMint: is not an asset of the family solana': { tokenMint: 'not a mint' },
    'seller: is missing': { seller: null },
    'expiry: must be an integer': { expiry: 1.5 },
    'collection: belongs to another collection': {
      token: { mintAddress: addressOf('mint', 1_011), collection: 'other' },
    },
  };
  const rows = Object.values(bad).map((more, index) => listingRow(1_000 + index, more));
  book.listings.set(LANTERNS_SYMBOL, [...Array.from({ length: 200 }, (_, index) => listingRow(index)), ...rows]);
  const { records, rejected, end } = await walk(upstream);
  assert.deepEqual([...new Set(rejected)].sort(), Object.keys(bad).sort());
  assert.equal(new Set(records.map(({ mint }) => mint)).size, 200);
  assert.equal(end?.gap, null, 'a few invalid rows do not make the walk incomplete');
});

test('an exact amount keeps all of its 20 digits beside a float that has lost them', async (t) => {
  const { book, upstream } = await start(t);
  const rawAmount = '12345678901234567891';
  book.listings.set(LANTERNS_SYMBOL, [
    listingRow(1, { price: 12345678901.234568, priceInfo: { solPrice: { rawAmount, decimals: 9 } } }),
  ]);
  assert.equal((await walk(upstream)).records[0]?.['priceRaw'], rawAmount);
});

test('a pool sells many tokens from one account: each is a listing of its own', async (t) => {
  const { book, upstream } = await start(t);
  const pool = addressOf('pqq', 1);
  book.listings.set(
    LANTERNS_SYMBOL,
    [1, 2].map((number) => listingRow(number, { listingSource: 'MMM', pdaAddress: pool, token: undefined })),
  );
  const { records } = await walk(upstream);
  assert.deepEqual(
    records.map(({ id }) => id),
    [1, 2].map((number) => `${pool}:${addressOf('mint', number)}`),
  );
});

test('an expiry of -1 means no expiry, and an expiry in seconds is read as a time', async (t) => {
  const { book, upstream } = await start(t);
  book.listings.set(LANTERNS_SYMBOL, [listingRow(1, { expiry: -1 }), listingRow(2, { expiry: 1_800_000_000 })]);
  const { records } = await walk(upstream);
  const listings = records.filter(({ kind }) => kind === 'listing');
  assert.deepEqual(
    listings.map(({ expiresAt }) => expiresAt),
    [undefined, '2027-01-15T08:00:00.000Z'],
  );
});

test('when listings end between two pages no other listing is missed; when too many end at once the walk is incomplete', async (t) => {
  const { book, upstream } = await start(t);
  const rows = Array.from({ length: 257 }, (_, index) => listingRow(index));
  for (const [gone, whole] of [
    [9, true],
    [10, false],
    [11, false],
  ] as const) {
    book.listings.set(LANTERNS_SYMBOL, rows);
    book.onListings = (offset) => {
      if (offset > 0 && offset < 100) book.listings.set(LANTERNS_SYMBOL, rows.slice(gone));
    };
    const { records, end } = await walk(upstream);
    assert.equal(end?.gap === null, whole, `${gone} gone`);
    const found = new Set(records.flatMap(({ kind, id }) => (kind === 'listing' ? [id] : [])));
    if (gone <= 10) assert.equal(found.size, 257);
  }
});

test('a walk that finds fewer listings than the stats count is incomplete', async (t) => {
  const { book, upstream } = await start(t);
  book.listings.set(
    LANTERNS_SYMBOL,
    Array.from({ length: 40 }, (_, index) => listingRow(index)),
  );
  assert.equal((await walk(upstream, 44)).end?.gap, null);
  assert.equal((await walk(upstream, 45)).end?.gap, 'fewer than counted');
});

test('the walk ends when a server repeats a page or sends more rows than requested', async (t) => {
  const { book, replay } = await start(t);
  // A long timeout: this test is about sizes.
  const upstream = createTestUpstream(replay.url, PATIENCE_MS);
  book.listings.set(
    LANTERNS_SYMBOL,
    Array.from({ length: 257 }, (_, index) => listingRow(index)),
  );
  replay.fail('repeated-page');
  assert.deepEqual((await walk(upstream)).end, { gap: 'repeated page', pages: 2, rows: 100 });
  assert.equal(replay.count(), 2);
  replay.fail('huge-page');
  const { failure, records } = await walk(upstream);
  assert.deepEqual([failure, records], ['too-large', []]);
  assert.equal(replay.count(), 3);
});

test('no fault at any request leads to an incorrect listing, or to an incomplete walk that is reported as complete', async (t) => {
  const { book, replay, upstream } = await start(t);
  book.listings.set(
    LANTERNS_SYMBOL,
    Array.from({ length: 257 }, (_, index) => listingRow(index)),
  );
  const run = () => walk(upstream, 257);
  const good = await run();
  assert.equal(good.end?.gap === null, true);
  await underEveryFault(replay, run, { good });
});

test('no fault at any request leads to an incorrect sale, or to an incomplete walk that is reported as complete', async (t) => {
  const { book, replay, upstream } = await start(t);
  book.activities.set(
    LANTERNS_SYMBOL,
    Array.from({ length: 1_100 }, (_, index) => saleRow(index, NOW / 1_000 - index)),
  );
  const run = () => collectPages(walkMagicEdenSales(upstream, COLLECTION, { now: NOW, since: 0 }));
  const good = await run();
  assert.equal(good.records.length, 1_100);
  await underEveryFault(replay, run, { good });
});

test('an ask of another marketplace in the older EVM interface is left out; one of Magic Eden itself is a listing with its order hash', () => {
  const { orders } = parseJsonText(readFixture('magic-eden/asks-v3.json')) as { orders: Record<string, unknown>[] };
  const kites = { chain: ethereum, contractAddress: KITES };
  assert.deepEqual(parseMagicEdenAsks(orders, kites), { records: [], rejected: [], unsupported: [], skipped: 1 });
  const own = orders.map((order) => ({ ...order, source: { domain: 'magiceden.io' } }));
  const { records } = parseMagicEdenAsks(own, kites);
  const id = orders[0]?.['id'];
  assert.deepEqual(records, [
    {
      kind: 'listing',
      source: 'magic-eden',
      chain: 'ethereum',
      contractAddress: KITES,
      tokenId: '41',
      id,
      orderHash: id,
      priceRaw: '52500000000000000',
      seller: String(orders[0]?.['maker']).toLowerCase(),
      timestamp: '2024-06-10T06:13:20.500Z',
    },
  ]);
  assertValidRecords(records);
  const begins = 1_718_000_000_000;
  assert.equal(parseMagicEdenAsks(own, { ...kites, begunBy: begins }).records.length, 1);
  assert.equal(parseMagicEdenAsks(own, { ...kites, begunBy: begins - 1 }).skipped, 1);
});

test('asks of the EVM side are read to the end; wrapped native counts as native, anything else is rejected', async (t) => {
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
  const { records, rejected, end } = await run();
  assertValidRecords(records);
  assert.equal(records.length, 231);
  assert.deepEqual(end, { gap: null, pages: 3, rows: 235 });
  assert.deepEqual(rejected, [
    'assetId: belongs to another contract',
    'unsupported: price.currency: is another currency',
    'unsupported: quantity.remaining: is not one token',
  ]);
});

test('asks that have not begun are left out', () => {
  const beginning = (time: string) =>
    askRow(1, CONTRACT, { expiry: { validFrom: time, validUntil: '2030-01-01T00:00:00Z' } });
  const rows = [beginning('2026-05-01T00:00:00Z'), beginning('2026-05-01T00:00:01Z'), beginning('1777593601')];
  const at = Date.parse('2026-05-01T00:00:00Z');
  const subject = { chain: ethereum, contractAddress: CONTRACT, begunBy: at };
  const { records, rejected, skipped } = parseMagicEdenAsks(parseJsonText(JSON.stringify(rows)) as unknown[], subject);
  assert.deepEqual([records.length, rejected, skipped], [1, [], 2]);
});

test('a walk over asks that are mostly in another currency is complete; one over asks that are mostly invalid is not', async (t) => {
  const { book, upstream } = await start(t);
  const usdc = { contract: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', symbol: 'USDC', decimals: 6 };
  const price = { amount: { raw: '1000000' }, currency: usdc };
  const rows = (more: object) =>
    Array.from({ length: 50 }, (_, index) => askRow(index, CONTRACT, index < 40 ? more : {}));
  const run = () => collectPages(walkMagicEdenAsks(upstream, { chain: ethereum, contractAddress: CONTRACT }));
  book.asks.set(CONTRACT, rows({ price }));
  const { records, rejected, end } = await run();
  assert.deepEqual([records.length, rejected.length, end?.gap], [10, 40, null]);
  book.asks.set(CONTRACT, rows({ maker: 'nobody' }));
  assert.equal((await run()).end?.gap, 'too many rejected');
});

test('no fault at any request leads to an incorrect ask, or to an incomplete walk that is reported as complete', async (t) => {
  const { book, replay, upstream } = await start(t);
  book.asks.set(
    CONTRACT,
    Array.from({ length: 230 }, (_, index) => askRow(index, CONTRACT)),
  );
  const run = () => collectPages(walkMagicEdenAsks(upstream, { chain: ethereum, contractAddress: CONTRACT }));
  await underEveryFault(replay, run, { good: await run() });
});
