// GET /explore/v1/collections and GET /explore/v1/collections/{id}.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { upsertLastBuyerFloor } from '../../../src/market/reads/queries/last-buyer-floors.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, forOneMarket, newCollection, range } from '../../support/service/market.ts';

const milli = (count: number) => BigInt(count) * 10n ** 15n;
const PATH = '/explore/v1/collections';

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
    const { stats, sparkline, ...row } = await read(subject.slug);
    const { buyerFloor, floorChange, volumeChange, ...known } = stats;
    assert.deepEqual({ ...row, stats: known }, detail);
    assert.deepEqual(
      [buyerFloor.price.raw, volumeChange],
      [String(milli(510)), { twentyFourHour: null, sevenDay: null }],
    );
    assert.deepEqual(floorChange, { twentyFourHour: null, sevenDay: null });
    assert.deepEqual(sparkline, [...range(27).map(() => null), 0.5]);
    const [listed] = (await market.walk(`${PATH}?chain=polygon`)).filter(({ id }) => id === subject.id);
    assert.deepEqual(listed, { ...row, stats, sparkline });
  });

  test('floorChange compares the floor with earlier floors, and the sparkline has the floors of the last seven days', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.order('1', milli(400))]);
    market.advance(6 * DAY_MS + HOUR_MS);
    await market.load([subject.order('2', milli(300))]);
    market.advance(DAY_MS);
    await market.load([subject.order('3', milli(330)), subject.order('4', milli(200))]);
    const { stats, sparkline } = await read(subject.slug);
    assert.deepEqual(stats.floorChange, { twentyFourHour: -0.333333, sevenDay: -0.5 });
    assert.deepEqual(sparkline, [...range(23).map(() => 0.4), 0.3, 0.3, 0.3, 0.3, 0.2]);
    market.advance(40 * DAY_MS);
    const later = await read(subject.slug);
    assert.deepEqual(later.stats.floorChange, { twentyFourHour: 0, sevenDay: 0 });
    assert.deepEqual(
      later.sparkline,
      range(28).map(() => 0.2),
    );
  });

  test('volumeChange of a period is known if all sales of this period and of the period before it are known, and the earlier period has volume', async () => {
    const subject = newCollection();
    const sales = [30 * HOUR_MS, 20 * HOUR_MS, 10 * HOUR_MS, 10 * DAY_MS];
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
    assert.deepEqual((await read(subject.slug)).stats.volumeChange, { twentyFourHour: 1, sevenDay: 2 });
    market.advance(MINUTE_MS);
    await market
      .indexer()
      .query(`update indexer.coverage set from_time = $2 where collection_id = $1 and subject = 'sales'`, [
        subject.id,
        new Date(market.now() - 9 * DAY_MS),
      ]);
    assert.deepEqual((await read(subject.slug)).stats.volumeChange, { twentyFourHour: 1, sevenDay: null });
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

  test('an unknown sort, chain or limit is a 400, and a collection that does not exist is a 404', async () => {
    for (const query of ['sort=price', 'chain=nowhere', 'limit=0', 'limit=101', 'limit=x']) {
      assert.equal((await market.get(`${PATH}?${query}`)).status, 400, query);
    }
    assert.equal((await market.get(`${PATH}/nowhere`)).status, 404);
    assert.equal((await market.get(`${PATH}/${'x'.repeat(3_000)}`)).status, 404);
  });
});
