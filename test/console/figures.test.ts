// Functions of the web console that compute texts and numbers. Their tests need no browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryPoint, Listing } from '../../client/src/market.ts';
import { sortByTotal } from '../../console/src/market/collection/by-total.ts';
import { toDepthCurves, toDepthSteps } from '../../console/src/market/collection/depth-steps.ts';
import { toSalesData } from '../../console/src/market/collection/sales-data.ts';
import { chosenTraits, toggleTrait, traitParameter } from '../../console/src/market/collection/trait-choice.ts';
import { toHistoryData, toHistoryFigures } from '../../console/src/market/collection/history-data.ts';
import { isStoppedCall, toRevert } from '../../console/src/trade/failure.ts';
import { unitsOf } from '../../console/src/market/order-units.ts';
import { collectionPath, tokenPath } from '../../console/src/market/paths.ts';
import { shortAddress, shortTokenId } from '../../console/src/format/address.ts';
import { exactAmount, formatAmount, formatUsd } from '../../console/src/format/amount.ts';
import { formatAge, formatElapsed, formatUtc } from '../../console/src/format/time.ts';

const price = (raw: bigint, decimal: number, usd: number | null = null) => ({
  raw,
  decimal,
  currency: 'ETH',
  usd,
  decimals: 18,
});
const ETHER = 10n ** 18n;

test('an amount has at most four significant digits, and is never rounded to zero', () => {
  const texts = [0, 0.42, 1.234_56, 0.003_658_2, 1_234.5, 10_940, 4_560_000, 0.000_000_1].map(formatAmount);
  assert.deepEqual(texts, ['0', '0.42', '1.235', '0.003658', '1,235', '10.94K', '4.56M', '<0.00001']);
});

test('the exact amount has every digit of the base units', () => {
  assert.equal(exactAmount(price(420_000_000_000_000_001n, 0.42)), '0.420000000000000001 ETH');
  assert.equal(exactAmount(price(1_234_567n * ETHER, 1_234_567)), '1,234,567 ETH');
  assert.equal(exactAmount({ raw: 2_400_000_000n, decimal: 2.4, currency: 'SOL', usd: null }), '2.4 SOL');
  assert.equal(exactAmount(price(1n, 1e-18)), '0.000000000000000001 ETH');
  assert.equal(exactAmount(price(0n, 0)), '0 ETH');
});

test('small amounts of dollars keep their cents, and an amount that is not zero is not written as zero', () => {
  assert.deepEqual([0.001, 0.5, 12.3, 1_234.56, 12_345_678].map(formatUsd), [
    '<$0.01',
    '$0.50',
    '$12.30',
    '$1,235',
    '$12.35M',
  ]);
});

test('a duration is shown in its largest unit, rounded down', () => {
  assert.deepEqual([0, 59, 60, 4_987, 100_000].map(formatElapsed), ['0 s', '59 s', '1 min', '1 h', '1 d']);
});

test('an age is shown in its largest unit, rounded down, and an age below a minute is shown as "now"', () => {
  const now = Date.UTC(2026, 0, 10);
  const ages = [0, 59, 60, 7_200, 86_400 * 3, 86_400 * 65, 86_400 * 800];
  assert.deepEqual(
    ages.map((seconds) => formatAge(new Date(now - seconds * 1_000).toISOString(), now)),
    ['now', 'now', '1 min', '2 h', '3 d', '2 mo', '2 y'],
  );
  assert.equal(formatUtc('2026-11-22T18:39:39.000Z'), '2026-11-22 18:39:39 UTC');
});

test('long addresses and ids are cut in the middle', () => {
  assert.equal(shortAddress('0x6ea0729f1fb210cc8f48018f6d8102da12f2b41e'), '0x6ea0…b41e');
  assert.equal(shortTokenId('249'), '#249');
  assert.equal(shortTokenId('1234567890123456'), '#12345…3456');
});

test('paths name a collection by its slug, and a Solana token by its collection and mint', () => {
  assert.equal(collectionPath({ id: 'base_0x1', slug: null }), '/c/base_0x1');
  assert.equal(collectionPath({ id: 'base_0x1', slug: 'two-suns' }), '/c/two-suns');
  const solana = { chain: 'solana', collectionId: 'solana_abc', contractAddress: null, tokenId: null, mint: 'Mint' };
  assert.equal(tokenPath(solana), '/t/solana/solana_abc/Mint');
  const evm = { chain: 'base', collectionId: 'base_0x1', contractAddress: '0x1', tokenId: '7', mint: null };
  assert.equal(tokenPath(evm), '/t/base/0x1/7');
});

