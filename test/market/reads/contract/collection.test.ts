// GET /v1/collections/{id}: the identity, and the stats, which come from records or are computed from rows.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toEvmAddress } from '../../../../sample/random.ts';
import type { TestCollection } from '../../../support/service/market.ts';
import { HOUR_MS, MINUTE_MS, forOneMarket, newCollection, range } from '../../../support/service/market.ts';
import { describeComputedStats } from './computed-stats.suite.ts';

const OWNERS = range(5).map((n) => toEvmAddress('owner', `${n}`));
const UNKNOWN = { allTime: null, sevenDay: null, twentyFourHour: null };

forOneMarket('collection', {}, (market) => {
  const read = async (subject: TestCollection) => (await market.ok(subject.path)).data;
  const statsOf = async (subject: TestCollection) => (await read(subject)).stats;

  test('a collection has every field of its collection record, its stats record and its analytics record', async () => {
    const subject = newCollection({
      chain: 'polygon',
      name: 'Harbour <b>Lights</b> 🌊',
      image: 'https://example.org/i.png',
      banner: 'ipfs://b/banner.png',
      description: 'Line one\n<script>line two</script>',
      tokenStandard: 'ERC-721',
      royaltyBps: 750,
      launched: true,
    });
    await market.load([
      subject.collection(),
      subject.stats({ owners: 70, listedCount: 12, supply: 100, floorRaw: '9' }),
      subject.analytics({
        floorRaw: '1500000000000000000',
        volume: { allTime: 1234.5, sevenDay: 10.25, twentyFourHour: 0 },
        sales: { allTime: 900, sevenDay: 8, twentyFourHour: 0 },
      }),
    ]);
    assert.deepEqual(await market.ok(subject.path), {
      data: {
        id: subject.id,
        chain: 'polygon',
        contractAddress: subject.address,
        name: 'Harbour <b>Lights</b> 🌊',
        slug: subject.slug,
        image: 'https://example.org/i.png',
        banner: 'ipfs://b/banner.png',
        description: 'Line one\n<script>line two</script>',
        tokenStandard: 'ERC-721',
        royaltyBps: 750,
        stats: {
          floor: { raw: '1500000000000000000', decimal: 1.5, currency: 'POL', usd: null },
          volume: { allTime: 1234.5, sevenDay: 10.25, twentyFourHour: 0 },
          sales: { allTime: 900, sevenDay: 8, twentyFourHour: 0 },
          supply: 100,
          owners: 70,
          listedCount: 12,
        },
        stale: false,
      },
    });
  });

  test('a collection on Solana has its address with letter case preserved, and its id in lower case', async () => {
    const subject = newCollection({ chain: 'solana' });
    await market.load([subject.collection()]);
    const collection = await read(subject);
    assert.deepEqual([collection.id, collection.contractAddress], [subject.id, subject.address]);
    assert.notEqual(subject.id, `solana_${subject.address}`);
  });

  test('a collection whose record has only a name and a slug has null for every other value', async () => {
    await market.load([{ kind: 'collection', slug: 'bare', name: 'Bare' }]);
    const { data } = await market.ok('/v1/collections/bare');
    assert.deepEqual(data, {
      id: 'bare',
      chain: null,
      contractAddress: null,
      name: 'Bare',
      slug: 'bare',
      image: null,
      banner: null,
      description: null,
      tokenStandard: null,
      royaltyBps: null,
      stats: { floor: null, volume: UNKNOWN, sales: UNKNOWN, supply: null, owners: null, listedCount: null },
      stale: false,
    });
  });

  test('a collection keeps the fields that a later record lacks', async () => {
    const subject = newCollection({ description: 'First', royaltyBps: 100 });
    await market.load([subject.collection()]);
    assert.equal((await read(subject)).description, 'First');
    await market.load([subject.collection({ description: 'Second', royaltyBps: null })]);
    const { description, royaltyBps } = await read(subject);
    assert.deepEqual([description, royaltyBps], ['Second', 100]);
  });

  test('a collection has an image and a banner only if their URL is http, https, ipfs, ar or data:image', async () => {
    const subject = newCollection();
    const servable = ['http://a/b', 'HTTPS://a/b', 'ipfs://a', 'ar://a', 'data:image/svg+xml,%3Csvg/%3E'];
    const others = ['javascript:alert(1)', 'data:text/html,x', 'ftp://a', '//a/b', ' https://a', 'file:///etc', 'x'];
    for (const image of [...servable, ...others]) {
      await market.load([subject.collection({ image, banner: image })]);
      const collection = await read(subject);
      const expected = servable.includes(image) ? image : null;
      assert.deepEqual([collection.image, collection.banner], [expected, expected], image);
    }
  });

  test('an unknown id of a collection gets a 404', async () => {
    const response = await market.get('/v1/collections/nobody');
    assert.equal(response.status, 404);
    assert.deepEqual(Object.keys(response.body.error), ['code', 'message']);
    assert.equal(response.body.error.code, 'not_found');
  });

  describeComputedStats(market);

  describe('stats of a record', () => {
    test('the stats of a record are served instead of stats computed from rows', async () => {
      const subject = newCollection();
      await market.load([
        subject.collection(),
        subject.token('1', { owner: OWNERS[0] }),
        subject.order('1', 5),
        subject.sale('1', 10n ** 18n),
        subject.stats({ owners: 10, supply: 20, listedCount: 30 }),
        subject.analytics({ volume: { allTime: 5, sevenDay: 4, twentyFourHour: 3 }, sales: { allTime: 50 } }),
      ]);
      const { owners, supply, listedCount, volume, sales } = await statsOf(subject);
      assert.deepEqual([owners, supply, listedCount], [10, 20, 30]);
      assert.deepEqual(volume, { allTime: 5, sevenDay: 4, twentyFourHour: 3 });
      assert.deepEqual(sales, { ...UNKNOWN, allTime: 50 }, 'a window that the record lacks is known');
    });

    test('the stats of a record come only from the record with the newest time, whatever the order of import', async () => {
      const subject = newCollection();
      const at = (hours: number) => market.ago(hours * HOUR_MS);
      await market.load([
        subject.collection(),
        subject.stats({ owners: 1, supply: 7, at: at(3) }),
        subject.stats({ owners: 3, at: at(1) }),
        subject.stats({ owners: 2, supply: 8, at: at(2) }),
        subject.analytics({ volume: { allTime: 3 }, at: at(1) }),
      ]);
      await market.load([
        subject.stats({ owners: 4, at: at(4) }),
        subject.analytics({ volume: { allTime: 2 }, at: at(2) }),
      ]);
      const stats = await statsOf(subject);
      assert.deepEqual([stats.owners, stats.supply, stats.volume.allTime], [3, null, 3]);
      await market.load([
        subject.stats({ owners: 5, at: at(0) }),
        subject.analytics({ volume: { allTime: 9 }, at: at(0) }),
      ]);
      const newer = await statsOf(subject);
      assert.deepEqual([newer.owners, newer.volume.allTime], [5, 9]);
    });

    test('in a record, volumes and sales of 24 hours and seven days expire after two hours; owners, supply, listed count, and volume and sales of all time expire after a day', async () => {
      const subject = newCollection();
      const windows = { allTime: 9, sevenDay: 9, twentyFourHour: 9 };
      const at = market.ago(2 * HOUR_MS - MINUTE_MS);
      await market.load([
        subject.collection(),
        subject.order('1', 5),
        subject.sale('1', 500n * 10n ** 18n, { timestamp: market.ago(HOUR_MS) }),
        subject.stats({ owners: 3, supply: 4, listedCount: 5, at }),
        subject.analytics({ volume: windows, sales: windows, at }),
      ]);
      const fresh = await statsOf(subject);
      assert.deepEqual([fresh.volume, fresh.sales], [windows, windows]);
      market.advance(MINUTE_MS);
      const current = await statsOf(subject);
      assert.deepEqual([current.owners, current.supply, current.listedCount], [3, 4, 5]);
      assert.deepEqual(current.volume, { allTime: 9, sevenDay: 500, twentyFourHour: 500 });
      assert.deepEqual(current.sales, { allTime: 9, sevenDay: 1, twentyFourHour: 1 });
      market.advance(22 * HOUR_MS - MINUTE_MS);
      const last = await statsOf(subject);
      assert.deepEqual([last.owners, last.supply, last.listedCount], [3, 4, 5]);
      assert.deepEqual([last.volume.allTime, last.sales.allTime], [9, 9]);
      market.advance(MINUTE_MS);
      const old = await statsOf(subject);
      // The listed count is not computed from the own order, and neither volume nor number of sales from the sale, because a record has counted more.
      assert.deepEqual([old.owners, old.supply, old.listedCount], [null, null, null]);
      assert.deepEqual(
        [old.volume, old.sales],
        [
          { allTime: null, sevenDay: null, twentyFourHour: null },
          { allTime: null, sevenDay: null, twentyFourHour: null },
        ],
      );
    });

    test('the stats of a record with a time in the future count as observed at their import', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), subject.stats({ owners: 3, at: market.ago(-365 * 24 * HOUR_MS) })]);
      assert.equal((await statsOf(subject)).owners, 3);
      market.advance(24 * HOUR_MS);
      assert.equal((await statsOf(subject)).owners, null);
      await market.load([subject.stats({ owners: 4, at: market.ago(0) })]);
      assert.equal((await statsOf(subject)).owners, 4);
    });

    test('the stats of a record without a time are served for a day after each import', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), subject.stats({ owners: 3 })]);
      market.advance(23 * HOUR_MS);
      await market.load([subject.stats({ owners: 3 })]);
      market.advance(24 * HOUR_MS - MINUTE_MS);
      assert.equal((await statsOf(subject)).owners, 3);
      market.advance(MINUTE_MS);
      assert.equal((await statsOf(subject)).owners, null);
    });

    test('the stats of a record are served as zero if the record has zeros', async () => {
      const subject = newCollection();
      const zeros = { allTime: 0, sevenDay: 0, twentyFourHour: 0 };
      await market.load([
        subject.collection(),
        subject.stats({ owners: 0, supply: 0, listedCount: 0 }),
        subject.analytics({ volume: zeros, sales: zeros }),
      ]);
      const { owners, supply, listedCount, volume, sales } = await statsOf(subject);
      assert.deepEqual([owners, supply, listedCount, volume, sales], [0, 0, 0, zeros, zeros]);
    });

    test('the stats that no record has are computed from rows', async () => {
      const subject = newCollection();
      await market.load([
        subject.collection({ tokensComplete: true }),
        subject.token('1', { owner: OWNERS[0] }),
        subject.sale('1', 10n ** 18n),
        subject.stats({ listedCount: 9 }),
      ]);
      const { owners, supply, listedCount, volume } = await statsOf(subject);
      assert.deepEqual([owners, supply, listedCount, volume.allTime], [1, 1, 9, 1]);
    });
  });

  describe('the stored snapshot', () => {
    const snapshot = { floorRaw: '77', volumeAllTime: 12.5, supply: 100, owners: 40 };

    test('the stored snapshot is used when there is neither a record with stats nor a row', async () => {
      const subject = newCollection({ chain: 'abstract', snapshot });
      await market.load([subject.collection()]);
      const { floor, volume, supply, owners } = await statsOf(subject);
      assert.deepEqual([floor.raw, volume, supply, owners], ['77', { ...UNKNOWN, allTime: 12.5 }, 100, 40]);
    });

    test('the stored snapshot is not used when the stats can be computed from rows', async () => {
      const subject = newCollection({ snapshot });
      await market.load([
        subject.collection({ tokensComplete: true }),
        subject.order('1', 5),
        subject.sale('1', 20n * 10n ** 18n),
        subject.token('1', { owner: OWNERS[0] }),
        subject.token('2', { owner: OWNERS[1] }),
      ]);
      const { floor, volume, supply, owners } = await statsOf(subject);
      assert.deepEqual([floor.raw, volume.allTime, supply, owners], ['5', 20, 2, 2]);
    });
  });

  test('the response for a collection has the same body and ETag with unknown query parameters', async () => {
    const subject = newCollection();
    await market.load([subject.collection()]);
    const plain = await market.get(subject.path);
    for (const query of ['limit=0', 'cursor=x', 'chain=nowhere', 'a=1&a=2']) {
      const response = await market.get(`${subject.path}?${query}`);
      assert.deepEqual([response.status, response.text], [200, plain.text]);
      assert.equal(response.headers.get('etag'), plain.headers.get('etag'));
    }
  });
});
