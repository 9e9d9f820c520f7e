// GET /v1/collections/{id}/floor.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLog } from '../../../../src/platform/core/log.ts';
import { LastBuyerFloors } from '../../../../src/market/reads/floors/last-buyer-floors.ts';
import { MarketSource } from '../../../../src/market/reads/market-source.ts';
import type { TestCollection } from '../../../support/service/market.ts';
import {
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
  UINT256_MAX,
  forOneMarket,
  mintOf,
  newCollection,
  range,
} from '../../../support/service/market.ts';

/** Differs from the default, so that a test fails when the setting has no effect. */
const settings = { PLATFORM_FEE_BPS: '250' };

forOneMarket('floor', { settings }, (market) => {
  const read = async (subject: TestCollection) => (await market.ok(`${subject.path}/floor`)).data;
  const rawsOf = async (subject: TestCollection) => {
    const { askFloor, buyerFloor } = await read(subject);
    return [askFloor?.raw ?? null, buyerFloor?.raw ?? null];
  };

  test('the floor response has every field', async () => {
    const subject = newCollection({ chain: 'apechain', royaltyBps: 500 });
    await market.load([
      subject.collection(),
      subject.order('1', 2n * 10n ** 18n),
      { kind: 'rate', symbol: 'APE', usd: 0.5, at: market.ago(0) },
    ]);
    assert.deepEqual(await market.ok(`${subject.path}/floor`), {
      data: {
        collectionId: subject.id,
        askFloor: { raw: '2000000000000000000', decimal: 2, currency: 'APE', usd: 1 },
        buyerFloor: { raw: '2150000000000000000', decimal: 2.15, currency: 'APE', usd: 1.08 },
        aggregated: true,
        updatedAt: new Date(market.now()).toISOString(),
        stale: false,
      },
    });
  });

  test('the floor response keeps its ETag although `updatedAt` is the time of the request', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.order('1', 5)]);
    const responses = [];
    for (const ms of [0, 1, 400, SECOND_MS, HOUR_MS]) {
      market.advance(ms);
      const response = await market.get(`${subject.path}/floor`);
      assert.equal(response.body.data.updatedAt, new Date(market.now()).toISOString());
      assert.equal(Number(response.headers.get('content-length')), Buffer.byteLength(response.text));
      responses.push(response.headers.get('etag'));
    }
    assert.equal(new Set(responses).size, 1);
  });

  test('both floors are null when no floor is known', async () => {
    const subject = newCollection();
    await market.load([subject.collection()]);
    const { askFloor, buyerFloor, stale } = await read(subject);
    assert.deepEqual([askFloor, buyerFloor, stale], [null, null, false]);
  });

  test('the floor is not found for an unknown collection and for a collection without a chain', async () => {
    await market.load([
      { kind: 'collection', slug: 'chainless', name: 'No chain', snapshot: { floorRaw: '5' } },
      { kind: 'collection', slug: 'unchained', name: 'No chain', contractAddress: `0x${'fe'.repeat(20)}` },
      { kind: 'collection', slug: 'addressless', chain: 'base', name: 'No address', snapshot: { floorRaw: '5' } },
    ]);
    for (const id of ['nobody', 'chainless', 'unchained', `0x${'FE'.repeat(20)}`]) {
      const response = await market.get(`/v1/collections/${id}/floor`);
      assert.equal(response.status, 404, id);
      assert.equal(response.body.error.code, 'not_found');
    }
    const { data } = await market.ok('/v1/collections/addressless/floor');
    assert.deepEqual(
      [data.askFloor.raw, data.buyerFloor],
      ['5', null],
      'the ask floor of a collection without an address was not served, or the collection has a buyer floor',
    );
  });

  describe('the ask floor', () => {
    test('the ask floor falls back from the listings to the analytics record, the stats record and the snapshot, in this order', async () => {
      const subject = newCollection({ snapshot: { floorRaw: '44' } });
      const ask = async () => {
        const [raw] = await rawsOf(subject);
        const { data } = await market.ok(subject.path);
        assert.equal(data.stats.floor.raw, raw, 'the detail of the collection has another floor');
        const { data: list } = await market.ok('/v1/collections?limit=100&chain=ethereum');
        assert.equal(
          list.find((one: any) => one.id === subject.id).stats.floor.raw,
          raw,
          'the list of collections has another floor',
        );
        return raw;
      };
      await market.load([subject.collection()]);
      assert.equal(await ask(), '44');
      await market.load([subject.stats({ floorRaw: '33' })]);
      assert.equal(await ask(), '33');
      await market.load([subject.analytics({ floorRaw: '22', at: market.ago(SECOND_MS) })]);
      assert.equal(await ask(), '22');
      await market.load([subject.analytics({ volume: { allTime: 1 } })]);
      assert.equal(await ask(), '33', 'an analytics record without a floor was not skipped');
      await market.load([subject.analytics({ floorRaw: '7' }), subject.order('1', 55)]);
      assert.equal(await ask(), '55', 'the floor of a record replaced the floor of the listings');
      await market.load([subject.order('1', 55, { status: 'filled' })]);
      assert.equal(await ask(), '7');
      market.advance(30 * MINUTE_MS);
      assert.equal(await ask(), '44', 'the floor of a record was used after 30 minutes');
    });

    test('a floor of zero that is stored in a record, in the snapshot or in the history is not known', async () => {
      const subject = newCollection({ snapshot: { floorRaw: '44' } });
      await market.load([
        subject.collection(),
        subject.stats({ floorRaw: '33', owners: 2 }),
        subject.analytics({ floorRaw: '22' }),
      ]);
      assert.equal((await rawsOf(subject))[0], '22');
      // Earlier versions stored zeros.
      const zeroed = [
        [market.indexer(), 'indexer.collection_analytics', 'floor_raw', 'collection_id'],
        [market.indexer(), 'indexer.collection_stats', 'floor_raw', 'collection_id'],
        [market.main(), 'main.collection', 'snapshot_floor_raw', 'id'],
      ] as const;
      for (const [index, expected] of [33, 44, null].entries()) {
        const [db, table, column, key] = zeroed[index] ?? assert.fail();
        await db.query(`update ${table} set ${column} = 0 where ${key} = $1`, [subject.id]);
        market.advance(MINUTE_MS);
        const raw = expected === null ? null : String(expected);
        assert.equal((await rawsOf(subject))[0], raw, table);
        assert.equal((await market.ok(subject.path)).data.stats.floor?.raw ?? null, raw, table);
        const { data: list } = await market.ok('/v1/collections?limit=100&chain=ethereum&sort=recent');
        assert.equal(list.find((one: any) => one.id === subject.id).stats.floor?.raw ?? null, raw, table);
      }
      await market
        .indexer()
        .query(
          `update indexer.market_hour set floor_high_raw = 0, floor_low_raw = 0, floor_close_raw = 0 where collection_id = $1`,
          [subject.id],
        );
      const explored = `/explore${subject.path}`;
      const { data } = await market.ok(explored);
      assert.deepEqual([data.stats.floor, new Set(data.sparkline)], [null, new Set([null])]);
      for (const interval of ['hour', 'day']) {
        const { data: points } = await market.ok(`${explored}/history?interval=${interval}`);
        const unknown = { open: null, high: null, low: null, close: null };
        assert.deepEqual(points.at(-1).floor, unknown, interval);
      }
    });

    test('the ask floor is null when it is known that nothing is listed, whatever floors the records and the snapshot have', async () => {
      const subject = newCollection({ snapshot: { floorRaw: '44' } });
      await market.load([
        subject.collection(),
        subject.listing('1', 5, { expiresAt: market.ago(-MINUTE_MS) }),
        subject.stats({ floorRaw: '33' }),
        subject.analytics({ floorRaw: '22' }),
      ]);
      assert.equal((await rawsOf(subject))[0], '5');
      market.advance(MINUTE_MS);
      assert.deepEqual(await rawsOf(subject), [null, null]);
      assert.equal((await market.ok(subject.path)).data.stats.floor, null);
    });

    test('the ask floor is the cheapest of the own orders and of the mirrored listings that no own order replaces', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), subject.listing('1', 5), subject.listing('2', 50)]);
      assert.equal((await rawsOf(subject))[0], '5');
      await market.load([subject.order('1', 90)]);
      assert.equal((await rawsOf(subject))[0], '50');
      await market.load([subject.order('2', 80)]);
      assert.equal((await rawsOf(subject))[0], '80');
      await market.load([subject.order('3', 7)]);
      assert.equal((await rawsOf(subject))[0], '7');
    });

    test('the ask floor is found even when own orders replace the 650 cheapest mirrored listings', async () => {
      const subject = newCollection();
      const replaced = range(650).flatMap((n) => [subject.listing(`${n}`, 1 + n), subject.order(`${n}`, 10_000 + n)]);
      await market.load([subject.collection(), ...replaced, subject.listing('9999', 5_000)]);
      assert.equal((await rawsOf(subject))[0], '5000');
      assert.equal((await market.ok(`${subject.path}/listings?limit=1`)).data[0].price.raw, '5000');
    });

    test('the ask floor is compared as an integer up to 2^256-1', async () => {
      const subject = newCollection();
      await market.load([
        subject.collection(),
        subject.order('1', UINT256_MAX),
        subject.listing('2', UINT256_MAX - 1n),
      ]);
      assert.equal((await rawsOf(subject))[0], (UINT256_MAX - 1n).toString());
    });

    test('the ask floor ignores rows that have ended, have expired or have a price of zero', async () => {
      const subject = newCollection({ chain: 'solana' });
      await market.load([
        subject.collection(),
        subject.listing(mintOf('1'), 10, { source: 'tensor' }),
        subject.listing(mintOf('2'), 9, { source: 'mercat' }),
        subject.listing(mintOf('3'), 0),
        subject.listing(mintOf('4'), 1, { status: 'filled' }),
        subject.listing(mintOf('5'), 1, { expiresAt: market.ago(0) }),
      ]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.deepEqual([(await rawsOf(subject))[0], data[0].price.raw], ['9', '9']);
    });
  });

  describe('the buyer floor', () => {
    test('the buyer floor of an own ask includes the platform fee and the royalty, each rounded up to the base unit', async () => {
      const cases: [bigint, number, bigint][] = [
        [1n, 500, 3n],
        [1n, 0, 2n],
        [40n, 0, 41n],
        [41n, 0, 43n],
        // 2.5 % of 10,001 are 250.025, which is rounded up to 251. 5 % are 500.05, which is rounded up to 501.
        [10_001n, 500, 10_753n],
        [10n ** 18n, 1_000, 1_125n * 10n ** 15n],
        [UINT256_MAX, 10_000, UINT256_MAX * 2n + UINT256_MAX / 40n + 1n],
      ];
      const subjects = cases.map(([, royaltyBps]) => newCollection({ royaltyBps }));
      await market.load(subjects.map((subject) => subject.collection()));
      await market.load(subjects.map((subject, index) => subject.order('1', cases[index]?.[0] ?? 0n)));
      for (const [index, subject] of subjects.entries()) {
        const [ask, , total] = cases[index] ?? [];
        assert.deepEqual(await rawsOf(subject), [`${ask}`, `${total}`]);
      }
    });

    test('the buyer floor is the ask plus the platform fee when the royalty is unknown', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), subject.order('1', 1_000)]);
      assert.deepEqual(await rawsOf(subject), ['1000', '1025']);
    });

    test('the buyer floor of a mirrored listing is its buyer total, or its ask if the listing has no buyer total', async () => {
      const subject = newCollection({ royaltyBps: 500 });
      await market.load([subject.collection(), subject.listing('1', 1_000, { buyerTotalRaw: '1111' })]);
      assert.deepEqual(await rawsOf(subject), ['1000', '1111']);
      await market.load([subject.listing('2', 1_050)]);
      assert.deepEqual(
        await rawsOf(subject),
        ['1000', '1050'],
        'the buyer floor was not taken from the listing with the lowest buyer total',
      );
    });

    test('a buyer total below the ask of its listing is unknown, so it does not hide the buyer floor of the collection', async () => {
      const subject = newCollection({ royaltyBps: 500 });
      await market.load([
        subject.collection(),
        subject.listing('1', 1_000, { buyerTotalRaw: '1111' }),
        subject.listing('2', 1_040, { buyerTotalRaw: '1039' }),
        subject.listing('3', 2_000, { buyerTotalRaw: '900' }),
      ]);
      assert.deepEqual(await rawsOf(subject), ['1000', '1040']);
      await market.load([subject.listing('2', 1_040, { status: 'cancelled' })]);
      assert.deepEqual(await rawsOf(subject), ['1000', '1111']);
    });

    test('the buyer floor is the lower of the buyer totals of an own order and a mirrored listing, whichever of them has the lower ask', async () => {
      const subject = newCollection({ royaltyBps: 500 });
      await market.load([
        subject.collection(),
        subject.order('1', 1_000),
        subject.listing('2', 900, { buyerTotalRaw: '1076' }),
      ]);
      assert.deepEqual(await rawsOf(subject), ['900', '1075']);
      await market.load([subject.listing('3', 1_050, { buyerTotalRaw: '1074' })]);
      assert.deepEqual(await rawsOf(subject), ['900', '1074']);
    });

    test('the buyer floor of an own Solana listing without a buyer total also includes the platform fee and the royalty', async () => {
      const subject = newCollection({ chain: 'solana', royaltyBps: 500 });
      const own = { source: 'mercat' };
      await market.load([subject.collection(), subject.listing(mintOf('1'), 1_000, own)]);
      assert.deepEqual(await rawsOf(subject), ['1000', '1075']);
      await market.load([subject.listing(mintOf('2'), 1_060, { source: 'tensor' })]);
      assert.deepEqual(await rawsOf(subject), ['1000', '1060']);
      await market.load([subject.listing(mintOf('3'), 1_010, { ...own, buyerTotalRaw: '1050' })]);
      assert.deepEqual(await rawsOf(subject), ['1000', '1050']);
      await market.load([subject.listing(mintOf('4'), 900, own)]);
      assert.deepEqual(await rawsOf(subject), ['900', '968']);
      await market.load([subject.listing(mintOf('5'), 800, { ...own, expiresAt: market.ago(0) })]);
      assert.deepEqual(await rawsOf(subject), ['900', '968']);
    });

    test('the buyer floor does not come from a mirrored listing while an unexpired own order replaces it', async () => {
      const subject = newCollection({ royaltyBps: 0 });
      await market.load([
        subject.collection(),
        subject.listing('1', 1_000),
        subject.order('1', 5_000, { expiresAt: market.ago(-MINUTE_MS) }),
        subject.listing('2', 4_000, { buyerTotalRaw: '4400' }),
      ]);
      assert.deepEqual(await rawsOf(subject), ['4000', '4400']);
      market.advance(MINUTE_MS);
      assert.deepEqual(await rawsOf(subject), ['1000', '1000']);
    });

    test('the buyer floor ignores rows that have ended, have expired or have a price of zero', async () => {
      const subject = newCollection();
      await market.load([
        subject.collection({ snapshot: { floorRaw: '3' } }),
        subject.order('1', 0),
        subject.order('2', 1, { status: 'filled' }),
        subject.order('3', 1, { expiresAt: market.ago(0) }),
        subject.listing('4', 0, { buyerTotalRaw: '1' }),
        subject.listing('5', 1, { status: 'cancelled' }),
        subject.listing('6', 100, { expiresAt: market.ago(-MINUTE_MS) }),
      ]);
      assert.deepEqual(await rawsOf(subject), ['100', '100']);
      market.advance(MINUTE_MS);
      assert.deepEqual(await rawsOf(subject), [null, null], 'a floor is served although every listing has ended');
    });
  });

  test('the last buyer floor is stored again after another process has deleted it, even if the clock was set back', async (t) => {
    const subject = newCollection();
    await market.load([subject.collection()]);
    let now = market.now();
    const clock = () => now;
    const options = { db: market.main(), timeoutMs: 60_000, log: createLog('silent'), clock, random: () => 0 };
    const source = new MarketSource({ name: 'last buyer floors', ...options });
    t.after(() => source.close());
    const floors = new LastBuyerFloors(source, clock);
    const note = async () => {
      floors.note(subject.id, { ask: 4n, total: 5n });
      await floors.settled();
    };
    await note();
    // Deletes the stored floor, as another process does when it finds no listing.
    await market.main().query(`delete from main.last_buyer_floor where collection_id = $1`, [subject.id]);
    now -= HOUR_MS;
    await note();
    const stored = await floors.list([subject.id]);
    assert.deepEqual([stored?.get(subject.id)?.raw, stored?.get(subject.id)?.askRaw], [5n, 4n]);
  });

  test('the floors are up to date in the first request after each import', async () => {
    const subject = newCollection({ royaltyBps: 0 });
    await market.load([subject.collection()]);
    assert.deepEqual(await rawsOf(subject), [null, null]);
    await market.load([subject.order('1', 1_000)]);
    assert.deepEqual(await rawsOf(subject), ['1000', '1025']);
    await market.load([subject.collection({ royaltyBps: 1_000 })]);
    assert.deepEqual(await rawsOf(subject), ['1000', '1125']);
    await market.load([subject.order('1', 1_000, { status: 'filled' })]);
    assert.deepEqual(await rawsOf(subject), [null, null]);
  });
});