test('the figures of a time range are the last floor with its change, the ends of the floor, and the sums', () => {
  const at = (ether: number) => price(BigInt(ether) * ETHER, ether);
  const point = (floor: Partial<HistoryPoint['floor']>, volume: number | null, sales: number): HistoryPoint => ({
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-01T01:00:00.000Z',
    floor: { open: null, high: null, low: null, close: null, ...floor },
    volume,
    sales,
    listed: null,
    topBid: null,
  });
  const points = [
    point({ high: at(4), low: at(4), close: at(4) }, 1.5, 1),
    point({ open: at(4), high: at(9), low: at(2), close: at(5) }, 2, 3),
  ];
  assert.deepEqual(toHistoryFigures(points), {
    floor: at(5),
    change: 0.25,
    low: at(2),
    high: at(9),
    volume: 3.5,
    sales: 4,
  });
  const unknown = toHistoryFigures([point({}, null, 1), ...points]);
  assert.deepEqual([unknown.change, unknown.volume, unknown.sales], [0.25, null, 5]);
  assert.deepEqual(toHistoryFigures([point({}, 0, 0)]).floor, null);
});

test('a price far above the others is cut off at the edge of the chart, and the volume includes it', () => {
  const at = (day: number, decimal: number) => ({
    timestamp: new Date(Date.UTC(2026, 0, day)).toISOString(),
    price: { decimal },
  });
  const usual = Array.from({ length: 30 }, (_, index) => at(index + 1, 1));
  const even = toSalesData(usual);
  assert.deepEqual([even.edge, even.clipped], [1, 0]);
  const uneven = toSalesData([at(31, 500), ...usual]);
  assert.deepEqual([uneven.edge, uneven.clipped], [2, 1]);
  assert.equal(
    uneven.periods.volumes.reduce((sum, volume) => sum + volume, 0),
    530,
  );
  assert.deepEqual(
    uneven.times,
    uneven.times.toSorted((a, b) => a - b),
  );
});

test('the time from the first to the last sale is divided into 32 periods, and the last period includes the last sale', () => {
  const sales = Array.from({ length: 65 }, (_, index) => ({
    timestamp: new Date(index * 1_000).toISOString(),
    price: { decimal: 1 },
  }));
  const { middles, volumes } = toSalesData(sales).periods;
  assert.deepEqual(
    middles,
    Array.from({ length: 32 }, (_, period) => period * 2 + 1),
  );
  assert.deepEqual(volumes, [...Array.from({ length: 31 }, () => 2), 3]);
});

test('a step of the listing depth has the number of its tokens, their highest price and the sum of their prices; the sum in dollars is unknown if the dollar price of one of these tokens is unknown', () => {
  const asks = Array.from({ length: 7 }, (_, index) => ({
    price: price(BigInt(index + 1) * ETHER, index + 1, index < 6 ? 3 : null),
    units: 1n,
  }));
  const steps = toDepthSteps(asks);
  assert.deepEqual(
    steps.map(({ tokens, upTo, sum }) => [tokens, upTo.decimal, sum.raw, sum.usd]),
    [
      [1, 1, ETHER, 3],
      [5, 5, 15n * ETHER, 15],
      [7, 7, 28n * ETHER, null],
    ],
  );
});

test('a bid for several tokens counts as often, and a step takes as many of them as it needs', () => {
  const bids = [
    { price: price(4n * ETHER, 4, 12), units: 3n },
    { price: price(2n * ETHER, 2, 6), units: 1_000_000n },
  ];
  assert.deepEqual(
    toDepthSteps(bids)
      .map(({ tokens, upTo, sum }) => [tokens, upTo.decimal, sum.raw, sum.usd])
      .slice(0, 2),
    [
      [1, 4, 4n * ETHER, 12],
      [5, 2, 16n * ETHER, 48],
    ],
  );
  assert.equal(toDepthSteps(bids).at(-1)?.tokens, 1_000_003);
});

test('at each price, the depth counts the asks up to it and the bids from it on', () => {
  const level = (decimal: number, units = 1n) => ({ price: price(BigInt(decimal) * ETHER, decimal, null), units });
  assert.deepEqual(toDepthCurves([level(5), level(5), level(7)], [level(4, 2n), level(3)]), {
    prices: [3, 4, 5, 7],
    asks: [null, null, 2, 3],
    bids: [3, 2, null, null],
  });
});

test('the chosen traits are in the URL, and choosing a value again removes it', () => {
  const parameters = new URLSearchParams([
    ['sort', 'rank'],
    [traitParameter('Hat & coat'), 'Cap'],
    [traitParameter('Hat & coat'), 'Fez'],
  ]);
  const chosen = chosenTraits(new URLSearchParams(parameters.toString()));
  assert.deepEqual([...chosen], [['Hat & coat', ['Cap', 'Fez']]]);
  assert.equal(chosen.get('constructor'), undefined);
  assert.deepEqual(toggleTrait(['Cap', 'Fez'], 'Cap'), ['Fez']);
  assert.deepEqual(toggleTrait([], 'Cap'), ['Cap']);
  assert.equal(toggleTrait(['Cap'], 'Cap'), null);
});

