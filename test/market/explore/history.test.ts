// GET /explore/v1/collections/{id}/history.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteOldActivity } from '../../../src/market/activity/queries/activity-log.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { listCatalogDifferences } from '../../../src/market/index/queries/catalog-recount.ts';
import { listBookDifferences } from '../../../src/market/orders/queries/book-recount.ts';
import type { TestCollection } from '../../support/service/market.ts';
import { BUYER, DAY_MS, HOUR_MS, MINUTE_MS, forOneMarket, newCollection } from '../../support/service/market.ts';

const pathOf = (subject: TestCollection, query = '') =>
  `/explore/v1/collections/${subject.slug}/history${query === '' ? '' : `?${query}`}`;

const milli = (count: number) => BigInt(count) * 10n ** 15n;

forOneMarket('history', {}, (market) => {
  const read = async (subject: TestCollection, query = ''): Promise<any[]> =>
    (await market.ok(pathOf(subject, query))).data;
  const sweep = () =>
    sweepExpired({ main: market.main(), indexer: market.indexer(), chains: createChains(), clock: market.now });
  const undo = async (id: string | undefined) => {
    let position: unknown = null;
    do {
      const { status, body } = await market.operate('imports.undo', { id, position });
      assert.equal(status, 200, JSON.stringify(body));
      position = body.result.next;
    } while (position !== null);
  };
  const iso = (time: number) => new Date(time).toISOString();
  const hourOf = (time: number) => Math.floor(time / HOUR_MS) * HOUR_MS;
  /** The last `count` points, each as text: the floors in thousandths, the number of sales, and the listed count. */
  const lastOf = (points: any[], count: number) =>
    points.slice(-count).map(({ floor, sales, listed }) => {
      const floors = [floor.open, floor.high, floor.low, floor.close].map((price) =>
        price === null ? '-' : String(Number(price.decimal) * 1_000),
      );
      return `${floors.join(' ')}, ${sales} sold, ${listed ?? '?'} listed`;
    });

  test('a point has its opening, highest, lowest and closing floor, and the next point opens with the closing floor', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.order('1', milli(500))]);
    market.advance(MINUTE_MS);
    await market.load([subject.order('2', milli(300))]);
    market.advance(HOUR_MS);
    await market.load([subject.order('3', milli(200), { expiresAt: iso(market.now() + MINUTE_MS) })]);
    market.advance(2 * MINUTE_MS);
    await sweep();
    await market.load([subject.order('4', milli(900))]);
    market.advance(2 * HOUR_MS);
    assert.deepEqual(lastOf(await read(subject), 5), [
      '- - - -, 0 sold, ? listed',
      '- 500 300 300, 0 sold, 2 listed',
      '300 300 200 300, 0 sold, 3 listed',
      '300 300 300 300, 0 sold, 3 listed',
      '300 300 300 300, 0 sold, 3 listed',
    ]);
  });

  test('an hour in which the last listing of a collection ends has no closing floor, but a highest and a lowest floor', async () => {
    const subject = newCollection();
    const order = subject.order('1', milli(500));
    await market.load([subject.collection(), order]);
    market.advance(HOUR_MS);
    await market.load([{ ...order, status: 'cancelled' }]);
    market.advance(HOUR_MS);
    assert.deepEqual(lastOf(await read(subject), 3), [
      '- 500 500 500, 0 sold, 1 listed',
      '500 500 500 -, 0 sold, 0 listed',
      '- - - -, 0 sold, 0 listed',
    ]);
  });

  test('a point has the top bid at its end, which changes when a bid is made, ends or expires', async () => {
    const subject = newCollection();
    const bid = (id: string, proceeds: number, more: object = {}) => ({
      kind: 'bid',
      source: 'opensea',
      chain: subject.chain,
      contractAddress: subject.address,
      id,
      priceRaw: String(milli(proceeds) + 5n),
      proceedsRaw: String(milli(proceeds)),
      buyer: BUYER,
      timestamp: iso(market.now()),
      ...more,
    });
    const tops = async (query = '', count = 6) =>
      (await read(subject, query)).slice(-count).map(({ topBid }) => topBid && Number(topBid.decimal) * 1_000);
    await market.load([subject.collection(), bid('a', 300), bid('b', 200), bid('item', 900, { tokenId: '1' })]);
    market.advance(HOUR_MS);
    await market.load([bid('c', 400, { expiresAt: iso(market.now() + MINUTE_MS) })]);
    market.advance(HOUR_MS);
    await sweep();
    const { imports } = await market.load([bid('d', 800)]);
    market.advance(HOUR_MS);
    await undo(imports[0]);
    market.advance(HOUR_MS);
    await market.load([bid('a', 300, { status: 'cancelled' }), bid('b', 200, { status: 'filled' })]);
    assert.deepEqual(await tops(), [null, 300, 400, 800, 300, null]);
    const recounted = { prefix: subject.id, now: market.now(), limit: 10 };
    assert.deepEqual(await listBookDifferences(market.main(), recounted), []);
    const databases = { main: market.main(), indexer: market.indexer() };
    assert.deepEqual(await listCatalogDifferences(databases, recounted), []);
    assert.equal((await tops('interval=day', 1))[0], null);
    const { data } = await market.ok(`/explore/v1/activity?collection=${subject.slug}&kinds=floor`);
    assert.deepEqual(data, [], 'a changed top bid was recorded as a changed floor');
  });

  test('imported sales are counted in the hours in which they happened, and the floors before the import are unknown', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      subject.order('1', milli(500)),
      subject.sale('7', milli(1_250), { timestamp: market.ago(3 * HOUR_MS) }),
      subject.sale('8', 1n, { timestamp: market.ago(3 * HOUR_MS), source: 'blur' }),
      subject.sale('9', '12 USDC', { timestamp: market.ago(3 * HOUR_MS) }),
    ]);
    const points = await read(subject);
    assert.equal(points.length, 7 * 24 + 1);
    const at = points.at(-4);
    assert.deepEqual(
      [at.from, at.to],
      [iso(hourOf(market.now()) - 3 * HOUR_MS), iso(hourOf(market.now()) - 2 * HOUR_MS)],
    );
    assert.deepEqual([at.volume, at.sales, at.floor.close, at.listed], [1.25, 3, null, null]);
    const total = points.reduce((sum, { sales }) => sum + sales, 0);
    assert.equal(total, 3);
  });

  test('undoing an import removes the volume of its sales, but past floors keep the effect of its listings', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.order('1', milli(500))]);
    market.advance(HOUR_MS);
    const { imports } = await market.load([
      subject.order('2', milli(100)),
      subject.sale('3', milli(2_000), { timestamp: market.ago(2 * HOUR_MS) }),
    ]);
    market.advance(HOUR_MS);
    assert.equal((await read(subject)).at(-4)?.volume, 2);
    await undo(imports[0]);
    const points = await read(subject);
    assert.deepEqual(points.at(-4)?.volume, 0);
    assert.deepEqual(lastOf(points, 3), [
      '- 500 500 500, 0 sold, 1 listed',
      '500 500 100 100, 0 sold, 2 listed',
      '100 500 100 500, 0 sold, 1 listed',
    ]);
  });

  test('a day has the figures of its hours, and days begin at midnight in UTC', async () => {
    const subject = newCollection();
    const start = Math.ceil(market.now() / DAY_MS) * DAY_MS;
    market.advance(start + HOUR_MS - market.now());
    await market.load([subject.collection(), subject.order('1', milli(500))]);
    market.advance(HOUR_MS);
    await market.load([
      subject.order('2', milli(300)),
      subject.sale('5', milli(1_000), { timestamp: market.ago(MINUTE_MS) }),
    ]);
    market.advance(HOUR_MS);
    await market.load([subject.sale('6', milli(1_000), { timestamp: market.ago(MINUTE_MS) })]);
    market.advance(DAY_MS);
    const points = await read(subject, 'interval=day');
    assert.equal(points.length, 91);
    assert.equal(points.at(-2)?.from, iso(start));
    assert.equal(points.at(-2)?.volume, 2);
    assert.deepEqual(lastOf(points, 3), [
      '- - - -, 0 sold, ? listed',
      '- 500 300 300, 2 sold, 2 listed',
      '300 300 300 300, 0 sold, 2 listed',
    ]);
  });

  test('`from` and `to` select the intervals that their range touches, but no future intervals', async () => {
    const subject = newCollection();
    await market.load([subject.collection()]);
    const hour = hourOf(market.now());
    const timesOf = async (query: string) => (await read(subject, query)).map(({ from }) => from);
    assert.deepEqual(await timesOf(`from=${iso(hour - HOUR_MS + 1)}&to=${iso(hour + 1)}`), [
      iso(hour - HOUR_MS),
      iso(hour),
    ]);
    assert.deepEqual(await timesOf(`from=${iso(hour - HOUR_MS)}&to=${iso(hour)}`), [iso(hour - HOUR_MS)]);
    assert.deepEqual(await timesOf(`from=${iso(hour)}&to=${iso(hour + DAY_MS)}`), [iso(hour)]);
    assert.deepEqual(await timesOf(`from=${iso(hour + 2 * DAY_MS)}`), []);
    assert.equal((await timesOf(`from=${iso(hour - 2_399 * HOUR_MS)}`)).length, 2_400);
    assert.equal((await timesOf(`interval=day&from=${iso(hour - 1_099 * DAY_MS)}`)).length, 1_100);
  });

  test('a malformed time, a range that is empty or too long, and an unknown interval are a 400', async () => {
    const subject = newCollection();
    await market.load([subject.collection()]);
    const now = market.now();
    const queries = [
      'from=yesterday',
      'to=2026-01-01',
      'from=2026-02-30T00:00:00Z',
      'interval=week',
      `from=${iso(now)}&to=${iso(now)}`,
      `from=${iso(now - 2_401 * HOUR_MS)}`,
      `interval=day&from=${iso(now - 1_101 * DAY_MS)}`,
      'from=1970-01-01T00:00:00Z&to=9999-12-31T00:00:00Z',
    ];
    for (const query of queries) {
      const { status, body } = await market.get(pathOf(subject, query));
      assert.deepEqual([status, body.error.code], [400, 'bad_request'], query);
    }
  });

  test('a collection that does not exist is a 404, and a collection on no chain has no points', async () => {
    assert.equal((await market.get('/explore/v1/collections/nowhere/history')).status, 404);
    await market.load([{ kind: 'collection', name: 'Afloat', slug: 'afloat' }]);
    assert.deepEqual((await market.ok('/explore/v1/collections/afloat/history')).data, []);
  });

  test('the history of an hour is kept after its rows of the activity log and of `market_point` are deleted', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      subject.order('1', milli(500)),
      subject.sale('2', milli(3_000), { timestamp: market.ago(1) }),
    ]);
    market.advance(HOUR_MS);
    const query = `from=${market.ago(3 * HOUR_MS)}&to=${market.ago(-HOUR_MS)}`;
    const before = await read(subject, query);
    market.advance(40 * DAY_MS);
    while ((await market.main().transaction((tx) => deleteOldActivity(tx, market.now(), 1_000))) > 0);
    await sweep();
    assert.equal((await market.indexer().query(`select from indexer.market_point`)).length, 0);
    assert.deepEqual((await read(subject, query)).slice(0, 3), before.slice(0, 3));
    assert.deepEqual(lastOf(await read(subject), 1), ['500 500 500 500, 0 sold, 1 listed']);
  });
});
