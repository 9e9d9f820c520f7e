// Tests the merge of the own order book and the mirror into one listing window.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keepFirstPerAsset, mergeListings } from '../../../src/market/reads/listing-window.ts';
import type { PricedRow } from '../../../src/market/reads/sorted-rows.ts';
import { WINDOW_SIZE_MAX, compareListings } from '../../../src/market/reads/sorted-rows.ts';

const entry = fc.record({
  asset: fc.integer({ min: 0, max: 40 }).map(String),
  raw: fc.oneof(fc.bigInt({ min: 1n, max: 12n }), fc.bigInt({ min: 2n ** 255n, max: 2n ** 256n - 1n })),
  orderId: fc.string({ unit: fc.constantFrom('a', 'b', 'A', '1', '_'), minLength: 1, maxLength: 3 }),
});
const book = (min: number, max: number) =>
  fc.uniqueArray(entry, { minLength: min, maxLength: max, selector: (one) => one.orderId + one.asset });

/**
 * Applies the rules without optimisation. An asset of the own order book (`own` or `ownAssets`) gets its cheapest row of `own`, or no row if
 * `own` has none. Any other asset gets its cheapest mirrored row. Then the rows are sorted and cut.
 */
function naiveWindow(own: PricedRow[], mirrored: PricedRow[], ownAssets: ReadonlySet<string>): PricedRow[] {
  const isBefore = (a: PricedRow, b: PricedRow) => a.raw < b.raw || (a.raw === b.raw && a.orderId < b.orderId);
  const assets = new Set([...own, ...mirrored].map((one) => one.asset));
  const rows: PricedRow[] = [];
  for (const asset of assets) {
    const mine = own.filter((one) => one.asset === asset);
    const candidates =
      mine.length > 0 ? mine : ownAssets.has(asset) ? [] : mirrored.filter((one) => one.asset === asset);
    const best = candidates.find((one) => candidates.every((other) => !isBefore(other, one)));
    if (best) rows.push(best);
  }
  return rows.sort((a, b) => (isBefore(a, b) ? -1 : 1)).slice(0, 250);
}

const texts = (rows: PricedRow[]) => rows.map((row) => `${row.asset} ${row.raw} ${row.orderId}`);

test('a window holds at most 250 assets', () => {
  assert.equal(WINDOW_SIZE_MAX, 250);
});

test('the merge equals a naive implementation of the rules', () => {
  fc.assert(
    fc.property(book(0, 40), book(0, 60), fc.subarray(['1', '2', '3', '4', '5']), (own, mirrored, furtherOwn) => {
      const ownAssets = new Set([...own.map((one) => one.asset), ...furtherOwn]);
      const merged = mergeListings(own, mirrored, ownAssets);
      // The rows are compared as a set, because rows with the same price and id but different assets have no defined order.
      assert.deepEqual(texts(merged).toSorted(), texts(naiveWindow(own, mirrored, ownAssets)).toSorted());
      for (const [index, row] of merged.entries())
        assert.ok(
          index === 0 || compareListings(merged[index - 1] ?? row, row) <= 0,
          `row ${index} is not in its place`,
        );
    }),
  );
});

test('the merge does not depend on the order of its input', () => {
  fc.assert(
    fc.property(book(0, 30), book(0, 30), (own, mirrored) => {
      const ownAssets = new Set(own.map((one) => one.asset));
      // The order of rows with the same price and id but different assets is not defined.
      const ids = [...own, ...mirrored].map((one) => one.orderId);
      fc.pre(new Set(ids).size === ids.length);
      assert.deepEqual(
        mergeListings(own.toReversed(), mirrored.toReversed(), ownAssets),
        mergeListings(own, mirrored, ownAssets),
      );
    }),
  );
});

test('the window is cut at the 250 cheapest assets after the merge', () => {
  const row = (asset: number, raw: number, orderId: string) => ({ asset: `${asset}`, raw: BigInt(raw), orderId });
  const own = Array.from({ length: 300 }, (_, n) => row(n, 10_000 + n, `own${n}`));
  const replaced = Array.from({ length: 300 }, (_, n) => row(n, 1 + n, `replaced${n}`));
  const others = Array.from({ length: 300 }, (_, n) => row(1_000 + n, 5_000 + n, `other${n}`));
  const window = mergeListings(own, [...replaced, ...others], new Set(own.map((one) => one.asset)));
  assert.deepEqual(texts(window), texts(others.slice(0, 250)));
});

test('listings are compared by price as an integer, then by the code units of the order id', () => {
  const row = (raw: bigint, orderId: string) => ({ asset: '1', raw, orderId });
  assert.ok(compareListings(row(9n, 'z'), row(10n, 'a')) < 0);
  assert.ok(compareListings(row(2n ** 256n - 1n, 'a'), row(2n ** 256n - 2n, 'a')) > 0);
  assert.ok(compareListings(row(5n, 'Z'), row(5n, 'a')) < 0);
  assert.equal(compareListings(row(5n, 'a'), row(5n, 'a')), 0);
});

test('only the first of several listings of an asset is kept', () => {
  fc.assert(
    fc.property(book(0, 50), fc.nat(50), (rows, assetsMax) => {
      const kept = keepFirstPerAsset(rows, assetsMax);
      const first = rows.filter((row, index) => rows.findIndex((other) => other.asset === row.asset) === index);
      assert.deepEqual(kept, first.slice(0, assetsMax));
    }),
  );
});
