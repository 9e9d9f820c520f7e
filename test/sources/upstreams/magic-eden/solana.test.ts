// Tests what the service reads from Magic Eden on Solana. Responses are converted to records with exact amounts. A walk reports whether it has read the complete
// list. No fault of the server leads to an incorrect record.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNativeAmount, toDecimalText } from '../../../../src/platform/core/amount.ts';
import {
  readMagicEdenStats,
  readMagicEdenToken,
  walkMagicEdenListings,
  walkMagicEdenSales,
} from '../../../../src/sources/upstreams/magic-eden/solana.ts';
import {
  assertValidRecords,
  collectPages,
  createTestUpstream,
  underEveryFault,
} from '../../../support/replay/every-fault.ts';
import { parseFixture } from '../../../support/fixtures.ts';
import { startReplayServer } from '../../../support/replay/replay.ts';
import {
  addressOf,
  createMagicEdenBook,
  LANTERNS,
  LANTERNS_SYMBOL,
  listingRow,
  magicEdenRoutes,
  saleRow,
} from '../../../support/replay/magic-eden.ts';

const NOW = Date.UTC(2026, 5, 1);
const AT = new Date(NOW).toISOString();
const COLLECTION = { symbol: LANTERNS_SYMBOL, contractAddress: LANTERNS };

async function start(t: Parameters<typeof startReplayServer>[0]) {
  const book = createMagicEdenBook();
  const replay = await startReplayServer(t, magicEdenRoutes(book));
  return { book, replay, upstream: createTestUpstream(replay.url) };
}

const walk = (upstream: ReturnType<typeof createTestUpstream>, counted: number | null = null) =>
  collectPages(walkMagicEdenListings(upstream, COLLECTION, { now: NOW, counted }));

