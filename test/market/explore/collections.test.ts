// GET /explore/v1/collections and GET /explore/v1/collections/{id}.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChains } from '../../../src/platform/core/chains.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { upsertLastBuyerFloor } from '../../../src/market/reads/queries/last-buyer-floors.ts';
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  forOneMarket,
  newCollection,
  range,
  withoutDecimals,
} from '../../support/service/market.ts';

const milli = (count: number) => BigInt(count) * 10n ** 15n;
const PATH = '/explore/v1/collections';
const NO_CHANGES = { oneHour: null, twentyFourHour: null, sevenDay: null, thirtyDay: null };
const WINDOWS = { '1h': 'oneHour', '24h': 'twentyFourHour', '7d': 'sevenDay', '30d': 'thirtyDay', all: 'allTime' };

forOneMarket('collections with all figures', {}, (market) => {
  const read = async (id: string) => (await market.ok(`${PATH}/${id}`)).data;

  test('a collection has the fields of /v1/collections/{id}, and is the same in the list and in the read of one collection', async () => {
    const subject = newCollection({ chain: 'polygon' });
    await market.load([
      subject.collection(),
      subject.order('1', milli(500)),
      subject.sale('1', milli(400), { timestamp: market.ago(HOUR_MS) }),
      subject.stats({ owners: 7, supply: 9, listedCount: 4 }),
      subject.analytics({
        volume: { allTime: 12.5, sevenDay: 2, twentyFourHour: 1 },
        sales: { allTime: 12, sevenDay: 2, twentyFourHour: 1 },
      }),
    ]);
    const detail = (await market.ok(subject.path)).data;
    const { stats, sparkline, launched, ...row } = await read(subject.slug);
    const { buyerFloor, topBid, spread, floorChange, volumeChange, volume, sales, ...known } = stats;
    const { thirtyDay: volumeOfMonth, oneHour: volumeOfHour, ...volumes } = volume;
    const { thirtyDay: salesOfMonth, oneHour: salesOfHour, ...counts } = sales;
    assert.deepEqual(withoutDecimals({ ...row, stats: { ...known, volume: volumes, sales: counts } }), detail);
    assert.deepEqual([volumeOfMonth, volumeOfHour, salesOfMonth, salesOfHour], [null, null, null, null]);
    assert.deepEqual([buyerFloor.price.raw, volumeChange], [String(milli(510)), NO_CHANGES]);
    assert.deepEqual([floorChange, topBid, spread], [NO_CHANGES, null, null]);
    assert.deepEqual(sparkline, [...range(27).map(() => null), 0.5]);
    const [listed] = (await market.walk(`${PATH}?chain=polygon`)).filter(({ id }) => id === subject.id);
    assert.deepEqual(listed, { ...row, stats, sparkline, launched });
  });

  test('floorChange compares the floor with earlier floors, and the sparkline has the floors of the last seven days', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.order('1', milli(400))]);
    market.advance(6 * DAY_MS + HOUR_MS);
    await market.load([subject.order('2', milli(300))]);
    market.advance(DAY_MS);
    await market.load([subject.order('3', milli(330)), subject.order('4', milli(200))]);
    const { stats, sparkline } = await read(subject.slug);
    assert.deepEqual(stats.floorChange, {
      oneHour: -0.333333,
      twentyFourHour: -0.333333,
      sevenDay: -0.5,
      thirtyDay: null,
    });
    assert.deepEqual(sparkline, [...range(23).map(() => 0.4), 0.3, 0.3, 0.3, 0.3, 0.2]);
    market.advance(40 * DAY_MS);
    const later = await read(subject.slug);
    assert.deepEqual(later.stats.floorChange, { oneHour: 0, twentyFourHour: 0, sevenDay: 0, thirtyDay: 0 });
    assert.deepEqual(
      later.sparkline,
      range(28).map(() => 0.2),
    );
  });

  test('volumeChange of a period is known if all sales of this period and of the period before it are known, and the earlier period has volume', async () => {
    const subject = newCollection();
    const sales = [20 * MINUTE_MS, 90 * MINUTE_MS, 30 * HOUR_MS, 20 * HOUR_MS, 10 * DAY_MS, 40 * DAY_MS];
    await market.load([
      subject.collection(),
      ...sales.map((ms, index) => subject.sale(String(index), milli(1_000), { timestamp: market.ago(ms) })),
    ]);
    await market.indexer().query(
      `insert into indexer.coverage (collection_id, subject, source, kind, from_time, to_time)
       values ($1, 'sales', 'opensea', 'scan', null, $2)
       on conflict (collection_id, subject, source) do update set kind = excluded.kind, from_time = null, to_time = excluded.to_time`,
      [subject.id, new Date(market.now())],
    );
    const changes = { oneHour: 0, twentyFourHour: 2, sevenDay: 3, thirtyDay: 4 };
    assert.deepEqual((await read(subject.slug)).stats.volumeChange, changes);
    market.advance(MINUTE_MS);
    await market
      .indexer()
      .query(`update indexer.coverage set from_time = $2 where collection_id = $1 and subject = 'sales'`, [
        subject.id,
        new Date(market.now() - 9 * DAY_MS),
      ]);
    assert.deepEqual((await read(subject.slug)).stats.volumeChange, { ...changes, sevenDay: null, thirtyDay: null });
  });

  test('the buyer floor is of the same moment as the floor, also on chains without stored buyer floors', async () => {
    const subjects = ['ethereum', 'base'].map((chain) => newCollection({ chain, royaltyBps: 500 }));
    await market.load(subjects.flatMap((subject) => [subject.collection(), subject.order('1', milli(100))]));
    for (const subject of subjects) {
      const { floor, buyerFloor } = (await read(subject.slug)).stats;
      assert.deepEqual(
        [floor.raw, buyerFloor.price.raw, buyerFloor.stale, buyerFloor.observedAt],
        [String(milli(100)), String(milli(107)), false, null],
      );
      // A total that was stored earlier is not served beside figures of this moment.
      await upsertLastBuyerFloor(market.main(), subject.id, {
        raw: milli(7),
        askRaw: milli(6),
        observedAt: market.now(),
      });
      await market.load([subject.order('1', milli(100), { status: 'filled' })]);
      market.advance(MINUTE_MS);
      assert.equal((await read(subject.slug)).stats.buyerFloor, null);
    }
  });

  test('the list is sorted like /v1/collections, and its cursors are valid for this list alone', async () => {
    const subjects = range(7).map(() => newCollection({ chain: 'base' }));
    await market.load(
      subjects.flatMap((subject, index) => [
        subject.collection(),
        subject.order('1', milli(index % 3 === 0 ? 100 : index)),
      ]),
    );
    const ids = async (path: string) => (await market.walk(path)).map(({ id }) => id);
    for (const sort of ['volume', 'floor', 'recent']) {
      const query = `chain=base&sort=${sort}`;
      assert.deepEqual(await ids(`${PATH}?${query}&limit=2`), await ids(`/v1/collections?${query}&limit=100`), sort);
    }
    const { pagination } = await market.ok(`${PATH}?chain=base&limit=2`);
    const cursors = [
      `${PATH}?chain=base&sort=floor&cursor=${pagination.nextCursor}`,
      `${PATH}?cursor=${pagination.nextCursor}`,
      `/v1/collections?chain=base&cursor=${pagination.nextCursor}`,
      `${PATH}?cursor=x`,
    ];
    for (const path of cursors) assert.equal((await market.get(path)).status, 400, path);
  });

  /** Marks the sales of the collection as read completely, until ten days from now. */
  const cover = (id: string) =>
    market.indexer().query(
      `insert into indexer.coverage (collection_id, subject, source, kind, from_time, to_time)
       values ($1, 'sales', 'opensea', 'scan', null, $2)`,
      [id, new Date(market.now() + 10 * DAY_MS)],
    );
  const sweep = () =>
    sweepExpired({ main: market.main(), indexer: market.indexer(), chains: createChains(), clock: market.now });
  /** Checks that each ranking of the chain is in the order of the figures of its rows. Returns the slugs by sort and window. */
  const checkOrders = async (chain: string): Promise<Record<string, string[]>> => {
    const slugs: Record<string, string[]> = {};
    for (const sort of ['volume', 'sales', 'change']) {
      for (const [window, name] of Object.entries(WINDOWS)) {
        if (sort === 'change' && window === 'all') continue;
        const query = `chain=${chain}&sort=${sort}&window=${window}`;
        const rows = await market.walk(`${PATH}?${query}&limit=4`);
        const valueOf = ({ stats }: any) => stats[sort === 'change' ? 'floorChange' : sort][name] ?? -Infinity;
        const isAfter = (a: any, b: any) => valueOf(b) - valueOf(a) || (a.id < b.id ? -1 : 1);
        const ids = (some: any[]) => some.map(({ id }) => id);
        assert.deepEqual(ids(rows), ids(rows.toSorted(isAfter)), query);
        const ascending = await market.walk(`${PATH}?${query}&limit=4&order=asc`);
        const known = rows.filter((row) => valueOf(row) !== -Infinity);
        assert.deepEqual(
          ids(ascending),
          [...ids(known).toReversed(), ...ids(rows.slice(known.length))],
          `${query} asc`,
        );
        slugs[`${sort} ${window}`] = rows.map(({ slug }) => slug);
      }
    }
    return slugs;
  };

  test('a list by the volume, the sales or the change of a window is in the order of the figures that it serves, also when time has passed', async () => {
    const ages = [
      [10 * MINUTE_MS],
      [20 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 3 * HOUR_MS],
      [23 * HOUR_MS, 23 * HOUR_MS + 1, 5 * DAY_MS, 5 * DAY_MS, 5 * DAY_MS],
      [6 * DAY_MS, 20 * DAY_MS, 20 * DAY_MS, 20 * DAY_MS, 20 * DAY_MS, 20 * DAY_MS],
      [29 * DAY_MS, 40 * DAY_MS, 41 * DAY_MS, 42 * DAY_MS, 43 * DAY_MS, 44 * DAY_MS, 45 * DAY_MS],
      [58 * MINUTE_MS, 58 * MINUTE_MS, 58 * MINUTE_MS],
    ];
    const subjects = ages.map((_, index) => newCollection({ chain: 'ink', slug: `trend-${index}` }));
    const unknown = newCollection({ chain: 'ink', slug: 'trend-unknown' });
    await market.load([
      unknown.collection(),
      unknown.order('1', milli(100)),
      ...subjects.map((subject) => subject.collection()),
    ]);
    for (const { id } of subjects) await cover(id);
    await market.load(
      subjects.flatMap((subject, index) => [
        subject.order('1', milli(100)),
        ...(ages[index] ?? []).map((age, n) => subject.sale(String(n), milli(1_000), { timestamp: market.ago(age) })),
      ]),
    );
    await sweep();
    const first = await checkOrders('ink');
    assert.deepEqual(first['volume 1h']?.slice(0, 3), ['trend-5', 'trend-1', 'trend-0']);
    assert.equal(first['sales 24h']?.[0], 'trend-1');
    assert.equal(first['sales 7d']?.[0], 'trend-2');
    assert.equal(first['sales 30d']?.[0], 'trend-3');
    assert.equal(first['volume all']?.[0], 'trend-4');
    assert.equal(first['volume all']?.at(-1), 'trend-unknown');
    market.advance(3 * MINUTE_MS);
    await sweep();
    assert.deepEqual((await checkOrders('ink'))['volume 1h']?.slice(0, 2), ['trend-1', 'trend-0']);
    await market.load([unknown.order('2', milli(50))]);
    for (const [index, subject] of subjects.entries()) {
      market.advance(40 * MINUTE_MS);
      await market.load([subject.order('2', milli(90 - 10 * index))]);
    }
    await sweep();
    await checkOrders('ink');
    market.advance(2 * DAY_MS);
    await sweep();
    const last = await checkOrders('ink');
    assert.equal(last['change 7d']?.at(0), last['change 30d']?.at(0));
    assert.equal(last['volume 30d']?.[0], 'trend-3');
  });

  test('a list by the number of listed assets has the most listings first', async () => {
    const subjects = [2, 0, 3, 1].map((count) => ({ count, subject: newCollection({ chain: 'abstract' }) }));
    await market.load(
      subjects.flatMap(({ count, subject }) => [
        subject.collection(),
        ...range(count).map((n) => subject.order(String(n), milli(100))),
      ]),
    );
    const counts = async (query: string) =>
      (await market.walk(`${PATH}?chain=abstract&sort=listed&${query}`)).map(({ stats }) => stats.listedCount);
    assert.deepEqual(await counts('order=desc'), [3, 2, 1, null]);
    assert.deepEqual(await counts('order=asc'), [1, 2, 3, null]);
  });

  test('floorMin, floorMax, volumeMin and volumeMax are in native units of the chain, and in dollars if there is none', async () => {
    const of = (chain: string, floor: number, volumeAllTime: number) => {
      const subject = newCollection({ chain });
      return {
        subject,
        records: [subject.collection({ snapshot: { volumeAllTime } }), subject.order('1', milli(floor))],
      };
    };
    const cheap = of('polygon', 500, 3);
    const dear = of('polygon', 1_500, 10);
    const other = of('apechain', 1_000, 100);
    const unrated = newCollection({ chain: 'polygon' });
    await market.load([cheap, dear, other].flatMap(({ records }) => records));
    await market.load([unrated.collection()]);
    const at = new Date(market.now()).toISOString();
    await market.load([
      { kind: 'rate', symbol: 'POL', usd: 10, at },
      { kind: 'rate', symbol: 'APE', usd: 0.5, at },
    ]);
    const ours = new Set([cheap.subject.id, dear.subject.id, other.subject.id, unrated.id]);
    const found = async (query: string) =>
      (await market.walk(`${PATH}?sort=floor&limit=3&${query}`)).map(({ id }) => id).filter((id) => ours.has(id));
    const [low, high, ape] = [cheap, dear, other].map(({ subject }) => subject.id);
    assert.deepEqual(await found('chain=polygon&floorMin=0'), [high, low]);
    assert.deepEqual(await found('chain=polygon&floorMin=0.5'), [high, low]);
    assert.deepEqual(await found('chain=polygon&floorMin=0.500000000000000001'), [high]);
    assert.deepEqual(await found('chain=polygon&floorMin=0.5000000000000000001'), [high]);
    assert.deepEqual(await found('chain=polygon&floorMax=0.5000000000000000001'), [low]);
    assert.deepEqual(await found('chain=polygon&volumeMax=9.99&order=asc'), [low]);
    assert.deepEqual(await found('chain=polygon&floorMin=0.1&volumeMin=4'), [high]);
    assert.deepEqual(await found('floorMin=5&floorMax=15'), [high, low]);
    assert.deepEqual(await found('floorMin=0.5&volumeMin=50&volumeMax=100'), [high, ape]);
    assert.deepEqual(await found('volumeMin=0&window=1h'), []);
    const { pagination } = await market.ok(`${PATH}?chain=polygon&floorMin=0&limit=1`);
    assert.equal(
      (await market.get(`${PATH}?chain=polygon&floorMin=0.1&limit=1&cursor=${pagination.nextCursor}`)).status,
      400,
    );
  });

  test('collections that were launched on the service say so, and come first unless launchedFirst is false', async () => {
    const first = newCollection({ chain: 'ink' });
    const second = newCollection({ chain: 'ink' });
    await market.load([
      first.collection({ launched: true, snapshot: { volumeAllTime: 1 } }),
      second.collection({ snapshot: { volumeAllTime: 2 } }),
    ]);
    const found = async (query: string) =>
      (await market.walk(`${PATH}?chain=ink&limit=1${query}`))
        .filter(({ id }) => id === first.id || id === second.id)
        .map(({ id, launched }) => [id, launched]);
    const [one, other] = [
      [first.id, true],
      [second.id, false],
    ];
    assert.deepEqual(await found(''), [one, other]);
    assert.deepEqual(await found('&launchedFirst=false'), [other, one]);
    assert.deepEqual(await found('&launchedFirst=false&order=asc'), [one, other]);
    const { pagination } = await market.ok(`${PATH}?chain=ink&limit=1`);
    const { status } = await market.get(
      `${PATH}?chain=ink&limit=1&launchedFirst=false&cursor=${pagination.nextCursor}`,
    );
    assert.equal(status, 400);
  });

  test('ids gives the named collections in the order of the names, on one page', async () => {
    const subjects = range(3).map(() => newCollection({ chain: 'base' }));
    await market.load(subjects.flatMap((subject) => [subject.collection(), subject.order('1', milli(7))]));
    const [a, b, c] = subjects.map(({ slug, id, address }) => ({ slug, id, address }));
    const page = await market.ok(`${PATH}?ids=${b?.address},${c?.slug},${a?.id}`);
    assert.deepEqual(
      page.data.map(({ id }: any) => id),
      [b?.id, c?.id, a?.id],
    );
    assert.deepEqual(page.pagination, { nextCursor: null, hasMore: false });
    assert.deepEqual(page.data[1], await read(c?.slug ?? ''));
    const { status, body } = await market.get(`${PATH}?ids=${a?.slug},nowhere`);
    assert.deepEqual([status, body.error.message], [404, 'Collection nowhere not found']);
    const slugs = range(101).map(() => a?.slug);
    assert.equal((await market.ok(`${PATH}?ids=${slugs.slice(1).join(',')}`)).data.length, 100);
    for (const query of [`ids=${slugs.join(',')}`, 'ids=', `ids=${a?.slug}&sort=floor`, `ids=${a?.slug}&chain=base`]) {
      assert.equal((await market.get(`${PATH}?${query}`)).status, 400, query);
    }
  });

  test('an unknown sort, chain or limit is a 400, and a collection that does not exist is a 404', async () => {
    const queries = ['sort=price', 'chain=nowhere', 'limit=0', 'limit=101', 'limit=x', 'window=2h', 'order=up'];
    const limits = ['floorMin=x', 'floorMin=-1', 'volumeMax=1e3', 'floorMax=01', 'volumeMin='];
    for (const query of [...queries, ...limits, 'sort=change&window=all', 'volume=1']) {
      assert.equal((await market.get(`${PATH}?${query}`)).status, 400, query);
    }
    assert.equal((await market.get(`${PATH}/nowhere`)).status, 404);
    assert.equal((await market.get(`${PATH}/${'x'.repeat(3_000)}`)).status, 404);
  });
});