test('the units of an order are stated if the order offers several units, and after a fill the order counts as partly filled', () => {
  const order = (offer: readonly object[], kinds: readonly string[] = []) => ({
    fulfilment: { protocolAddress: '0x1', parameters: { offer }, criteriaProof: null, signature: '0x2' },
    evidence: kinds.map((kind) => ({ kind, at: '2026-11-22T00:00:00Z', block: null, tx: null })),
  });
  assert.equal(unitsOf(order([{ startAmount: '1' }])), null);
  assert.equal(unitsOf({ fulfilment: null, evidence: [] }), null);
  assert.deepEqual(unitsOf(order([{ startAmount: '5' }])), { offered: 5n, isPartlyFilled: false });
  const filled = order([{ startAmount: '5' }], ['order-validated', 'order-fulfilled']);
  assert.deepEqual(unitsOf(filled), { offered: 5n, isPartlyFilled: true });
});

test('the chart of a history extends the last floor to the time at which the history was read, so that a single point becomes a line', () => {
  const floor = { open: null, high: price(ETHER, 1), low: price(ETHER, 1), close: price(ETHER, 1) };
  const [from, to] = ['2026-11-22T10:00:00Z', '2026-11-22T11:00:00Z'];
  const data = toHistoryData(
    [{ from, to, floor, volume: 0, sales: 0, listed: 1, topBid: null }],
    Date.parse(from) + 600_000,
  );
  assert.deepEqual(
    [data.times.map((time) => time - Date.parse(from) / 1_000), data.floors],
    [
      [0, 600],
      [1, 1],
    ],
  );
  assert.deepEqual(
    [data.clippedFloors, data.volumes, data.clippedVolumes].map(({ length }) => length),
    [2, 2, 2],
  );
});

test('the chart of a history has room for top bids, but not for one far from the floor', () => {
  const floor = { open: null, high: null, low: null, close: price(10n * ETHER, 10) };
  const at = (hour: number, topBid: number | null) => ({
    from: `2026-11-22T1${hour}:00:00Z`,
    to: `2026-11-22T1${hour + 1}:00:00Z`,
    floor,
    volume: 0,
    sales: 0,
    listed: 1,
    topBid: topBid === null ? null : price(BigInt(topBid) * ETHER, topBid),
  });
  const read = (...bids: (number | null)[]) =>
    toHistoryData(
      bids.map((bid, hour) => at(hour, bid)),
      Date.now(),
    );
  const lowestDrawn = ({ floorRange: [from, to], floorEdge }: ReturnType<typeof read>) =>
    Math.round(((from + (to - floorEdge) * 5) / floorEdge) * 100) / 100;
  assert.deepEqual(read(null, 8, 9).topBids, [null, 8, 9, 9]);
  // Half of the span is below the lowest value, and a tenth above the greatest.
  assert.deepEqual([read(8, 9), read(1, 9)].map(lowestDrawn), [0.8, 0.5]);
  assert.ok(read(null, null).floorRange.every(Number.isFinite));
  const highestDrawn = ({ floorRange: [, to] }: ReturnType<typeof read>) => Math.round(to * 100) / 100;
  assert.deepEqual([read(10), read(15), read(90)].map(highestDrawn), [11, 15.5, 21]);
});

test('a call that a contract reverted is distinguished from a failure of the wallet or of its endpoint', () => {
  const stopped = [
    { code: 3, message: 'execution reverted', data: '0x' },
    { code: -32_603, message: 'Internal JSON-RPC error.', data: { code: 3, message: 'x', data: '0x' } },
    { code: -32_000, message: 'invalid opcode: INVALID' },
    { code: -32_015, message: 'VM execution error.' },
  ];
  const failed = [
    { code: 4_900, message: 'The provider is disconnected' },
    { code: -32_005, message: 'limit exceeded' },
    new TypeError('fetch failed'),
  ];
  for (const error of stopped) assert.equal(isStoppedCall(error), true, error.message);
  for (const error of failed) assert.equal(isStoppedCall(error), false, error.message);
  for (const error of stopped) assert.notEqual(toRevert(error), null, error.message);
  for (const error of failed) assert.equal(toRevert(error), null, error.message);
});

test('tokens are sorted by the total of a buyer as far as their places are final', () => {
  const listed = (id: string, ask: number, total: number | null) => {
    const toPrice = (raw: number) => ({ raw: BigInt(raw) });
    return { id, listing: { price: toPrice(ask), buyerTotal: total === null ? null : toPrice(total) } };
  };
  const read = [listed('a', 10, 30), listed('b', 11, 11), listed('c', 12, null), listed('d', 20, 20)];
  const idsOf = (rows: typeof read, isComplete: boolean) =>
    sortByTotal(rows, ({ listing }) => listing as unknown as Pick<Listing, 'price' | 'buyerTotal'>, { isComplete }).map(
      ({ id }) => id,
    );
  // A token with an ask of 20 or more may follow, and may have a total below 30.
  assert.deepEqual(idsOf(read, false), ['b', 'c', 'd']);
  assert.deepEqual(idsOf(read, true), ['b', 'c', 'd', 'a']);
});
