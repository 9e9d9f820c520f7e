// GET /v1/collections.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestCollection } from '../../../support/service/market.ts';
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  UINT256_MAX,
  forOneMarket,
  mintOf,
  newCollection,
  range,
} from '../../../support/service/market.ts';
import { describeCollectionPaging } from './collection-paging.suite.ts';

const SORTS = ['volume', 'floor', 'recent'] as const;
const settings = { EXTRA_CHAIN: 'monad:evm:MON:18:143' };

/** Returns the index in `subjects` of each listed collection, in the order of the list. Collections of other tests are left out. */
const indexesOf = (subjects: readonly TestCollection[], rows: any[]): number[] =>
  rows.map((row) => subjects.findIndex((subject) => subject.id === row.id)).filter((index) => index >= 0);
/** Sorts indexes by collection id. */
const byId = (subjects: readonly TestCollection[], indexes: number[]): number[] =>
  indexes.toSorted((a, b) => ((subjects[a]?.id ?? '') < (subjects[b]?.id ?? '') ? -1 : 1));
const toCollectionRecords = (subjects: readonly TestCollection[]) => subjects.map((subject) => subject.collection());

forOneMarket('collections', { settings }, (market) => {
  const list = (query = '') => market.walk(`/v1/collections?limit=100${query}`);
  const rowOf = async (subject: TestCollection) =>
    (await list(`&chain=${subject.chain}`)).find((row) => row.id === subject.id);

  describe('a row', () => {
    test('a row has every field of its record, and floor, volume, supply and owners', async () => {
      const subject = newCollection({
        chain: 'polygon',
        name: 'Kites & <i>Comets</i>',
        image: 'data:image/svg+xml,%3Csvg/%3E',
        banner: 'https://example.org/b.png',
        description: 'Words',
        tokenStandard: 'ERC-1155',
        royaltyBps: 0,
      });
      await market.load([
        subject.collection(),
        subject.order('1', '2500000000000000000'),
        subject.stats({ owners: 7, supply: 9 }),
        subject.analytics({ volume: { allTime: 12.5, sevenDay: 1, twentyFourHour: 1 } }),
        { kind: 'rate', symbol: 'POL', usd: 0.4, at: market.ago(0) },
      ]);
      assert.deepEqual(await rowOf(subject), {
        id: subject.id,
        chain: 'polygon',
        contractAddress: subject.address,
        name: 'Kites & <i>Comets</i>',
        slug: subject.slug,
        image: 'data:image/svg+xml,%3Csvg/%3E',
        banner: 'https://example.org/b.png',
        description: 'Words',
        tokenStandard: 'ERC-1155',
        royaltyBps: 0,
        stats: {
          floor: { raw: '2500000000000000000', decimal: 2.5, currency: 'POL', usd: 1 },
          volumeAllTime: 12.5,
          supply: 9,
          owners: 7,
        },
      });
    });

    test('a row has null, and not zero, for an unknown chain, address or figure', async () => {
      await market.load([
        { kind: 'collection', slug: 'only-a-name', name: 'Only a name' },
        { kind: 'collection', slug: 'no-slug-but-chain', chain: 'ink', name: 'No address' },
      ]);
      const rows = await list();
      const empty = { floor: null, volumeAllTime: null, supply: null, owners: null };
      const texts = { image: null, banner: null, description: null, tokenStandard: null, royaltyBps: null };
      assert.deepEqual(
        rows.find((row) => row.slug === 'only-a-name'),
        {
          id: 'only-a-name',
          chain: null,
          contractAddress: null,
          name: 'Only a name',
          slug: 'only-a-name',
          ...texts,
          stats: empty,
        },
      );
      assert.equal(rows.find((row) => row.slug === 'no-slug-but-chain').chain, 'ink');
    });

    test('a row on Solana has its address with letter case preserved, its id in lower case and its floor in SOL', async () => {
      const subject = newCollection({ chain: 'solana' });
      await market.load([subject.collection(), subject.listing(mintOf('1'), 5)]);
      const row = await rowOf(subject);
      assert.deepEqual([row.contractAddress, row.id], [subject.address, subject.id]);
      assert.deepEqual(row.stats.floor, { raw: '5', decimal: 5e-9, currency: 'SOL', usd: null });
    });

    test('a row agrees with GET /v1/collections/{id}, for stats from the snapshot, for computed stats and for stats from records', async () => {
      const subject = newCollection({ snapshot: { floorRaw: '1', volumeAllTime: 2, supply: 3, owners: 4 } });
      const assertEqualToDetail = async () => {
        const { stats, stale, ...identity } = (await market.ok(subject.path)).data;
        const { floor, supply, owners } = stats;
        const row = { ...identity, stats: { floor, volumeAllTime: stats.volume.allTime, supply, owners } };
        assert.deepEqual(await rowOf(subject), row);
        assert.equal(stale, false);
        return [floor.raw, stats.volume.allTime, supply, owners];
      };
      await market.load([subject.collection()]);
      assert.deepEqual(await assertEqualToDetail(), ['1', 2, 3, 4]);
      await market.load([
        subject.collection({ tokensComplete: true }),
        subject.token('1', { owner: `0x${'1'.repeat(40)}` }),
        subject.order('1', 50),
        subject.sale('1', 3n * 10n ** 18n),
      ]);
      assert.deepEqual(await assertEqualToDetail(), ['50', 3, 1, 1]);
      await market.load([
        subject.stats({ owners: 9, supply: 8 }),
        subject.analytics({ floorRaw: '6', volume: { allTime: 5 } }),
      ]);
      assert.deepEqual(await assertEqualToDetail(), ['50', 5, 8, 9]);
    });

    test('a row has null for an image or banner URL that could run code', async () => {
      const subject = newCollection({ image: 'javascript:alert(1)', banner: 'data:text/html,x' });
      await market.load([subject.collection()]);
      const { image, banner } = await rowOf(subject);
      assert.deepEqual([image, banner], [null, null]);
    });
  });

  describe('the sort order', () => {
    test('the sort by volume compares all-time native volumes, from high to low, with ties by id and unknown volumes last', async () => {
      const volumes = [0, 5, null, 1e21, 5, 0.1, null, 5];
      const subjects = volumes.map(() => newCollection({ chain: 'base' }));
      await market.load(toCollectionRecords(subjects));
      await market.load(
        volumes.flatMap((allTime, n) =>
          allTime === null ? [] : [subjects[n]?.analytics({ volume: { allTime } }) ?? {}],
        ),
      );
      const expected = [3, ...byId(subjects, [1, 4, 7]), 5, 0, ...byId(subjects, [2, 6])];
      assert.deepEqual(indexesOf(subjects, await list('&sort=volume&chain=base')), expected);
      assert.deepEqual(
        indexesOf(subjects, await list('&sort=volume')),
        expected,
        'wrong order in the list of all chains',
      );
    });

    test('the sort by volume uses the volume of a record, else the sum of the sales, else the volume of the snapshot', async () => {
      const subjects = range(3).map((n) => newCollection({ snapshot: { volumeAllTime: n === 0 ? 2 : 900 } }));
      const [, summed, recorded] = subjects;
      await market.load([
        ...toCollectionRecords(subjects),
        summed?.sale('1', 3n * 10n ** 18n) ?? {},
        recorded?.analytics({ volume: { allTime: 1 } }) ?? {},
      ]);
      assert.deepEqual(indexesOf(subjects, await list('&chain=ethereum')), [1, 0, 2]);
    });

    test('the sort by floor within a chain compares base units as integers, from high to low, with ties by id and unknown floors last', async () => {
      const floors = [9n, 10n, null, UINT256_MAX, 10n ** 18n, 10n ** 18n + 1n, UINT256_MAX - 1n, 9n, null];
      const subjects = floors.map(() => newCollection({ chain: 'ink' }));
      await market.load(toCollectionRecords(subjects));
      await market.load(floors.flatMap((floor, n) => (floor === null ? [] : [subjects[n]?.order('1', floor) ?? {}])));
      const expected = [3, 6, 5, 4, 1, ...byId(subjects, [0, 7]), ...byId(subjects, [2, 8])];
      for (const limit of [100, 1, 4]) {
        const rows = await market.walk(`/v1/collections?sort=floor&chain=ink&limit=${limit}`);
        assert.deepEqual(indexesOf(subjects, rows), expected, `limit ${limit}`);
      }
    });

    test('the sort by floor across chains compares dollars at the newest rates. Floors on chains without a rate follow in the order of native units. Unknown floors are last', async () => {
      const rate = (symbol: string, usd: number) => ({ kind: 'rate', symbol, usd, at: market.ago(0) });
      const chains = ['solana', 'ethereum', 'polygon', 'base', 'apechain', 'monad', 'solana', 'ethereum'];
      const subjects = chains.map((chain) => newCollection({ chain }));
      const [sol, eth, pol, base, ape, mon, cheapSol] = subjects;
      const native = (amount: number) => (BigInt(Math.round(amount * 1_000)) * 10n ** 15n).toString();
      await market.load([
        ...toCollectionRecords(subjects),
        rate('ETH', 2_000),
        rate('POL', 0.5),
        rate('APE', 1),
        sol?.listing(mintOf('1'), 30n * 10n ** 9n) ?? {},
        eth?.order('1', native(1)) ?? {},
        pol?.order('1', native(5_000)) ?? {},
        base?.order('1', native(0.5)) ?? {},
        ape?.listing('1', native(1_500)) ?? {},
        mon?.order('1', native(20)) ?? {},
        cheapSol?.listing(mintOf('1'), 10n * 10n ** 9n) ?? {},
      ]);
      const assertOrder = async (expected: number[], message: string) => {
        for (const limit of [100, 3]) {
          const rows = await walkUnchecked(`/v1/collections?limit=${limit}&sort=floor`);
          assert.deepEqual(indexesOf(subjects, rows), expected, `${message}, limit ${limit}`);
        }
      };
      // The collections 1 to 4 have floors of 2,000, 2,500, 1,000 and 1,500 dollars. SOL and MON have no rate. The collections 0, 5 and 6 have
      // floors of 30, 20 and 10 native units. In base units, 20 MON are more than 30 SOL. The collection 7 has no floor.
      await assertOrder([2, 1, 4, 3, 0, 5, 6, 7], 'wrong order while two currencies have no rate');
      await market.load([rate('SOL', 90)]);
      await assertOrder([0, 2, 1, 4, 3, 6, 5, 7], 'the first rate was not used immediately');
      await market.load([rate('SOL', 1)]);
      await assertOrder([2, 1, 4, 3, 0, 6, 5, 7], 'the new rate was not used immediately');
    });

    /** Reads all pages without checking rows against the OpenAPI document, which lacks the chain that the settings add. */
    async function walkUnchecked(path: string): Promise<any[]> {
      const rows: any[] = [];
      for (let cursor = ''; ;) {
        const page: any = await (await fetch(`${market.url}${path}${cursor}`)).json();
        rows.push(...page.data);
        if (!page.pagination.hasMore) return rows;
        cursor = `&cursor=${page.pagination.nextCursor}`;
      }
    }

    test('the sort by floor uses the served floors, in which an asset with an own order has the price of this order, even if a mirrored listing of the asset is cheaper', async () => {
      const subjects = range(4).map(() => newCollection({ chain: 'abstract' }));
      const [hidden, middle, all, plain] = subjects as [TestCollection, TestCollection, TestCollection, TestCollection];
      await market.load([
        ...toCollectionRecords(subjects),
        hidden.listing('1', 5),
        hidden.order('1', 90),
        hidden.listing('2', 80),
        middle.listing('1', 50),
        all.listing('1', 1),
        all.listing('2', 2),
        all.order('1', 300),
        all.order('2', 200),
        plain.order('1', 85),
      ]);
      const rows = await list('&sort=floor&chain=abstract');
      const floors = rows.flatMap((row) => (row.stats.floor === null ? [] : [Number(row.stats.floor.raw)]));
      assert.deepEqual(
        floors,
        floors.toSorted((a, b) => b - a),
      );
      assert.deepEqual(indexesOf(subjects, rows), [2, 3, 0, 1]);
    });

    test('the sort by recent puts the newest record first, with ties by id', async () => {
      const ages = [5, 1, 3, 1, 0, 400];
      const subjects = ages.map((days) => newCollection({ createdAt: market.ago(days * DAY_MS) }));
      await market.load(toCollectionRecords(subjects));
      const expected = [4, ...byId(subjects, [1, 3]), 2, 0, 5];
      assert.deepEqual(indexesOf(subjects, await list('&sort=recent&chain=ethereum')), expected);
    });

    test('the sort by recent uses the time of the first import for a record without a date', async () => {
      const [old, dated] = [newCollection(), newCollection({ createdAt: market.ago(-MINUTE_MS) })];
      await market.load([old.collection()]);
      market.advance(HOUR_MS);
      await market.load([dated.collection(), old.collection({ name: 'Imported again' })]);
      assert.deepEqual(indexesOf([old, dated], await list('&sort=recent&chain=ethereum')), [1, 0]);
    });

    test('launched collections come first in every sort', async () => {
      const specs = [
        { launched: false, volume: 1_000, floor: 1_000, days: 0 },
        { launched: true, volume: 1, floor: 1, days: 3 },
        { launched: true, volume: 2, floor: 3, days: 5 },
        { launched: true, volume: 3, floor: 2, days: 4 },
        { launched: false, volume: 2_000, floor: 500, days: 1 },
      ];
      const subjects = specs.map(({ launched, days }) =>
        newCollection({ chain: 'apechain', launched, createdAt: market.ago(days * DAY_MS) }),
      );
      await market.load(toCollectionRecords(subjects));
      await market.load(
        specs.flatMap(({ volume, floor }, n) => [
          subjects[n]?.analytics({ volume: { allTime: volume } }) ?? {},
          subjects[n]?.order('1', floor) ?? {},
        ]),
      );
      const expected = { volume: [3, 2, 1, 4, 0], floor: [2, 3, 1, 0, 4], recent: [1, 3, 2, 0, 4] };
      for (const sort of SORTS) {
        assert.deepEqual(indexesOf(subjects, await list(`&sort=${sort}&chain=apechain`)), expected[sort], sort);
      }
    });

    test('without a sort parameter, the launched collections come before the others, and both parts of the list are sorted by the newest volumes', async () => {
      const subjects = range(3).map(() => newCollection({ chain: 'polygon' }));
      const [a, b, c] = subjects as [TestCollection, TestCollection, TestCollection];
      const volume = (subject: TestCollection, allTime: number, at: number) =>
        subject.analytics({ volume: { allTime }, at: market.ago(-at) });
      await market.load([a.collection(), volume(a, 1, 0), b.collection(), volume(b, 2, 0)]);
      assert.deepEqual(indexesOf(subjects, await list('&chain=polygon')), [1, 0]);
      await market.load([volume(a, 3, 1)]);
      assert.deepEqual(indexesOf(subjects, await list('&chain=polygon')), [0, 1]);
      await market.load([c.collection({ launched: true })]);
      assert.deepEqual(indexesOf(subjects, await list('&chain=polygon')), [2, 0, 1]);
      await market.load([b.sale('1', 10n ** 18n), volume(b, 9, 2)]);
      assert.deepEqual(indexesOf(subjects, await list('&chain=polygon')), [2, 1, 0]);
    });
  });

  describe('the chain filter', () => {
    test('the chain filter returns only collections of the given chain, also for a chain that the settings add', async () => {
      const chains = ['solana', 'ethereum', 'polygon', 'base', 'ink', 'apechain', 'abstract'];
      await market.load(toCollectionRecords(chains.map((chain) => newCollection({ chain }))));
      const extra = newCollection({ chain: 'monad' });
      await market.load([extra.collection()]);
      for (const chain of chains) {
        const rows = await list(`&chain=${chain}`);
        assert.ok(rows.length > 0, chain);
        assert.deepEqual(new Set(rows.map((row) => row.chain)), new Set([chain]));
      }
      const response = await fetch(`${market.url}/v1/collections?chain=monad`);
      const { data } = (await response.json()) as any;
      assert.ok(data.length > 0);
      assert.ok(data.every((row: any) => row.chain === 'monad'));
    });

    test('the chain filter rejects a value that is not the id of a chain in lower case, and the message names the parameter', async () => {
      for (const chain of ['Ethereum', 'ETH', 'bitcoin', '', '%20ethereum', 'ethereum,base', '__proto__', 'null']) {
        const response = await market.get(`/v1/collections?chain=${chain}`);
        assert.equal(response.status, 400, chain);
        assert.equal(response.body.error.code, 'bad_request');
        assert.match(response.body.error.message, /chain/);
      }
    });
  });

  describeCollectionPaging(market);
});
