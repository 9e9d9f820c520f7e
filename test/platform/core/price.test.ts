// Tests the fields of a price: `raw`, `decimal`, `currency` and `usd`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UINT256_MAX } from '../../../src/platform/core/amount.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Chain } from '../../../src/platform/core/chains.ts';
import { RATE_AGE_MAX_MS, roundUsd, toPrice } from '../../../src/platform/core/price.ts';

const NOW = Date.UTC(2026, 6, 1);
const chainOf = (id: string): Chain => {
  const chain = createChains().get(id);
  assert.ok(chain);
  return chain;
};
const rates = (symbol: string, usd: number, at = NOW) => new Map([[symbol, { symbol, usd, at }]]);

test('a price has the fields raw, decimal, currency and usd, and is in the currency of its chain', () => {
  assert.deepEqual(toPrice(1_500_000_000n, chainOf('solana'), rates('SOL', 2), NOW), {
    raw: '1500000000',
    decimal: 1.5,
    currency: 'SOL',
    usd: 3,
  });
  const symbols = ['solana', 'ethereum', 'polygon', 'base', 'ink', 'apechain', 'abstract'].map(
    (id) => toPrice(0n, chainOf(id), new Map(), NOW).currency,
  );
  assert.deepEqual(symbols, ['SOL', 'ETH', 'POL', 'ETH', 'ETH', 'APE', 'ETH']);
});

test('for every amount, `raw` is the exact integer as text', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: UINT256_MAX }), (raw) => {
      const price = toPrice(raw, chainOf('ethereum'), rates('ETH', 3_000), NOW);
      return price.raw === raw.toString() && Number.isFinite(price.decimal) && Number.isFinite(price.usd);
    }),
  );
});

test('a price has a dollar amount only while the known rate of its currency is at most 15 minutes old', () => {
  const ether = 10n ** 18n;
  const usdAt = (now: number, symbol = 'ETH') => toPrice(ether, chainOf('base'), rates(symbol, 2_000), now).usd;
  assert.equal(RATE_AGE_MAX_MS, 15 * 60_000);
  assert.equal(usdAt(NOW), 2_000);
  assert.equal(usdAt(NOW + 15 * 60_000), 2_000);
  assert.equal(usdAt(NOW + 15 * 60_000 + 1), null);
  assert.equal(usdAt(NOW, 'SOL'), null);
  assert.equal(toPrice(ether, chainOf('base'), new Map(), NOW).usd, null);
});

test('a dollar amount has two decimals from one dollar up, and six significant digits below one dollar', () => {
  const rows: [number, number | null][] = [
    [0, 0],
    [1, 1],
    [1.234, 1.23],
    [1.235, 1.24],
    [1.999, 2],
    [0.1234567, 0.123457],
    [0.999999, 0.999999],
    [0.9999999, 1],
    [0.00000012345678, 0.000000123457],
    [1e-18, 1e-18],
    [123_456.789, 123_456.79],
    [1e20, 1e20],
    [Number.POSITIVE_INFINITY, null],
    [Number.NaN, null],
  ];
  for (const [usd, rounded] of rows) assert.equal(roundUsd(usd), rounded, String(usd));
});

test('rounding changes a dollar amount by at most half of its last digit', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (usd) => {
      const rounded = roundUsd(usd);
      if (rounded === null) return false;
      const tolerance = usd >= 1 ? 0.005 + usd * Number.EPSILON : usd * 5.000001e-6;
      return Math.abs(rounded - usd) <= tolerance && roundUsd(rounded) === rounded;
    }),
  );
});
