// The past floors and listed counts are those that the rule of the present floor gives for the listings of each moment.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../../sample/random.ts';
import type { PastListing } from '../../../src/market/index/floor-history.ts';
import { toPastHours } from '../../../src/market/index/floor-history.ts';
import { range } from '../../support/service/market.ts';

const HOUR_MS = 3_600_000;
const END = 40 * HOUR_MS;

/** The floor of the listings that are open at `at`, written a second time, without any state. */
function floorAt(listings: readonly PastListing[], at: number): { floorRaw: bigint | null; listed: number } {
  const open = listings.filter(({ from, until }) => from <= at && at < until);
  const asks = [...new Set(open.map(({ asset }) => asset))].map((asset) => {
    const ofAsset = open.filter((one) => one.asset === asset);
    const own = ofAsset.filter(({ isOwn }) => isOwn);
    return (own.length > 0 ? own : ofAsset).map(({ priceRaw }) => priceRaw).reduce((a, b) => (a < b ? a : b));
  });
  return { floorRaw: asks.length === 0 ? null : asks.reduce((a, b) => (a < b ? a : b)), listed: asks.length };
}

function randomListing(random: Random): PastListing {
  const from = random.integer(0, 50 * 4) * (HOUR_MS / 4);
  const end = random.boolean(0.2) ? Infinity : from + random.integer(0, 20 * 4) * (HOUR_MS / 4);
  return {
    asset: String(random.integer(1, 5)),
    isOwn: random.boolean(0.3),
    priceRaw: BigInt(random.integer(1, 30)),
    from,
    until: end,
    mayEnd: end,
  };
}

test('at the end of each hour, the floor and the listed count are those of the listings that are open', () => {
  for (const seed of range(60)) {
    const random = new Random('past', String(seed));
    const listings = range(random.integer(1, 25)).map(() => randomListing(random));
    const hours = new Map(toPastHours(listings, END).map((one) => [one.hour, one]));
    let known = { floorRaw: null as bigint | null, listed: 0 as number | null };
    for (let hour = 0; hour < END; hour += HOUR_MS) {
      const changed = hours.get(hour);
      if (changed) known = { floorRaw: changed.closeRaw, listed: changed.listed };
      assert.deepEqual(known, floorAt(listings, hour + HOUR_MS - 1), `seed ${seed}, hour ${hour / HOUR_MS}`);
      if (!changed) continue;
      const changes = new Set(listings.flatMap(({ from, until }) => [from, until]));
      const floors = [...changes]
        .filter((at) => at >= hour && at < hour + HOUR_MS)
        .flatMap((at) => floorAt(listings, at).floorRaw ?? []);
      for (const extreme of [changed.highRaw, changed.lowRaw]) {
        if (extreme === null) assert.deepEqual(floors, []);
        else assert.ok(floors.includes(extreme), `seed ${seed}: ${extreme} is no floor of the hour`);
      }
    }
    assert.ok([...hours.keys()].every((hour) => hour < END));
  }
});

test('while a listing whose end is not known may have been the cheapest, no floor is known, and no listed count', () => {
  const open = { isOwn: false, from: 0, until: Infinity, mayEnd: Infinity };
  const unknown = { isOwn: false, from: HOUR_MS, until: HOUR_MS, mayEnd: 3 * HOUR_MS };
  const closes = (cancelled: Partial<PastListing>) =>
    toPastHours(
      [
        { ...open, asset: '1', priceRaw: 10n },
        { ...unknown, asset: '2', priceRaw: 20n, ...cancelled },
      ],
      END,
    ).map(({ hour, closeRaw, listed }) => [hour / HOUR_MS, closeRaw, listed]);
  assert.deepEqual(closes({}), [
    [0, 10n, 1],
    [1, 10n, null],
    [3, 10n, 1],
  ]);
  assert.deepEqual(closes({ priceRaw: 9n }), [
    [0, 10n, 1],
    [1, null, null],
    [3, 10n, 1],
  ]);
  // At the price of the ask, the floor is the same with the listing and without it.
  assert.deepEqual(closes({ priceRaw: 10n }), [
    [0, 10n, 1],
    [1, 10n, null],
    [3, 10n, 1],
  ]);
  assert.deepEqual(closes({ asset: '1' }), [[0, 10n, 1]]);
  assert.deepEqual(closes({ asset: '1', isOwn: true }), [
    [0, 10n, 1],
    [1, null, 1],
    [3, 10n, 1],
  ]);
});

test(
  'the history of 50,000 listings of one asset whose ends are not known is derived in time',
  { timeout: 60_000 },
  () => {
    const listings = Array.from({ length: 50_000 }, (_, index): PastListing => {
      const from = END - (index + 2) * 1_000;
      return { asset: '1', isOwn: false, priceRaw: BigInt(2 + index), from, until: from, mayEnd: Infinity };
    });
    const first = END - 60_000_000;
    const open = { asset: '2', isOwn: true, priceRaw: 1n, from: first, until: Infinity, mayEnd: Infinity };
    const hours = toPastHours([...listings, open], END);
    assert.deepEqual([hours.at(-1)?.closeRaw, hours.at(-1)?.listed], [1n, null]);
  },
);