test('the record of a listing has the exact price, and the address of the listing account as id', async (t) => {
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

test('when the two mints of a row differ, the listed token is `tokenMint`', async (t) => {
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

test('the floor and the volume in the stats are read as lamports, and a fraction of a lamport is rejected', async (t) => {
  const { book, upstream } = await start(t);
  const fields = { kind: 'stats', chain: 'solana', contractAddress: LANTERNS, at: AT };
  const unknown = await readMagicEdenStats(upstream, COLLECTION, { now: NOW });
  assert.deepEqual(unknown.records, []);
  book.stats.set(LANTERNS_SYMBOL, parseFixture('magic-eden/stats.json'));
  const { records } = await readMagicEdenStats(upstream, COLLECTION, { now: NOW });
  const floorRaw = '4207500000';
  assert.deepEqual(records, [
    { ...fields, floorRaw, listedCount: 2 },
    { ...fields, kind: 'analytics', volume: { allTime: 61_200.450000321 } },
  ]);
  assertValidRecords(records);
  book.stats.set(LANTERNS_SYMBOL, { symbol: LANTERNS_SYMBOL, floorPrice: 2850000000.5, listedCount: 3 });
  assert.deepEqual((await readMagicEdenStats(upstream, COLLECTION, { now: NOW })).rejected, [
    'floorPrice: is not a whole number of lamports',
  ]);
});

test('an activity `buyNow` becomes a sale with the signature of the transaction and the exact price', async (t) => {
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

test('the record of a token has the name, the picture and the owner', async (t) => {
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

test('sales are read newest first, and sales before the given time are left out', async (t) => {
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

test('a price in SOL is converted to lamports from its decimal text', async (t) => {
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
      // The price has the form in which a server that stores prices as doubles sends it.
      listingRow(index, { price: Number(toDecimalText(raw, 9)), priceInfo: undefined, token: undefined }),
    ),
  );
  const { records, rejected, end } = await walk(upstream);
  assert.deepEqual(rejected, []);
  assert.equal(end?.gap, null);
  const found = new Map(records.map(({ mint, priceRaw }) => [mint, priceRaw]));
  for (const [index, raw] of amounts.entries()) {
    const printed = parseNativeAmount(String(Number(toDecimalText(raw, 9))), 9);
    assert.equal(found.get(addressOf('mint', index)), String(printed));
    if (raw < 10n ** 15n) assert.equal(printed, raw);
  }
});

test('a row is rejected if a field is invalid, or if the row belongs to another currency, marketplace or collection', async (t) => {
  const { book, upstream } = await start(t);
  const sol = { rawAmount: '1000000000', address: 'So11111111111111111111111111111111111111112', decimals: 9 };
  const changesByReason = {
    'price: is not a whole number of lamports': { price: 0.1 + 0.2, priceInfo: undefined },
    'price: is not positive': { price: 0, priceInfo: undefined },
    'price: must be a number, not a string': { price: '1.5', priceInfo: undefined },
    'price: must be a number, not an object': { price: {}, priceInfo: undefined },
    'priceInfo.solPrice.rawAmount: is not an amount': { priceInfo: { solPrice: { ...sol, rawAmount: '1.5' } } },
    'priceInfo.solPrice.decimals: are not 9': { priceInfo: { solPrice: { ...sol, decimals: 6 } } },
    'unsupported: priceInfo.splPrice: is another currency': {
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
  const rows = Object.values(changesByReason).map((more, index) => listingRow(1_000 + index, more));
  book.listings.set(LANTERNS_SYMBOL, [...Array.from({ length: 200 }, (_, index) => listingRow(index)), ...rows]);
  const { records, rejected, end } = await walk(upstream);
  assert.deepEqual([...new Set(rejected)].sort(), Object.keys(changesByReason).sort());
  assert.equal(new Set(records.map(({ mint }) => mint)).size, 200);
  assert.equal(end?.gap, null, 'a few invalid rows made the walk incomplete');
});

test('an exact amount keeps all of its 20 digits', async (t) => {
  const { book, upstream } = await start(t);
  const rawAmount = '12345678901234567891';
  book.listings.set(LANTERNS_SYMBOL, [
    listingRow(1, { price: 12345678901.234568, priceInfo: { solPrice: { rawAmount, decimals: 9 } } }),
  ]);
  assert.equal((await walk(upstream)).records[0]?.['priceRaw'], rawAmount);
});

test('each token that a pool sells becomes a separate listing', async (t) => {
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

test('an expiry of -1 means no expiry', async (t) => {
  const { book, upstream } = await start(t);
  book.listings.set(LANTERNS_SYMBOL, [listingRow(1, { expiry: -1 }), listingRow(2, { expiry: 1_800_000_000 })]);
  const { records } = await walk(upstream);
  const listings = records.filter(({ kind }) => kind === 'listing');
  assert.deepEqual(
    listings.map(({ expiresAt }) => expiresAt),
    [undefined, '2027-01-15T08:00:00.000Z'],
  );
});

test('a walk stays complete when only a few listings end between two pages', async (t) => {
  const { book, upstream } = await start(t);
  const rows = Array.from({ length: 257 }, (_, index) => listingRow(index));
  for (const [gone, isComplete] of [
    [9, true],
    [10, false],
    [11, false],
  ] as const) {
    book.listings.set(LANTERNS_SYMBOL, rows);
    book.onListings = (offset) => {
      if (offset > 0 && offset < 100) book.listings.set(LANTERNS_SYMBOL, rows.slice(gone));
    };
    const { records, end } = await walk(upstream);
    assert.equal(
      end?.gap === null,
      isComplete,
      `a walk during which ${gone} listings ended is wrongly reported as complete or incomplete`,
    );
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
  assert.equal((await walk(upstream, 45)).end?.gap, 'fewer listings than counted');
});

test('the walk ends when a server repeats a page or sends more rows than requested', async (t) => {
  const { book, replay, upstream } = await start(t);
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

test('no fault leads to an incorrect listing, or to an incomplete walk that is reported as complete', async (t) => {
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

test('no fault leads to an incorrect sale, or to an incomplete walk that is reported as complete', async (t) => {
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
