// Tests which of Magic Eden's asks on EVM chains become listings, and when a walk over all asks of a collection is complete.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChains } from '../../../../src/platform/core/chains.ts';
import { JsonNumber, parseJsonText } from '../../../../src/platform/core/json-text.ts';
import { toListingIdOfOrder } from '../../../../src/market/index/row-keys.ts';
import { parseMagicEdenAsks, walkMagicEdenAsks } from '../../../../src/sources/upstreams/magic-eden/evm.ts';
import {
  assertValidRecords,
  collectPages,
  createTestUpstream,
  underEveryFault,
} from '../../../support/replay/every-fault.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { startReplayServer } from '../../../support/replay/replay.ts';
import { askRow, createMagicEdenBook, magicEdenRoutes } from '../../../support/replay/magic-eden.ts';

/** The contract of `asks-v3.json`. */
const KITES = '0x7f57bc32ee0034fa9a41fac7df1d2c0e5782b9ad';
const CONTRACT = '0x00000000000000000000000000000000000a5ced';
const ethereum = createChains().get('ethereum') ?? assert.fail();

async function start(t: Parameters<typeof startReplayServer>[0]) {
  const book = createMagicEdenBook();
  const replay = await startReplayServer(t, magicEdenRoutes(book));
  return { book, replay, upstream: createTestUpstream(replay.url) };
}

test('an ask of the older API becomes a listing, unless it is of another marketplace', () => {
  const { orders } = parseJsonText(readFixture('magic-eden/asks-v3.json')) as { orders: Record<string, unknown>[] };
  const kites = { chain: ethereum, contractAddress: KITES };
  assert.deepEqual(parseMagicEdenAsks(orders, kites), { records: [], rejected: [], unsupported: [], skipped: 1 });
  const own = orders.map((order) => ({ ...order, source: { domain: 'magiceden.io' } }));
  const { records } = parseMagicEdenAsks(own, kites);
  const orderHash = String(orders[0]?.['id']);
  assert.deepEqual(records, [
    {
      kind: 'listing',
      source: 'magic-eden',
      chain: 'ethereum',
      contractAddress: KITES,
      tokenId: '41',
      id: toListingIdOfOrder({ source: 'magic-eden', chain: 'ethereum', orderHash }),
      orderHash,
      priceRaw: '52500000000000000',
      seller: String(orders[0]?.['maker']).toLowerCase(),
      timestamp: '2024-06-10T06:13:20.500Z',
    },
  ]);
  assertValidRecords(records);
  const several = own.map((order) => ({ ...order, quantityRemaining: new JsonNumber('3') }));
  assert.deepEqual(parseMagicEdenAsks(several, kites).unsupported, ['quantityRemaining: is not one token']);
  const begins = 1_718_000_000_000;
  assert.equal(parseMagicEdenAsks(own, { ...kites, begunBy: begins }).records.length, 1);
  assert.equal(parseMagicEdenAsks(own, { ...kites, begunBy: begins - 1 }).skipped, 1);
});

test('asks are read to the last page', async (t) => {
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

test('the chain of an ask is recognised by the name that Magic Eden has for it', () => {
  const chain = { ...ethereum, names: { ...ethereum.names, 'magic-eden': ['eth-main'] as const } };
  const rows = [askRow(1, CONTRACT, { chain: 'eth-main' }), askRow(2, CONTRACT, { chain: 'ethereum' })];
  const page = parseMagicEdenAsks(parseJsonText(JSON.stringify(rows)) as unknown[], {
    chain,
    contractAddress: CONTRACT,
  });
  assert.deepEqual([page.records.length, page.rejected], [1, ['chain: is another chain']]);
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

test('a walk is complete even if most of its asks are in another currency', async (t) => {
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

test('no fault leads to an incorrect ask, or to an incomplete walk that is reported as complete', async (t) => {
  const { book, replay, upstream } = await start(t);
  book.asks.set(
    CONTRACT,
    Array.from({ length: 230 }, (_, index) => askRow(index, CONTRACT)),
  );
  const run = () => collectPages(walkMagicEdenAsks(upstream, { chain: ethereum, contractAddress: CONTRACT }));
  await underEveryFault(replay, run, { good: await run() });
});
