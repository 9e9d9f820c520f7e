// GET /v1/collections/{id}/listings.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sealCursor } from '../../../../src/platform/core/cursor.ts';
import {
  DAY_MS,
  HOUR_MS,
  SECOND_MS,
  START,
  forOneMarket,
  mintOf,
  newCollection,
  range,
  readCursorSecret,
} from '../../../support/service/market.ts';
import { describeMarketItems } from './market-items.suite.ts';

const rawsOf = (rows: any[]) => rows.map((row) => row.price.raw);
const assetsOf = (rows: any[]) => rows.map((row) => row.tokenId ?? row.mint);

let secret: Buffer = Buffer.alloc(0);
const prepare = async (settings: Record<string, string>) => {
  secret = await readCursorSecret(settings);
};

forOneMarket('listings', { prepare }, (market) => {
  describeMarketItems(market);

  describe('the merged list of own orders and external listings', () => {
    test('the merged list has one row for each asset: on EVM chains the own order, or the cheapest external listing if there is no own order', async () => {
      const subject = newCollection();
      await market.load([
        subject.collection(),
        subject.order('1', 100),
        subject.listing('1', 5, { source: 'opensea' }),
        subject.listing('1', 6, { source: 'blur' }),
        subject.listing('2', 50, { source: 'blur' }),
        subject.listing('2', 40, { source: 'opensea' }),
        subject.listing('2', 60, { source: 'magic-eden' }),
      ]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.deepEqual(
        data.map((row: any) => [row.tokenId, row.price.raw, row.marketplace]),
        [
          ['2', '40', 'opensea'],
          ['1', '100', 'MERCAT'],
        ],
      );
    });

    test('the merged list has only the cheapest of several own orders of one asset', async () => {
      const subject = newCollection();
      await market.load([
        subject.collection(),
        subject.order('1', 30),
        subject.order('1', 20, { createdAt: market.ago(HOUR_MS) }),
        subject.order('1', 25, { createdAt: market.ago(2 * HOUR_MS) }),
      ]);
      assert.deepEqual(rawsOf((await market.ok(`${subject.path}/listings`)).data), ['20']);
    });

    test('the merged list has the cheapest listing of an asset on Solana, whether it is an own or an external listing', async () => {
      const subject = newCollection({ chain: 'solana' });
      await market.load([
        subject.collection(),
        subject.listing(mintOf('a'), 9, { source: 'mercat' }),
        subject.listing(mintOf('a'), 8, { source: 'tensor' }),
        subject.listing(mintOf('b'), 7, { source: 'mercat' }),
        subject.listing(mintOf('b'), 70, { source: 'magic-eden' }),
      ]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.deepEqual(
        data.map((row: any) => [row.price.raw, row.marketplace]),
        [
          ['7', 'MERCAT'],
          ['8', 'tensor'],
        ],
      );
    });

    test('the merged list has the external listing of an asset whose own order has ended, has expired or has a price of zero', async () => {
      const subject = newCollection();
      const ended = ['filled', 'cancelled', 'expired'].map((status, index) =>
        subject.order(`${index}`, 10, { status, createdAt: market.ago(HOUR_MS) }),
      );
      await market.load([
        subject.collection(),
        ...ended,
        subject.order('3', 10, { expiresAt: market.ago(SECOND_MS) }),
        subject.order('4', 0),
        ...range(5).map((index) => subject.listing(`${index}`, 100 + index)),
      ]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.deepEqual(rawsOf(data), ['100', '101', '102', '103', '104']);
    });

    test('the merged list sorts rows of the same price by order id, compared by code units', async () => {
      const subject = newCollection();
      const ids = ['b', 'a', 'B', 'a1', '10', '9', 'é', 'z', '_'];
      await market.load([
        subject.collection(),
        ...ids.map((id, index) => subject.listing(`${index}`, 5, { id })),
        subject.order('77', 5),
      ]);
      const rows = await market.walk(`${subject.path}/listings?limit=4`);
      const expected = [...ids, `ethereum_${subject.address}_77_${START - DAY_MS}`].sort();
      assert.deepEqual(
        rows.map((row: any) => row.orderId),
        expected,
      );
    });

    test('the merged list leaves out rows that have expired, have ended, or have a price of zero', async () => {
      const subject = newCollection({ chain: 'solana' });
      await market.load([
        subject.collection(),
        subject.listing(mintOf('zero'), 0),
        subject.listing(mintOf('filled'), 1, { status: 'filled' }),
        subject.listing(mintOf('cancelled'), 1, { status: 'cancelled' }),
        subject.listing(mintOf('expired'), 1, { status: 'expired' }),
        subject.listing(mintOf('over'), 1, { expiresAt: market.ago(0) }),
        subject.listing(mintOf('still'), 2, { expiresAt: market.ago(-1) }),
        subject.listing(mintOf('open'), 3),
      ]);
      assert.deepEqual(rawsOf((await market.ok(`${subject.path}/listings`)).data), ['2', '3']);
      market.advance(1);
      assert.deepEqual(
        rawsOf((await market.ok(`${subject.path}/listings`)).data),
        ['3'],
        'a listing is still served at its expiry time',
      );
    });

    test('the merged list has the same rows as a naive implementation of the rules, for hundreds of orders and listings', async () => {
      const subject = newCollection();
      const draw = (seed: number, bound: number) => (seed * 7_919 + 104_729 * (seed % 97)) % bound;
      const orders = range(120).map((n) => ({ asset: `${draw(n, 200)}`, raw: 50 + draw(n * 3, 90), n }));
      const external = range(500).map((n) => ({ asset: `${draw(n * 5, 420)}`, raw: 20 + draw(n * 11, 300), n }));
      await market.load([
        subject.collection(),
        ...orders.map(({ asset, raw, n }) => subject.order(asset, raw, { createdAt: market.ago(HOUR_MS + n) })),
        ...external.map(({ asset, raw, n }) => subject.listing(asset, raw, { id: `x${n}` })),
      ]);
      type Entry = { asset: string; raw: number; id: string };
      const byPrice = (a: Entry, b: Entry) => a.raw - b.raw || (a.id < b.id ? -1 : 1);
      const toId = ({ asset, n }: { asset: string; n: number }) =>
        `ethereum_${subject.address}_${asset}_${market.now() - HOUR_MS - n}`;
      const own = orders.map((row) => ({ ...row, id: toId(row) })).sort(byPrice);
      const others = external.map((row) => ({ ...row, id: `x${row.n}` })).sort(byPrice);
      const best = new Map<string, Entry>();
      for (const entry of [...own, ...others]) if (!best.has(entry.asset)) best.set(entry.asset, entry);
      const expected = [...best.values()].sort(byPrice).slice(0, 250);
      assert.ok(best.size > 250, 'the test does not have more listed assets than the window can hold');
      const rows = await market.walk(`${subject.path}/listings?limit=100`);
      assert.deepEqual(
        rows.map((row: any) => [row.tokenId, row.price.raw, row.orderId]),
        expected.map(({ asset, raw, id }) => [asset, `${raw}`, id]),
      );
    });
  });

  describe('the window', () => {
    test('the window holds exactly the 250 cheapest assets, even when own orders replace hundreds of cheaper external rows', async () => {
      const subject = newCollection();
      const replaced = range(700).map((n) => subject.listing(`${n}`, 1 + n));
      const own = range(700).map((n) => subject.order(`${n}`, 1_000_000 + n));
      const others = range(300).map((n) => subject.listing(`${10_000 + n}`, 5_000 + n));
      await market.load([subject.collection(), ...replaced, ...own, ...others]);
      const rows = await market.walk(`${subject.path}/listings?limit=100`);
      assert.deepEqual(
        rawsOf(rows),
        range(250).map((n) => `${5_000 + n}`),
      );
    });

    test('the window has 250 assets even when the 900 cheapest rows belong to only three assets', async () => {
      const subject = newCollection();
      const doubles = range(900).map((n) => subject.listing(`${n % 3}`, 1 + n, { id: `d${n}` }));
      const singles = range(260).map((n) => subject.listing(`${100 + n}`, 10_000 + n));
      await market.load([subject.collection(), ...doubles, ...singles]);
      const rows = await market.walk(`${subject.path}/listings?limit=100`);
      assert.equal(rows.length, 250);
      assert.deepEqual(rawsOf(rows).slice(0, 4), ['1', '2', '3', '10000']);
      assert.equal(new Set(assetsOf(rows)).size, 250);
    });

    test('the window has the same rows in the same order with any limit', async () => {
      const subject = newCollection();
      await market.load([
        subject.collection(),
        ...range(251).map((n) => (n % 2 === 0 ? subject.order(`${n}`, 500 - n) : subject.listing(`${n}`, 500 - n))),
      ]);
      const expected = range(250).map((n) => `${250 + n}`);
      for (const limit of [1, 25, 99, 100]) {
        assert.deepEqual(rawsOf(await market.walk(`${subject.path}/listings?limit=${limit}`)), expected);
      }
    });

    test('the window has pages of 25 rows by default', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), ...range(50).map((n) => subject.order(`${n}`, 1 + n))]);
      const first = await market.ok(`${subject.path}/listings`);
      assert.equal(first.data.length, 25);
      assert.equal(first.pagination.hasMore, true);
      const second = await market.ok(`${subject.path}/listings?cursor=${first.pagination.nextCursor}`);
      assert.deepEqual(
        rawsOf(second.data),
        range(25).map((n) => `${26 + n}`),
      );
      assert.deepEqual(second.pagination, { nextCursor: null, hasMore: false });
    });

    test('the response with the listings has no `meta` while its sources are available', async () => {
      const subject = newCollection({ chain: 'solana' });
      await market.load([subject.collection(), subject.listing(mintOf('m'), 5)]);
      assert.deepEqual(Object.keys(await market.ok(`${subject.path}/listings`)), ['data', 'pagination']);
    });

    test('the window is empty for a collection without listings, and for a collection without a contract address', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), { kind: 'collection', slug: 'unlisted', name: 'No address' }]);
      const empty = { data: [], pagination: { nextCursor: null, hasMore: false } };
      assert.deepEqual(await market.ok(`${subject.path}/listings`), empty);
      assert.deepEqual(await market.ok('/v1/collections/unlisted/listings'), empty);
    });

    test('the window is up to date in the first request after each import', async () => {
      const subject = newCollection();
      const raws = async () => rawsOf((await market.ok(`${subject.path}/listings`)).data);
      const stated = { id: `live-${subject.slug}` };
      await market.load([subject.collection()]);
      assert.deepEqual(await raws(), []);
      await market.load([subject.order('1', 30)]);
      assert.deepEqual(await raws(), ['30']);
      await market.load([subject.listing('2', 10, stated)]);
      assert.deepEqual(await raws(), ['10', '30']);
      await market.load([subject.listing('2', 40, { ...stated, timestamp: market.ago(0) })]);
      assert.deepEqual(await raws(), ['30', '40']);
      await market.load([subject.order('1', 30, { status: 'cancelled' })]);
      assert.deepEqual(await raws(), ['40']);
      await market.load([subject.listing('2', 40, { ...stated, status: 'filled' })]);
      assert.deepEqual(await raws(), []);
    });

    test('an ended order is not listed again when the order is imported again as active', async () => {
      const subject = newCollection();
      const raws = async () => rawsOf((await market.ok(`${subject.path}/listings`)).data);
      await market.load([subject.collection(), subject.order('1', 30, { status: 'filled' })]);
      await market.load([subject.order('1', 30), subject.order('1', 20)]);
      assert.deepEqual(await raws(), []);
    });
  });

  describe('a request', () => {
    test('a request with a limit that is not an integer from 1 to 100 in plain digits is rejected, and the message names the limit', async () => {
      const subject = newCollection();
      await market.load([subject.collection()]);
      const limits = ['0', '101', '-1', '1.5', '1e1', '0x10', '%2B5', '%205', '05', '', 'ten', '9007199254740993', '٣'];
      for (const limit of [...limits, '5&limit=5']) {
        const response = await market.get(`${subject.path}/listings?limit=${limit}`);
        assert.equal(response.status, 400, limit);
        assert.equal(response.body.error.code, 'bad_request');
        assert.match(response.body.error.message, /limit/);
      }
      for (const limit of ['1', '100']) await market.ok(`${subject.path}/listings?limit=${limit}`);
    });

    test('a request with a cursor that was not issued for these listings is rejected, and the message names the cursor', async () => {
      const [one, two] = [newCollection(), newCollection()];
      const rows = (subject: typeof one) => range(5).map((n) => subject.order(`${n}`, 1 + n));
      await market.load([
        one.collection(),
        two.collection(),
        ...rows(one),
        ...rows(two),
        ...range(5).map((n) => one.sale(`${n}`, 1)),
      ]);
      const cursorOf = async (path: string) => (await market.ok(`${path}limit=2`)).pagination.nextCursor as string;
      const own = await cursorOf(`${one.path}/listings?`);
      const foreign = [
        await cursorOf(`${two.path}/listings?`),
        await cursorOf(`${one.path}/sales?`),
        await cursorOf('/v1/collections?'),
      ];
      const changed = range(own.length).map(
        (at) => own.slice(0, at) + (own[at] === 'A' ? 'B' : 'A') + own.slice(at + 1),
      );
      const invalid = ['', '2', Buffer.from('2').toString('base64url'), `${own}=`, `${own}A`, own.slice(0, -1), '%00'];
      for (const cursor of [...foreign, ...changed, ...invalid, `${own}&cursor=${own}`, 'A'.repeat(2_000)]) {
        const response = await market.get(`${one.path}/listings?cursor=${cursor}`);
        assert.equal(response.status, 400, cursor);
        assert.match(response.body.error.message, /cursor/);
      }
      await market.ok(`${one.path}/listings?cursor=${own}`);
    });

    test('a request with a cursor to an offset that is invalid or beyond the window is rejected', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), ...range(260).map((n) => subject.order(`${n}`, 1 + n))]);
      const at = (offset: string) => {
        const cursor = sealCursor(secret, `listings ${subject.id}`, offset);
        return market.get(`${subject.path}/listings?limit=100&cursor=${cursor}`);
      };
      assert.deepEqual(rawsOf((await at('249')).body.data), ['250']);
      for (const offset of ['250', '251', '1000', '-1', '1.5', 'x', '1e300']) {
        assert.equal((await at(offset)).status, 400, offset);
      }
    });

    test('a request with an unknown parameter gets the same response as the request without this parameter', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), ...range(3).map((n) => subject.order(`${n}`, 1 + n))]);
      const plain = await market.get(`${subject.path}/listings?limit=2`);
      for (const query of ['limit=2&_=123', 'utm=a&utm=b&limit=2', 'sort=floor&limit=2&chain=x']) {
        const response = await market.get(`${subject.path}/listings?${query}`);
        assert.equal(response.text, plain.text);
        assert.equal(response.headers.get('etag'), plain.headers.get('etag'));
      }
    });
  });

  test('a request for the listings of an unknown collection gets a 404', async () => {
    const response = await market.get('/v1/collections/nobody/listings');
    assert.equal(response.status, 404);
    assert.equal(response.body.error.code, 'not_found');
  });
});
