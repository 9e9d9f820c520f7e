// GET /v1/collections/{id}: identity, and stats as told or as computed.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toEvmAddress } from '../../src/sources/sample-chance.ts';
import type { Subject } from '../support/market.ts';
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
  UINT256_MAX,
  forEachMarket,
  mintOf,
  newSubject,
  range,
} from '../support/market.ts';

const OWNERS = range(5).map((n) => toEvmAddress('owner', `${n}`));
const UNKNOWN = { allTime: null, sevenDay: null, twentyFourHour: null };

forEachMarket('collection', {}, (market) => {
  const read = async (subject: Subject) => (await market.ok(subject.path)).data;
  const statsOf = async (subject: Subject) => (await read(subject)).stats;

  test('has every field of its record and both stats sources', async () => {
    const subject = newSubject({
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

  test('on Solana has its mint as written and its id in lower case', async () => {
    const subject = newSubject({ chain: 'solana' });
    await market.load([subject.collection()]);
    const collection = await read(subject);
    assert.deepEqual([collection.id, collection.contractAddress], [subject.id, subject.address]);
    assert.notEqual(subject.id, `solana_${subject.address}`);
  });

  test('that has only a name has null for all else, and no figure is zero', async () => {
    await market.load([{ kind: 'collection', slug: 'bare', name: 'Bare' }]);
    const { data } = await market.ok('/v1/collections/bare');
    const { listedCount, ...stats } = data.stats;
    assert.deepEqual(
      { ...data, stats },
      {
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
        stats: { floor: null, volume: UNKNOWN, sales: UNKNOWN, supply: null, owners: null },
        stale: false,
      },
    );
    assert.ok(listedCount === null || listedCount === 0, 'both books were read and hold nothing');
  });

  test('keeps what a later record does not tell, and shows what it tells in the very next request', async () => {
    const subject = newSubject({ description: 'First', royaltyBps: 100 });
    await market.load([subject.collection()]);
    assert.equal((await read(subject)).description, 'First');
    await market.load([subject.collection({ description: 'Second', royaltyBps: null })]);
    const { description, royaltyBps } = await read(subject);
    assert.deepEqual([description, royaltyBps], ['Second', 100]);
  });

  test('has a picture only at an address that cannot run anything', async () => {
    const subject = newSubject();
    const servable = ['http://a/b', 'HTTPS://a/b', 'ipfs://a', 'ar://a', 'data:image/svg+xml,%3Csvg/%3E'];
    const others = ['javascript:alert(1)', 'data:text/html,x', 'ftp://a', '//a/b', ' https://a', 'file:///etc', 'x'];
    for (const image of [...servable, ...others]) {
      await market.load([subject.collection({ image, banner: image })]);
      const collection = await read(subject);
      const expected = servable.includes(image) ? image : null;
      assert.deepEqual([collection.image, collection.banner], [expected, expected], image);
    }
  });

  test('that nobody knows is not found', async () => {
    const answer = await market.get('/v1/collections/nobody');
    assert.equal(answer.status, 404);
    assert.deepEqual(Object.keys(answer.body.error), ['code', 'message']);
    assert.equal(answer.body.error.code, 'not_found');
  });

  describe('stats that no record tells', () => {
    test('count tokens and distinct owners', async () => {
      const subject = newSubject();
      const tokens = range(9).map((n) => subject.token(`${n}`, n < 7 ? { owner: OWNERS[n % 3] } : {}));
      await market.load([subject.collection(), ...tokens]);
      const { supply, owners } = await statsOf(subject);
      assert.deepEqual([supply, owners], [9, 3]);
    });

    test('count listed assets over both books, each asset once, and only live rows', async () => {
      const subject = newSubject();
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

    test('count the listed assets of a Solana collection', async () => {
      const subject = newSubject({ chain: 'solana' });
      await market.load([
        subject.collection(),
        subject.listing(mintOf('x'), 5, { source: 'tensor' }),
        subject.listing(mintOf('x'), 5, { source: 'mercat' }),
        subject.listing(mintOf('y'), 5, { source: 'mercat' }),
      ]);
      assert.equal((await statsOf(subject)).listedCount, 2);
    });

    test('count none where every listing has ended: that is known', async () => {
      const subject = newSubject();
      await market.load([subject.collection(), subject.order('1', 5, { status: 'filled' })]);
      assert.equal((await statsOf(subject)).listedCount, 0);
    });

    test('sum sales in native units, to the edge of each window', async () => {
      const subject = newSubject();
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
      ]);
      const { volume, sales } = await statsOf(subject);
      assert.deepEqual(volume, { allTime: 25.5, sevenDay: 6.3, twentyFourHour: 0.7 });
      assert.deepEqual(sales, { allTime: 8, sevenDay: 6, twentyFourHour: 3 });
    });

    test('leave each window as the clock goes on, to the millisecond', async () => {
      const subject = newSubject();
      // Sales all over the part hour at the old end of the window, and the full hours beside it.
      const ages = [-90, -61, -60, -59, -31, -30, -29, -1, 0, 1, 29, 30, 31, 59, 60, 61, 90].map(
        (minutes) => DAY_MS + minutes * MINUTE_MS,
      );
      await market.load([
        subject.collection(),
        ...ages.map((age, n) => subject.sale(`${n}`, 10n ** 18n, { timestamp: market.ago(age) })),
      ]);
      const since = market.now();
      // Every step is longer than an answer is kept.
      for (const step of [SECOND_MS, 29 * MINUTE_MS, MINUTE_MS, SECOND_MS + 1, 30 * MINUTE_MS, MINUTE_MS]) {
        market.advance(step);
        const passed = market.now() - since;
        const expected = ages.filter((age) => age + passed <= DAY_MS).length;
        const { sales, volume } = await statsOf(subject);
        assert.deepEqual([sales.twentyFourHour, volume.twentyFourHour], [expected, expected], `after ${passed} ms`);
      }
    });

    test('leave zero and uninterpretable prices out of volume and count', async () => {
      const subject = newSubject();
      const prices = ['0', '6.27e+16', '1.5', '-3', (UINT256_MAX + 1n).toString(), '2000000000000000000'];
      await market.load([
        subject.collection(),
        ...prices.map((price, n) => subject.sale(`${n}`, price, { timestamp: market.ago(n * SECOND_MS) })),
      ]);
      const { volume, sales } = await statsOf(subject);
      assert.deepEqual(volume, { allTime: 2, sevenDay: 2, twentyFourHour: 2 });
      assert.deepEqual(sales, { allTime: 1, sevenDay: 1, twentyFourHour: 1 });
    });

    test('are the same whether sales come at once, one by one, or twice', async () => {
      const [whole, parts] = [newSubject(), newSubject()];
      const sales = (subject: Subject) =>
        range(12).map((n) => subject.sale(`${n}`, 10n ** 18n, { timestamp: market.ago(n * 5 * HOUR_MS) }));
      await market.load([whole.collection(), ...sales(whole)]);
      await market.load([parts.collection()]);
      for (const sale of sales(parts)) await market.load([sale]);
      await market.load(sales(parts));
      const [one, other] = [await statsOf(whole), await statsOf(parts)];
      assert.deepEqual(one.sales, { allTime: 12, sevenDay: 12, twentyFourHour: 5 });
      assert.deepEqual(other, one);
    });

    test('sum exactly before they become a number, also past 2^256', async () => {
      const subject = newSubject();
      await market.load([
        subject.collection(),
        subject.sale('1', UINT256_MAX),
        subject.sale('2', UINT256_MAX),
        subject.sale('3', 2),
      ]);
      const exact = '231584178474632390847141970017375815706539969331281128078915.168015826259279872';
      assert.equal((await statsOf(subject)).volume.allTime, Number(exact));
    });

    test('know a quiet day as zero once a sale is known at all', async () => {
      const subject = newSubject();
      await market.load([subject.collection(), subject.sale('1', 10n ** 18n, { timestamp: market.ago(30 * DAY_MS) })]);
      const { volume, sales } = await statsOf(subject);
      assert.deepEqual([volume, sales].map(Object.values), [
        [1, 0, 0],
        [1, 0, 0],
      ]);
    });
  });

  describe('stats that a record tells', () => {
    test('win over what the rows say', async () => {
      const subject = newSubject();
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
      assert.deepEqual(sales, { ...UNKNOWN, allTime: 50 }, 'what the record leaves open is unknown');
    });

    test('are those of the newest time, in whatever order the records came, and replace the older whole', async () => {
      const subject = newSubject();
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

    test('may be zero where they say so', async () => {
      const subject = newSubject();
      const zeros = { allTime: 0, sevenDay: 0, twentyFourHour: 0 };
      await market.load([
        subject.collection(),
        subject.stats({ owners: 0, supply: 0, listedCount: 0 }),
        subject.analytics({ volume: zeros, sales: zeros }),
      ]);
      const { owners, supply, listedCount, volume, sales } = await statsOf(subject);
      assert.deepEqual([owners, supply, listedCount, volume, sales], [0, 0, 0, zeros, zeros]);
    });

    test('are computed where the record is of the other source', async () => {
      const subject = newSubject();
      await market.load([
        subject.collection(),
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

    test('speaks where neither a record nor a row does', async () => {
      const subject = newSubject({ chain: 'abstract', snapshot });
      await market.load([subject.collection()]);
      const { floor, volume, supply, owners } = await statsOf(subject);
      assert.deepEqual([floor.raw, volume, supply, owners], ['77', { ...UNKNOWN, allTime: 12.5 }, 100, 40]);
    });

    test('is silent as soon as rows know better', async () => {
      const subject = newSubject({ snapshot });
      await market.load([
        subject.collection(),
        subject.order('1', 5),
        subject.sale('1', 10n ** 18n),
        subject.token('1', { owner: OWNERS[0] }),
        subject.token('2', { owner: OWNERS[1] }),
      ]);
      const { floor, volume, supply, owners } = await statsOf(subject);
      assert.deepEqual([floor.raw, volume.allTime, supply, owners], ['5', 1, 2, 2]);
    });
  });

  test('does not change with query parameters that it does not know', async () => {
    const subject = newSubject();
    await market.load([subject.collection()]);
    const plain = await market.get(subject.path);
    for (const query of ['limit=0', 'cursor=x', 'chain=nowhere', 'a=1&a=2']) {
      const answer = await market.get(`${subject.path}?${query}`);
      assert.deepEqual([answer.status, answer.text], [200, plain.text]);
      assert.equal(answer.headers.get('etag'), plain.headers.get('etag'));
    }
  });
});
