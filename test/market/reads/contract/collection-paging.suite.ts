// Tests of the pages of GET /v1/collections. collections.test.ts starts the service and runs these tests.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { TestCollection, TestMarket } from '../../../support/service/market.ts';
import { DAY_MS, newCollection, range } from '../../../support/service/market.ts';

const SORTS = ['volume', 'floor', 'recent'] as const;
const toCollectionRecords = (subjects: readonly TestCollection[]) => subjects.map((subject) => subject.collection());

export function describeCollectionPaging(market: TestMarket): void {
  const list = (query = '') => market.walk(`/v1/collections?limit=100${query}`);

  describe('paging', () => {
    const count = 17;
    const subjects = range(count).map((n) =>
      newCollection({
        chain: 'base',
        slug: `paged-${n}`,
        launched: n % 7 === 0,
        createdAt: new Date(n % 5).toISOString(),
      }),
    );
    before(async () => {
      await market.load(toCollectionRecords(subjects));
      await market.load(
        subjects.flatMap((subject, n) => [
          ...(n % 4 === 0 ? [] : [subject.order('1', 1 + (n % 6))]),
          ...(n % 3 === 0 ? [] : [subject.analytics({ volume: { allTime: n % 6 } })]),
        ]),
      );
    });

    test('paging gives the same collections in the same order with any limit, in every sort', async () => {
      for (const sort of SORTS) {
        const complete = await list(`&chain=base&sort=${sort}`);
        assert.equal(complete.filter((row) => row.slug?.startsWith('paged-')).length, count);
        for (const limit of [1, 7, 16]) {
          const rows = await market.walk(`/v1/collections?chain=base&sort=${sort}&limit=${limit}`);
          assert.deepEqual(rows, complete, `the sort ${sort} with the limit ${limit} has other rows`);
        }
      }
    });

    test('paging continues after a collection whose id is as long as an id can be', async () => {
      const slugs = ['a', 'b', 'c'].map((end) => `${'語'.repeat(499)}${end}`);
      await market.load(slugs.map((slug) => ({ kind: 'collection', chain: 'ink', slug, name: slug })));
      const rows = await market.walk('/v1/collections?chain=ink&limit=1');
      assert.deepEqual(
        rows.map(({ slug }) => slug).filter((slug) => slugs.includes(slug)),
        slugs,
      );
    });

    test('a page has 25 collections by default, and `hasMore` is false when no collection is left', async () => {
      const first = await market.ok('/v1/collections?chain=base');
      assert.equal(first.data.length, 25);
      assert.equal(first.pagination.hasMore, true);
      const complete = await list('&chain=base');
      const fitting = await market.ok(`/v1/collections?chain=base&limit=${complete.length}`);
      assert.deepEqual(fitting.pagination, { nextCursor: null, hasMore: false });
      assert.equal(
        (await market.ok(`/v1/collections?chain=base&limit=${complete.length - 1}`)).pagination.hasMore,
        true,
      );
    });

    test('paging neither repeats nor loses a collection while collections are imported between the pages', async () => {
      for (const sort of SORTS) {
        const before = (await list(`&chain=base&sort=${sort}`)).map((row) => row.id);
        const seen: string[] = [];
        for (let cursor = ''; ;) {
          const page = await market.ok(`/v1/collections?chain=base&sort=${sort}&limit=5${cursor}`);
          seen.push(...page.data.map((row: any) => row.id));
          if (!page.pagination.hasMore) break;
          cursor = `&cursor=${page.pagination.nextCursor}`;
          // Some new rows sort before the position of the cursor, some sort after it.
          const fresh = range(3).map((n) =>
            newCollection({
              chain: 'base',
              launched: n === 0,
              createdAt: market.ago(n * DAY_MS),
              snapshot: { floorRaw: `${n * 2}` },
            }),
          );
          await market.load([
            ...toCollectionRecords(fresh),
            ...fresh.map((subject, n) => subject.analytics({ volume: { allTime: n * 2 } })),
          ]);
          assert.ok(seen.length < 500, 'the pages do not end');
        }
        assert.equal(new Set(seen).size, seen.length, `${sort}: a row is served twice`);
        assert.deepEqual(
          seen.filter((id) => before.includes(id)),
          before,
          `${sort}: an earlier row is missing or has moved`,
        );
      }
    });

    test('paging continues after the position of a cursor even if the collection at this position has moved', async () => {
      const page = await market.ok('/v1/collections?chain=base&sort=recent&limit=10');
      const last = page.data.at(-1);
      const next = async () => {
        const response = await market.ok(
          `/v1/collections?chain=base&sort=recent&limit=5&cursor=${page.pagination.nextCursor}`,
        );
        return response.data.map((row: any) => row.id);
      };
      const before = await next();
      const { chain, contractAddress, name } = last;
      await market.load([{ kind: 'collection', chain, contractAddress, name, createdAt: market.ago(0) }]);
      assert.deepEqual(await next(), before);
    });
  });

  describe('status 400', () => {
    const cursorOf = async (query: string) =>
      (await market.ok(`/v1/collections?${query}`)).pagination.nextCursor as string;

    test('a cursor that is changed, repeated or invalid, or that belongs to another list, gets a 400, and the message names the cursor', async () => {
      await market.load(toCollectionRecords(range(3).map(() => newCollection({ chain: 'base' }))));
      const subject = newCollection({ chain: 'base' });
      await market.load([subject.collection(), ...range(3).map((n) => subject.order(`${n}`, 1 + n))]);
      const own = await cursorOf('limit=1&chain=base&sort=recent');
      const wrong = [
        `chain=base&sort=volume&cursor=${own}`,
        `chain=base&cursor=${own}`,
        `chain=ink&sort=recent&cursor=${own}`,
        `sort=recent&cursor=${own}`,
        `chain=base&sort=recent&cursor=${own}&cursor=${own}`,
        `chain=base&sort=recent&cursor=${own}A`,
        `chain=base&sort=recent&cursor=${own.slice(0, -2)}`,
        'chain=base&sort=recent&cursor=',
        'chain=base&sort=recent&cursor=1',
        `chain=base&sort=recent&cursor=${Buffer.from('[false,0,""]').toString('base64url')}`,
        `chain=base&sort=recent&cursor=${(await market.ok(`${subject.path}/listings?limit=1`)).pagination.nextCursor}`,
        ...range(own.length).map(
          (at) => `chain=base&sort=recent&cursor=${own.slice(0, at)}${own[at] === 'x' ? 'y' : 'x'}${own.slice(at + 1)}`,
        ),
      ];
      for (const query of wrong) {
        const response = await market.get(`/v1/collections?${query}`);
        assert.equal(response.status, 400, query);
        assert.equal(response.body.error.code, 'bad_request');
        assert.match(response.body.error.message, /cursor/);
      }
      await market.ok(`/v1/collections?chain=base&sort=recent&cursor=${own}&limit=3`);
    });

    test('a valid cursor is accepted with another limit and with a parameter that names the default sort', async () => {
      const cursor = await cursorOf('limit=1');
      await market.ok(`/v1/collections?sort=volume&limit=2&cursor=${cursor}`);
    });

    test('a limit or sort that is repeated, empty, out of range or of a wrong type gets a 400, and the message names the parameter', async () => {
      const wrong: [string, string[]][] = [
        ['limit', ['0', '101', '-1', '1.5', '1e1', '0x10', '', 'ten', '007', '%2B1', '25&limit=25']],
        ['sort', ['', 'Volume', 'price', 'floor_asc', 'volume&sort=volume', '__proto__']],
      ];
      for (const [name, values] of wrong) {
        for (const value of values) {
          const response = await market.get(`/v1/collections?${name}=${value}`);
          assert.equal(response.status, 400, `${name}=${value}`);
          assert.match(response.body.error.message, new RegExp(name));
        }
      }
    });

    test('unknown parameters change neither the list of collections nor its ETag', async () => {
      const plain = await market.get('/v1/collections?limit=3');
      for (const query of ['limit=3&x=1', '_=1&_=2&limit=3', 'limit=3&Limit=0&SORT=x', 'limit=3&offset=-1&page=']) {
        const response = await market.get(`/v1/collections?${query}`);
        assert.deepEqual([response.status, response.text], [200, plain.text], query);
        assert.equal(response.headers.get('etag'), plain.headers.get('etag'));
      }
    });
  });
}
