// Tests the filters, the search and the orders of the product list.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestShop } from '../support/service/shop.ts';
import { forOneStore } from '../support/service/shop.ts';

forOneStore('filters, search and orders of the product list', (store) => {
  const namesOf = async (shop: TestShop, query: string) =>
    (await shop.walk(`/products?${query}`)).map(({ name }) => name);
  const search = (shop: TestShop, text: string, more = '') => namesOf(shop, `q=${encodeURIComponent(text)}${more}`);

  describe('filters', () => {
    test('each filter lists exactly the products that match, in full pages', async () => {
      const shop = await store.shop();
      const made: any[] = [];
      for (let number = 0; number < 12; number += 1) {
        const options = [{ name: 'Size', value: String(number) }];
        const ids = { sku: `S ${number}`, externalId: `e/${number}`, slug: `p-${number}` };
        const group = number < 7 ? { groupId: 'shirt' } : {};
        const status = number === 3 ? 'archived' : number === 4 ? 'draft' : 'active';
        made.push(
          await shop.product({
            name: `P${number}`,
            ...ids,
            ...group,
            options,
            status,
            barcode: number % 2 ? 'odd' : 'even',
          }),
        );
      }
      const named = (numbers: readonly number[]) => numbers.map((number) => `P${number}`);
      const cases: [string, number[]][] = [
        ['sku=S%205', [5]],
        ['sku=S%203', [3]],
        ['sku=s%205', []],
        ['externalId=e/11', [11]],
        ['slug=p-0', [0]],
        ['barcode=odd', [11, 9, 7, 5, 3, 1]],
        ['barcode=odd&status=active', [11, 9, 7, 5, 1]],
        ['group=shirt', [6, 5, 4, 2, 1, 0]],
        ['group=shirt&status=any', [6, 5, 4, 3, 2, 1, 0]],
        ['status=archived', [3]],
        ['status=draft', [4]],
        ['status=active&order=asc', [0, 1, 2, 5, 6, 7, 8, 9, 10, 11]],
        [`ids=${[11, 3, 5].map((number) => made[number].id).join(',')}`, [11, 5, 3]],
        [`ids=${made[1].id}&sku=S%202`, []],
        ['group=shirt&barcode=even&status=any', [6, 4, 2, 0]],
      ];
      for (const [query, numbers] of cases) {
        for (const limit of [1, 2, 100])
          assert.deepEqual(await namesOf(shop, `${query}&limit=${limit}`), named(numbers), `${query}, ${limit} a page`);
        const stranger = await store.shop();
        assert.deepEqual(await namesOf(stranger, query), [], `${query} lists products of another shop`);
      }
      const page = await shop.ok('GET', '/products?barcode=odd&limit=4');
      assert.equal(page.pagination.count, 4, 'a filtered page is not full');
      const last = await shop.ok('GET', '/products?barcode=odd&limit=6');
      assert.deepEqual(last.pagination, { hasMore: false, nextCursor: null, count: 6 });
    });

    test('collection and type are applied to each page after it was cut by the other filters', async () => {
      const shop = await store.shop();
      for (let number = 0; number < 6; number += 1)
        await shop.product({
          barcode: 'b',
          type: number < 2 ? 'nft' : 'digital',
          collection: number < 2 ? 'rare' : 'c',
        });
      for (const filter of ['type=nft', 'collection=rare']) {
        const first = await shop.ok('GET', `/products?barcode=b&${filter}&limit=3`);
        assert.deepEqual([first.data, first.pagination.count, first.pagination.hasMore], [[], 0, true]);
        assert.equal((await shop.walk(`/products?barcode=b&${filter}&limit=3`)).length, 2);
      }
    });

    test('a filtered list shows every change immediately', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ sku: 'a' });
      assert.equal((await shop.ok('GET', '/products?sku=a')).data[0].id, id);
      await shop.ok('POST', '/inventory', { product_id: id, adjustment: 5 });
      assert.equal((await shop.ok('GET', '/products?sku=a')).data[0].inventory, 5);
      await shop.ok('PUT', `/products/${id}`, { sku: 'b' });
      assert.deepEqual((await shop.ok('GET', '/products?sku=a')).data, []);
      await shop.ok('DELETE', `/products/${id}`);
      assert.deepEqual((await shop.ok('GET', '/products?sku=b')).data, []);
    });

    test('an invalid filter is rejected with a 400 that names the parameter', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const invalid: [string, string][] = [
        ['ids', ''],
        ['ids', 'x'],
        ['ids', `${id},`],
        ['ids', Array.from({ length: 101 }, () => id).join(',')],
        ['sku', ''],
        ['sku', 'x'.repeat(121)],
        ['sku', '%00'],
        ['q', '%00'],
        ['q', 'x'.repeat(201)],
        ['status', 'deleted'],
        ['sort', 'id'],
        ['order', 'down'],
        ['group', 'x'.repeat(256)],
      ];
      for (const [name, value] of invalid) {
        const { status, body } = await shop.send('GET', `/products?${name}=${value}`);
        assert.deepEqual([status, body.error.details?.[0].path], [400, name], `${name}=${value.slice(0, 20)}`);
      }
      const { body } = await shop.send('GET', '/products?q=a&order=asc');
      assert.equal(body.error.details[0].path, 'order');
      await shop.ok('GET', `/products?ids=${Array.from({ length: 100 }, () => id).join(',')}`);
    });

    test('a cursor is rejected by a list with other filters, another order, or of another shop', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      for (const one of [shop, shop, stranger, stranger]) await one.product({ barcode: 'b' });
      const { nextCursor } = (await shop.ok('GET', '/products?barcode=b&limit=1')).pagination;
      assert.equal((await shop.ok('GET', `/products?barcode=b&limit=1&cursor=${nextCursor}`)).data.length, 1);
      for (const [one, query] of [
        [shop, 'barcode=c'],
        [shop, 'barcode=b&sort=name'],
        [shop, 'barcode=b&order=asc'],
        [stranger, 'barcode=b'],
        [shop, ''],
      ] as const) {
        const { status, body } = await one.send('GET', `/products?${query}&limit=1&cursor=${nextCursor}`);
        assert.deepEqual([status, body.error.details[0].path], [400, 'cursor'], query);
      }
    });
  });

  describe('search', () => {
    test('a search finds words and beginnings of words of name, SKU and barcode, whatever their case, accents and punctuation', async () => {
      const shop = await store.shop();
      const names = {
        'Café Éclair, dark': { sku: 'CE-100/X', barcode: '4006381333931' },
        'Zürcher MUG': {},
        'Тёплый ШАРФ': {},
        日本猫クラブ: {},
        "Ann's mug & plate": {},
        'ﬁne ｗｉｄｅ text': {},
        "O''Brien\\ 'quoted'": {},
      };
      for (const [name, fields] of Object.entries(names)) await shop.product({ name, ...fields });
      const cases: Record<string, string[]> = {
        'cafe eclair': ['Café Éclair, dark'],
        'CAFE\u0301 e': ['Café Éclair, dark'],
        clair: [],
        'dark cafe': ['Café Éclair, dark'],
        'ce-100': ['Café Éclair, dark'],
        '100 x': ['Café Éclair, dark'],
        '40063813': ['Café Éclair, dark'],
        zurcher: ['Zürcher MUG'],
        ZÜRCH: ['Zürcher MUG'],
        'теплый шарф': ['Тёплый ШАРФ'],
        猫: ['日本猫クラブ'],
        本猫: ['日本猫クラブ'],
        'mug plate': ["Ann's mug & plate"],
        'fine wide': ['ﬁne ｗｉｄｅ text'],
        "o'brien": ["O''Brien\\ 'quoted'"],
        "quoted':* | mug": [],
        'mug cafe': [],
        '--': [],
        '!': [],
      };
      for (const [text, expected] of Object.entries(cases)) assert.deepEqual(await search(shop, text), expected, text);
      assert.deepEqual(new Set(await search(shop, 'mug')), new Set(['Zürcher MUG', "Ann's mug & plate"]));
      const stranger = await store.shop();
      for (const text of ['mug', 'cafe', stranger.id, shop.id, `${shop.id} mug`])
        assert.deepEqual(await search(stranger, text), []);
    });

    test('the best matches come first: the SKU or barcode, the name, its beginning, complete words, and beginnings of words', async () => {
      const shop = await store.shop();
      const ranked = ['Other', 'Thing', 'Mug 7', 'Mug 7 with lid', 'A 7 mug', 'A mug 77', 'Mugs 77'];
      for (const name of ranked.toReversed())
        await shop.product({
          name,
          ...(name === 'Other' && { sku: 'mug-7' }),
          ...(name === 'Thing' && { barcode: 'MUG 7' }),
        });
      const expected = ['Other', 'Thing', 'Mug 7', 'Mug 7 with lid', 'A 7 mug', 'A mug 77', 'Mugs 77'];
      for (const limit of [1, 2, 3, 100]) assert.deepEqual(await search(shop, 'mug 7', `&limit=${limit}`), expected);
      assert.deepEqual(
        await search(shop, 'mug 7', '&sort=name&limit=2'),
        ranked.toSorted((a, b) => (a < b ? -1 : 1)),
      );
      assert.deepEqual(await search(shop, 'mug 7', '&sort=created&order=asc&limit=2'), ranked.toReversed());
      const [first] = (await shop.ok('GET', '/products?q=mugs')).data;
      await shop.ok('PUT', `/products/${first.id}`, { name: 'Cups', status: 'archived' });
      assert.deepEqual(await search(shop, 'mugs'), []);
      assert.deepEqual(await search(shop, 'cups'), []);
      assert.deepEqual(await search(shop, 'cups', '&status=any'), ['Cups']);
    });
  });

  describe('orders', () => {
    test('each order sorts all products and pages without skipping or repeating one, also when many have the same value', async () => {
      const shop = await store.shop();
      const given = [
        ['b', '10', 3],
        ['B', '9', 3],
        ['a', '9.0', 30],
        ['É', '100.000000000000000001', 0],
        ['a', '100.000000000000000002', 3],
        ['a', '9', 2 ** 31 - 1],
        ['Z', '007', 3],
      ] as const;
      const made: any[] = [];
      for (const [name, price, inventory] of given) {
        store.advance(1_000);
        made.push(await shop.product({ name, price, inventory }));
      }
      store.advance(1_000);
      await shop.ok('PUT', `/products/${made[2].id}`, { image: 'https://a/1' });
      const sorted: Record<string, number[]> = {
        created: [0, 1, 2, 3, 4, 5, 6],
        updated: [0, 1, 3, 4, 5, 6, 2],
        name: [2, 4, 5, 0, 1, 6, 3],
        price: [6, 1, 2, 5, 0, 3, 4],
        stock: [3, 0, 1, 4, 6, 2, 5],
      };
      for (const [sort, numbers] of Object.entries(sorted)) {
        const ids = numbers.map((number) => made[number].id);
        for (const limit of [1, 2, 3, 100]) {
          for (const [order, expected] of [
            ['asc', ids],
            ['desc', ids.toReversed()],
          ] as const)
            assert.deepEqual(
              (await shop.walk(`/products?sort=${sort}&order=${order}&limit=${limit}`)).map(({ id }) => id),
              expected,
              `${sort} ${order}, ${limit} a page`,
            );
        }
        const byDefault = (await shop.walk(`/products?sort=${sort}`)).map(({ id }) => id);
        assert.deepEqual(byDefault, sort === 'created' || sort === 'updated' ? ids.toReversed() : ids, sort);
      }
    });

    test('a list continues at the same position when the product at the end of a page was deleted or changed', async () => {
      const changes = [
        (shop: TestShop, id: string) => shop.ok('PUT', `/products/${id}`, { price: '9' }),
        (shop: TestShop, id: string) => shop.ok('DELETE', `/products/${id}`),
      ];
      for (const change of changes) {
        const shop = await store.shop();
        const made: string[] = [];
        for (const price of ['1', '2', '2', '2', '3']) made.push((await shop.product({ price })).id);
        const page = await shop.ok('GET', '/products?sort=price&limit=2');
        const last = page.data.at(-1).id;
        await change(shop, last);
        const { data } = await shop.ok('GET', `/products?sort=price&cursor=${page.pagination.nextCursor}`);
        assert.deepEqual(
          data.map(({ id }: any) => id).filter((id: string) => id !== last),
          made.slice(2),
        );
      }
    });
  });
});
