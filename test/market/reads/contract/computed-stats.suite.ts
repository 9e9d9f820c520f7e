// Tests the stats that the service computes from rows. The tests of GET /v1/collections/{id} start the service and declare these tests.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toEvmAddress } from '../../../../sample/random.ts';
import type { TestCollection, TestMarket } from '../../../support/service/market.ts';
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
  UINT256_MAX,
  mintOf,
  newCollection,
  range,
} from '../../../support/service/market.ts';

const OWNERS = range(3).map((n) => toEvmAddress('owner', `${n}`));

/** Supply, owners, listings and sales of a collection that has neither a stats record nor an analytics record. */
export function describeComputedStats(market: TestMarket): void {
  const statsOf = async (subject: TestCollection) => (await market.ok(subject.path)).data.stats;

  describe('stats without a stats or analytics record', () => {
    test('supply and owners are counted when the collection record says that the tokens are complete', async () => {
      const subject = newCollection();
      const tokens = range(9).map((n) => subject.token(`${n}`, n < 7 ? { owner: OWNERS[n % 3] } : {}));
      await market.load([subject.collection({ tokensComplete: true }), ...tokens]);
      const { supply, owners } = await statsOf(subject);
      assert.deepEqual([supply, owners], [9, 3]);
      await market.load([subject.collection({ tokensComplete: false })]);
      const unknown = await statsOf(subject);
      assert.deepEqual([unknown.supply, unknown.owners], [null, null]);
    });

    test('supply and owners are those of the snapshot while the tokens are not known to be complete', async () => {
      const subject = newCollection({ snapshot: { supply: 10_000, owners: 5_000 } });
      await market.load([subject.collection(), subject.token('1', { owner: OWNERS[0] })]);
      const { supply, owners } = await statsOf(subject);
      assert.deepEqual([supply, owners], [10_000, 5_000]);
    });

    test('a Solana collection has no listed count while no source has its listings', async () => {
      const subject = newCollection({ chain: 'solana' });
      await market.load([subject.collection(), { kind: 'collection', slug: 'nowhere', name: 'Nowhere' }]);
      assert.equal((await statsOf(subject)).listedCount, null);
      assert.equal((await market.ok('/v1/collections/nowhere')).data.stats.listedCount, null);
    });

    test('the sales of the last day and week are null from two hours after the newest imported sale, until an import says that there is no later one', async () => {
      const subject = newCollection();
      const sale = subject.sale('1', 10n ** 18n, { timestamp: market.ago(0) });
      await market.load([subject.collection(), sale]);
      market.advance(2 * HOUR_MS - MINUTE_MS);
      assert.deepEqual((await statsOf(subject)).sales, { allTime: 1, sevenDay: 1, twentyFourHour: 1 });
      market.advance(MINUTE_MS);
      assert.deepEqual((await statsOf(subject)).sales, { allTime: 1, sevenDay: null, twentyFourHour: null });
      await market.load([sale], { completeUntil: market.now() });
      market.advance(MINUTE_MS);
      assert.deepEqual((await statsOf(subject)).sales, { allTime: 1, sevenDay: 1, twentyFourHour: 1 });
    });

    test('an asset whose listings in the order book or the mirror are active, unexpired and priced above zero is counted once', async () => {
      const subject = newCollection();
      await market.load([
        subject.collection(),
        subject.order('1', 5),
        subject.order('1', 6, { createdAt: market.ago(HOUR_MS) }),
        subject.listing('1', 4),
        subject.listing('2', 4),
        subject.listing('2', 5, { source: 'blur' }),
        subject.order('3', 5),
        subject.order('4', 5, { status: 'cancelled' }),
        subject.order('5', 0),
        subject.listing('6', 5, { status: 'filled' }),
        subject.listing('7', 5, { expiresAt: market.ago(0) }),
        subject.order('8', 5, { expiresAt: market.ago(-MINUTE_MS) }),
      ]);
      assert.equal((await statsOf(subject)).listedCount, 4);
      market.advance(MINUTE_MS);
      assert.equal((await statsOf(subject)).listedCount, 3);
      assert.equal((await market.ok(`${subject.path}/listings`)).data.length, 3);
    });

    test('the listed assets of a Solana collection are counted', async () => {
      const subject = newCollection({ chain: 'solana' });
      await market.load([
        subject.collection(),
        subject.listing(mintOf('x'), 5, { source: 'tensor' }),
        subject.listing(mintOf('x'), 5, { source: 'mercat' }),
        subject.listing(mintOf('y'), 5, { source: 'mercat' }),
      ]);
      assert.equal((await statsOf(subject)).listedCount, 2);
    });

    test('the listed count is zero when every listing has ended', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), subject.order('1', 5, { status: 'filled' })]);
      assert.equal((await statsOf(subject)).listedCount, 0);
    });

    test('the last day and week include a sale that is exactly a day or a week old', async () => {
      const subject = newCollection();
      const eth = (tenths: number) => (BigInt(tenths) * 10n ** 17n).toString();
      const sold = (n: number, msAgo: number) => subject.sale(`${n}`, eth(2 ** n), { timestamp: market.ago(msAgo) });
      await market.load([
        subject.collection(),
        sold(0, 0),
        sold(1, DAY_MS - 1),
        sold(2, DAY_MS),
        sold(3, DAY_MS + 1),
        sold(4, 7 * DAY_MS - 1),
        sold(5, 7 * DAY_MS),
        sold(6, 7 * DAY_MS + 1),
        sold(7, 400 * DAY_MS),
        subject.sale('8', 0, { timestamp: market.ago(DAY_MS - 2) }),
        subject.sale('9', '5 USDC', { timestamp: market.ago(DAY_MS - 2) }),
      ]);
      const { volume, sales } = await statsOf(subject);
      assert.deepEqual(volume, { allTime: 25.5, sevenDay: 6.3, twentyFourHour: 0.7 });
      assert.deepEqual(sales, { allTime: 9, sevenDay: 7, twentyFourHour: 4 });
    });

    test('the last day excludes a sale as soon as the sale is a millisecond older than a day', async () => {
      const subject = newCollection();
      // Sales in the hour in which the last day begins, and in the full hours before and after this hour.
      const ages = [-90, -61, -60, -59, -31, -30, -29, -1, 0, 1, 29, 30, 31, 59, 60, 61, 90].map(
        (minutes) => DAY_MS + minutes * MINUTE_MS,
      );
      await market.load(
        [
          subject.collection(),
          ...ages.map((age, n) => subject.sale(`${n}`, 10n ** 18n, { timestamp: market.ago(age) })),
        ],
        { completeUntil: market.now() },
      );
      const since = market.now();
      // Each step is longer than the time for which the cache serves a response.
      for (const step of [SECOND_MS, 29 * MINUTE_MS, MINUTE_MS, SECOND_MS + 1, 30 * MINUTE_MS, MINUTE_MS]) {
        market.advance(step);
        const passed = market.now() - since;
        const expected = ages.filter((age) => age + passed <= DAY_MS).length;
        const { sales, volume } = await statsOf(subject);
        assert.deepEqual(
          [sales.twentyFourHour, volume.twentyFourHour],
          [expected, expected],
          `the stats are wrong after ${passed} ms`,
        );
      }
    });

    test('sales whose price cannot be interpreted are counted, and the volume is unknown', async () => {
      const subject = newCollection();
      const prices = ['0', '6.27e+16', '1.5', '-3', (UINT256_MAX + 1n).toString(), '2000000000000000000'];
      await market.load([
        subject.collection(),
        ...prices.map((price, n) => subject.sale(`${n}`, price, { timestamp: market.ago(n * SECOND_MS) })),
      ]);
      const { volume, sales } = await statsOf(subject);
      assert.deepEqual(volume, { allTime: null, sevenDay: null, twentyFourHour: null });
      assert.deepEqual(sales, { allTime: 5, sevenDay: 5, twentyFourHour: 5 });
    });

    test('the stats are the same whether sales are imported together, one by one, or twice', async () => {
      const [atOnce, oneByOne] = [newCollection(), newCollection()];
      const sales = (subject: TestCollection) =>
        range(12).map((n) => subject.sale(`${n}`, 10n ** 18n, { timestamp: market.ago(n * 5 * HOUR_MS) }));
      await market.load([atOnce.collection(), ...sales(atOnce)]);
      await market.load([oneByOne.collection()]);
      for (const sale of sales(oneByOne)) await market.load([sale]);
      await market.load(sales(oneByOne));
      const [one, other] = [await statsOf(atOnce), await statsOf(oneByOne)];
      assert.deepEqual(one.sales, { allTime: 12, sevenDay: 12, twentyFourHour: 5 });
      assert.deepEqual(other, one);
    });

    test('volumes are summed exactly, even above 2^256', async () => {
      const subject = newCollection();
      await market.load([
        subject.collection(),
        subject.sale('1', UINT256_MAX),
        subject.sale('2', UINT256_MAX),
        subject.sale('3', 2),
      ]);
      const exact = '231584178474632390847141970017375815706539969331281128078915.168015826259279872';
      assert.equal((await statsOf(subject)).volume.allTime, Number(exact));
    });

    test('sales and volume of a day or week without sales are zero when an older sale is known', async () => {
      const subject = newCollection();
      const sale = subject.sale('1', 10n ** 18n, { timestamp: market.ago(30 * DAY_MS) });
      await market.load([subject.collection(), sale], { completeUntil: market.now() });
      const { volume, sales } = await statsOf(subject);
      assert.deepEqual([volume, sales].map(Object.values), [
        [1, 0, 0],
        [1, 0, 0],
      ]);
    });
  });
}
