// /api/v1/inventory and /api/v1/inventory/adjustments: levels, changes of stock and their log.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forEachStore, inParallel } from '../support/service/shop.ts';
import { changeStock, describeStockConcurrency, listLowEvents, readStock } from './stock-concurrency.suite.ts';

const STOCK_MAX = 2 ** 31 - 1;

forEachStore('inventory', (store) => {
  describe('levels', () => {
    test('list every tracked product, newest first, with exactly the documented fields', async () => {
      const shop = await store.shop();
      const mug = await shop.product({ name: 'Mug', inventory: 11 });
      await shop.product({ name: 'File', type: 'digital', inventory: 1 });
      const cup = await shop.product({ name: 'Cup', inventory: 10 });
      assert.deepEqual(await shop.ok('GET', '/inventory'), {
        data: [
          { productId: cup.id, name: 'Cup', inventory: 10, trackInventory: true, lowStock: true },
          { productId: mug.id, name: 'Mug', inventory: 11, trackInventory: true, lowStock: false },
        ],
        count: 2,
      });
      const one = await shop.ok('GET', `/inventory?product_id=${mug.id}`);
      assert.deepEqual([one.count, one.data[0].productId], [1, mug.id]);
    });

    test('are not paged', async () => {
      const shop = await store.shop();
      await inParallel(Array.from({ length: 120 }), 8, () => shop.product());
      const { data, count } = await shop.ok('GET', '/inventory?limit=1');
      assert.deepEqual([data.length, count], [120, 120]);
    });

    test('at or below the threshold of the request are marked as low and can be filtered, and no event is sent', async () => {
      const shop = await store.shop();
      for (const inventory of [0, 5, 6, 10, 11]) await shop.product({ inventory });
      const levels = async (query: string) =>
        (await shop.ok('GET', `/inventory?${query}`)).data.map((item: any) => [item.inventory, item.lowStock]);
      assert.deepEqual(await levels('low_stock=true'), [
        [10, true],
        [6, true],
        [5, true],
        [0, true],
      ]);
      assert.deepEqual(await levels('low_stock=true&threshold=5'), [
        [5, true],
        [0, true],
      ]);
      assert.deepEqual(await levels('threshold=5'), [
        [11, false],
        [10, false],
        [6, false],
        [5, true],
        [0, true],
      ]);
      assert.deepEqual(await levels('low_stock=true&threshold=0'), [[0, true]]);
      assert.equal((await levels(`low_stock=false&threshold=${STOCK_MAX}`)).length, 5);
      assert.deepEqual(await listLowEvents(shop), []);
    });

    test('are a 400 for invalid parameters', async () => {
      const shop = await store.shop();
      for (const query of [
        'low_stock=1',
        'low_stock=TRUE',
        'low_stock=',
        'threshold=-1',
        'threshold=1.5',
        'threshold=x',
        'threshold=2147483648',
        'threshold=',
        'product_id=',
        'product_id=a&product_id=b',
      ]) {
        const { status, body } = await shop.send('GET', `/inventory?${query}`);
        assert.deepEqual([status, body.error.message], [400, 'Invalid query parameters'], query);
        assert.equal(body.error.details[0].path, query.split('=')[0]);
      }
    });
  });

  describe('a change', () => {
    test('returns the stock before and after the change, and the change that was applied', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ name: 'Mug', inventory: 15 });
      const result = await changeStock(shop, id, { adjustment: -3 });
      assert.match(result.adjustmentId, /^adj_\d+$/);
      const same = { productId: id, name: 'Mug', trackInventory: true };
      assert.deepEqual(result, {
        ...same,
        inventory: 12,
        lowStock: false,
        previous: 15,
        adjustment: -3,
        requested: -3,
        clamped: false,
        adjustmentId: result.adjustmentId,
      });
      const set = await changeStock(shop, id, { set: 7, reason: 'stocktake' });
      assert.deepEqual(set, {
        ...same,
        inventory: 7,
        lowStock: true,
        previous: 12,
        adjustment: -5,
        requested: 7,
        clamped: false,
        adjustmentId: set.adjustmentId,
      });
      const nothing = await changeStock(shop, id, { adjustment: 0 });
      assert.deepEqual([nothing.inventory, nothing.adjustment, nothing.clamped], [7, 0, false]);
      assert.equal(await readStock(shop, id), 7);
    });

    test('is clamped so that the stock stays between 0 and 2^31-1, and the response reports the clamping', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      const steps: [object, number, number, boolean][] = [
        [{ adjustment: -6 }, 0, -5, true],
        [{ adjustment: -STOCK_MAX }, 0, 0, true],
        [{ set: -1 }, 0, 0, true],
        [{ set: STOCK_MAX }, STOCK_MAX, STOCK_MAX, false],
        [{ adjustment: 1 }, STOCK_MAX, 0, true],
        [{ adjustment: STOCK_MAX }, STOCK_MAX, 0, true],
        [{ adjustment: -STOCK_MAX }, 0, -STOCK_MAX, false],
        [{ adjustment: STOCK_MAX }, STOCK_MAX, STOCK_MAX, false],
      ];
      for (const [body, inventory, adjustment, clamped] of steps) {
        const result = await changeStock(shop, id, body);
        assert.deepEqual(
          [result.inventory, result.adjustment, result.clamped],
          [inventory, adjustment, clamped],
          JSON.stringify(body),
        );
        assert.equal(result.requested, Object.values(body)[0]);
      }
    });

    test('with both adjustment and set, or neither, is 400 and changes nothing', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      for (const body of [
        {},
        { reason: 'x' },
        { adjustment: 1, set: 1 },
        { adjustment: null, set: 1 },
        { adjustment: 1, set: null },
      ]) {
        assert.equal((await shop.send('POST', '/inventory', { body: { product_id: id, ...body } })).status, 400);
      }
      for (const body of [
        { adjustment: 1 },
        { product_id: '', adjustment: 1 },
        { product_id: null, set: 1 },
        { product_id: 5, set: 1 },
        { productId: id, set: 1 },
      ]) {
        const response = await shop.send('POST', '/inventory', { body });
        assert.deepEqual([response.status, response.body.error.details[0].path], [400, 'product_id']);
      }
      assert.equal(await readStock(shop, id), 5);
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('accepts integers within ±(2^31-1), and no other value', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      const literals = [
        '1.5',
        '"5"',
        'true',
        'null',
        '2147483648',
        '-2147483648',
        '9007199254740993',
        '1e400',
        '-1e400',
        '[]',
        '{}',
        '[1]',
      ];
      for (const field of ['adjustment', 'set', 'expected']) {
        const rest = field === 'expected' ? ',"set":1' : '';
        for (const literal of literals) {
          const { status, body } = await shop.send('POST', '/inventory', {
            body: `{"product_id":"${id}","${field}":${literal}${rest}}`,
          });
          assert.deepEqual([status, body.error.details[0].path], [400, field], literal);
        }
      }
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('with an unknown field, an unusable reason or an unreadable body is 400 and changes nothing', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const valid = { product_id: id, adjustment: 1 };
      for (const [field, value] of [
        ['quantity', 1],
        ['reason', 1],
        ['reason', null],
        ['reason', 'r'.repeat(501)],
        ['reason', '\u0000'],
        ['reason', '\udc00'],
      ] as const) {
        const { status, body } = await shop.send('POST', '/inventory', { body: { ...valid, [field]: value } });
        assert.deepEqual([status, body.error.details[0].path], [400, field]);
      }
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      const proto = `{"product_id":"${id}","__proto__":{"adjustment":1}}`;
      for (const body of ['', '{', '[]', 'null', '"x"', '1', deep, proto, Buffer.from([0x22, 0xff, 0x22])]) {
        assert.equal((await shop.send('POST', '/inventory', { body })).status, 400, String(body).slice(0, 50));
      }
      const typed = { body: JSON.stringify(valid), headers: { 'content-type': 'text/plain' } };
      assert.equal((await shop.send('POST', '/inventory', typed)).status, 400);
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('of a missing product is 404', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      await shop.ok('DELETE', `/products/${id}`);
      for (const productId of [id, 'x', `prod_${'0'.repeat(32)}`, '\u0000', '\ud800']) {
        const { status, body } = await shop.send('POST', '/inventory', {
          body: { product_id: productId, adjustment: 1 },
        });
        assert.deepEqual([status, body.error.message], [404, 'Product not found']);
      }
    });

    test('with `expected` is made only when the stock has that value; otherwise the response is a 409 with the current stock', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 20 });
      assert.equal((await changeStock(shop, id, { adjustment: -1, expected: 20 })).inventory, 19);
      for (const body of [
        { adjustment: -15, expected: 20 },
        { set: 3, expected: 18 },
        { set: 19, expected: -1 },
      ]) {
        const response = await shop.send('POST', '/inventory', { body: { product_id: id, ...body } });
        assert.deepEqual([response.status, response.body.error.code], [409, 'conflict']);
        assert.match(response.body.error.message, /\b19\b/);
      }
      assert.equal(await readStock(shop, id), 19);
      assert.equal((await shop.walk('/inventory/adjustments')).length, 1);
      assert.deepEqual(await listLowEvents(shop), []);
      const responses = await inParallel(Array.from({ length: 10 }), 10, () =>
        shop.send('POST', '/inventory', { body: { product_id: id, adjustment: 1, expected: 19 } }),
      );
      assert.deepEqual(
        responses.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, ...Array.from({ length: 9 }, () => 409)],
      );
    });
  });

  describe('the adjustment log', () => {
    test('is newest first, has key, reason and source of each change, and stays when its product is deleted', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      const other = await shop.newKey(['inventory:write']);
      const first = await changeStock(shop, id, { adjustment: -9, reason: `sold ${'🦔'.repeat(495)}` });
      await shop.send('POST', '/inventory', { body: { product_id: id, set: 3 }, secret: other.secret });
      await shop.ok('DELETE', `/products/${id}`);
      const log = await shop.walk(`/inventory/adjustments?product_id=${id}&limit=1`);
      assert.deepEqual(
        log.map(({ reason, keyId }) => [reason, keyId]),
        [
          ['API adjustment', other.id],
          [`sold ${'🦔'.repeat(495)}`, shop.key.id],
        ],
      );
      assert.deepEqual(log[1], {
        id: first.adjustmentId,
        productId: id,
        previous: 5,
        next: 0,
        adjustment: -5,
        requested: -9,
        reason: log[1].reason,
        source: 'inventory',
        keyId: shop.key.id,
        createdAt: new Date(store.now()).toISOString(),
      });
    });

    test('of one product has only its entries, and its cursors are invalid for any other list', async () => {
      const shop = await store.shop();
      const products = [await shop.product(), await shop.product()];
      for (const { id } of [...products, ...products, ...products]) await changeStock(shop, id, { adjustment: 1 });
      const [one, two] = products.map(({ id }) => `/inventory/adjustments?product_id=${id}`);
      assert.deepEqual(
        (await shop.walk(`${one}&limit=2`)).map(({ next }) => next),
        [3, 2, 1],
      );
      assert.equal((await shop.walk('/inventory/adjustments?limit=4')).length, 6);
      assert.equal((await shop.ok('GET', `/inventory/adjustments`)).pagination.hasMore, false);
      const { nextCursor } = (await shop.ok('GET', `${one}&limit=1`)).pagination;
      const changed = `${nextCursor.slice(0, -1)}${nextCursor.endsWith('A') ? 'B' : 'A'}`;
      for (const path of [
        `${two}&cursor=${nextCursor}`,
        `/inventory/adjustments?cursor=${nextCursor}`,
        `${one}&cursor=${changed}`,
        `${one}&cursor=7`,
        `${one}&cursor=`,
        `${one}&limit=0`,
        `${one}&limit=101`,
        '/inventory/adjustments?product_id=',
      ]) {
        const { status, body } = await shop.send('GET', path);
        assert.deepEqual([status, body.error.message], [400, 'Invalid query parameters'], path);
      }
    });
  });

  describeStockConcurrency(store);
});
