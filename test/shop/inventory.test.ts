// /api/v1/inventory and /api/v1/inventory/adjustments: the list of stock levels and the adjustment log. stock-changes.test.ts tests the
// requests that change the stock.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forOneStore, inParallel } from '../support/service/shop.ts';
import { changeStock, listLowEvents } from './stock-concurrency.suite.ts';

const STOCK_MAX = 2 ** 31 - 1;

forOneStore('inventory', (store) => {
  describe('the list of stock levels', () => {
    test('the list has every tracked product, newest first, with exactly the documented fields', async () => {
      const shop = await store.shop();
      const mug = await shop.product({ name: 'Mug', inventory: 11 });
      await shop.product({ name: 'File', type: 'digital', inventory: 1 });
      const cup = await shop.product({ name: 'Cup', inventory: 10, sku: 'CUP' });
      await shop.ok('POST', '/reservations', { items: [{ product_id: mug.id, quantity: 2 }] }, 201);
      await changeStock(shop, mug.id, { adjustment: 2 });
      const updatedAt = new Date(store.now()).toISOString();
      const more = { reserved: 0, updatedAt, trackInventory: true };
      assert.deepEqual(await shop.ok('GET', '/inventory'), {
        data: [
          { ...more, productId: cup.id, name: 'Cup', sku: 'CUP', slug: 'cup', inventory: 10, lowStock: true },
          {
            ...more,
            productId: mug.id,
            name: 'Mug',
            sku: null,
            slug: 'mug',
            inventory: 11,
            reserved: 2,
            lowStock: false,
          },
        ],
        count: 2,
      });
      const one = await shop.ok('GET', `/inventory?product_id=${mug.id}`);
      assert.deepEqual([one.count, one.data[0].productId], [1, mug.id]);
    });

    test('the list ignores `limit`, because it is not paged', async () => {
      const shop = await store.shop();
      await inParallel(Array.from({ length: 120 }), 8, () => shop.product());
      const { data, count } = await shop.ok('GET', '/inventory?limit=1');
      assert.deepEqual([data.length, count], [120, 120]);
    });

    test('a stock level is marked as low if it is at or below `threshold`, which is 10 by default', async () => {
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

    test('a request with invalid parameters is rejected', async () => {
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

  describe('the adjustment log', () => {
    test('the log has the newest entry first, and keeps the entries of a deleted product', async () => {
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
        reservationId: null,
      });
    });

    test('the log of one product has only the entries of this product, and a wrong cursor or an unknown parameter is rejected', async () => {
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
        '/inventory/adjustments?productId=a',
        '/inventory?sku=a',
        '/products/prod_a?fields=name',
        '/webhooks?page=2',
      ]) {
        const { status, body } = await shop.send('GET', path);
        assert.deepEqual([status, body.error.message], [400, 'Invalid query parameters'], path);
      }
    });
  });
});
