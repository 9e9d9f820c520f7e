// A key has no access to the products of other shops. keys.test.ts runs this suite.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sendWithKey } from '../support/http/header-order.ts';
import type { TestStore } from '../support/service/shop.ts';

/** Declares the tests. To a key of one shop, a product of another shop looks like a product that does not exist. */
export function describeShopIsolation(store: TestStore): void {
  describe("another shop's product", () => {
    const MISSING_ID = `prod_${'0'.repeat(32)}`;

    test('requests for a product of another shop get the same responses as requests for a product that does not exist', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const product = await shop.product({ inventory: 20 });
      const request = async (id: string) => {
        const responses = [
          await stranger.send('GET', `/products/${id}`),
          await stranger.send('PUT', `/products/${id}`, { body: { name: 'x', inventory: 1 } }),
          await stranger.send('PUT', `/products/${id}`, { body: {} }),
          await stranger.send('PUT', `/products/${id}`, { body: { name: 'x' }, headers: { 'if-match': '"1"' } }),
          await stranger.send('PUT', `/products/${id}`, { body: { name: 'y' }, headers: { 'idempotency-key': 'k' } }),
          await stranger.send('DELETE', `/products/${id}`),
          await stranger.send('DELETE', `/products/${id}`, { headers: { 'if-match': '*' } }),
          await stranger.send('POST', '/inventory', { body: { product_id: id, adjustment: -15 } }),
          await stranger.send('POST', '/inventory', { body: { product_id: id, set: 0, expected: 20 } }),
          await stranger.send('GET', `/inventory?product_id=${id}`),
          await stranger.send('GET', `/inventory/adjustments?product_id=${id}`),
          await stranger.send('GET', `/products?cursor=${id}`),
          await stranger.send('GET', `/products?ids=${id}`),
        ];
        return responses.map(({ status, text, headers }) => [status, text, [...headers.keys()].toSorted()]);
      };
      const responses = await request(product.id);
      assert.deepEqual(responses, await request(MISSING_ID));
      assert.deepEqual(
        responses.map(([status]) => status),
        [...Array.from({ length: 9 }, () => 404), 200, 200, 200, 200],
      );
      for (const [status, text] of responses.slice(9))
        assert.match(`${String(status)} ${String(text)}`, /^200 \{"data":\[\]/);
      assert.deepEqual((await shop.ok('GET', `/products/${product.id}`)).data, product);
      assert.deepEqual(
        (await shop.events()).map(({ type }) => type),
        ['product.created'],
      );
      assert.deepEqual(await stranger.events(), []);
    });

    test('a read of a product of another shop gets the same headers, in the same order, as a read of a product that does not exist, even after the other shop has read its product', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const { id } = await shop.product();
      await shop.ok('GET', `/products/${id}`);
      await stranger.ok('GET', '/products');
      const read = (path: string) => sendWithKey(`${store.service.url}/api/v1/products/${path}`, stranger.key.secret);
      const response = await read(id);
      assert.equal(response.status, 404);
      assert.deepEqual(response, await read(MISSING_ID));
    });

    test('a product of another shop is on no page of a product list, an inventory list or an adjustment log', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      for (const one of [shop, stranger, shop, stranger, shop]) {
        const { id } = await one.product({ collection: 'c' });
        await one.ok('POST', '/inventory', { product_id: id, adjustment: 1 });
      }
      for (const path of ['/products?limit=1', '/products?limit=1&collection=c', '/inventory/adjustments?limit=1']) {
        const [own, theirs] = [await shop.walk(path), await stranger.walk(path)];
        assert.deepEqual([own.length, theirs.length], [3, 2]);
        const ids = new Set(own.map(({ id }) => id));
        assert.ok(theirs.every(({ id }) => !ids.has(id)));
      }
      assert.deepEqual(
        [(await shop.ok('GET', '/inventory')).count, (await stranger.ok('GET', '/inventory')).count],
        [3, 2],
      );
    });

    test('a filter, a search or an identifier of a product reveals nothing about the products of another shop', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const ids = { sku: 'S-1', barcode: 'B-1', externalId: 'E-1', groupId: 'G-1', slug: 'only-slug', name: 'Unicorn' };
      const product = await shop.product({ ...ids, options: [{ name: 'Size', value: 'M' }] });
      const filters = ['sku=S-1', 'barcode=B-1', 'externalId=E-1', 'group=G-1', 'slug=only-slug', 'q=unicorn', 'q=S-1'];
      for (const filter of [...filters, `ids=${product.id}`, 'sort=name', 'status=any']) {
        assert.deepEqual(
          (await shop.walk(`/products?${filter}`)).map(({ id }) => id),
          [product.id],
          filter,
        );
        assert.deepEqual(await stranger.walk(`/products?${filter}`), [], filter);
      }
      const own = await stranger.product({ ...ids, options: [{ name: 'Size', value: 'M' }] });
      assert.equal(own.sku, 'S-1');
      const { body } = await stranger.send('POST', '/products', { body: { ...ids, price: '1' } });
      assert.deepEqual(new Set(body.error.details.map(({ productId }: any) => productId)), new Set([own.id]));
    });

    test('a key cannot use a cursor of the adjustment log of another shop', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const { id } = await shop.product();
      for (const adjustment of [1, 2]) await shop.ok('POST', '/inventory', { product_id: id, adjustment });
      for (const path of ['/inventory/adjustments?limit=1', `/inventory/adjustments?limit=1&product_id=${id}`]) {
        const { nextCursor } = (await shop.ok('GET', path)).pagination;
        assert.equal((await stranger.send('GET', `${path}&cursor=${nextCursor}`)).status, 400);
      }
    });
  });
}
