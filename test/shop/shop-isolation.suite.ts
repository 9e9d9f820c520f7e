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

    test('batches, reservations and the feed get the same responses for what another shop has as for what does not exist', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const ids = { sku: 'S-1', externalId: 'E-1' };
      const product = await shop.product({ ...ids, inventory: 20 });
      const items = [{ product_id: product.id, quantity: 5 }];
      const body = { items, reference: 'cart-1' };
      const { data: reservation } = await shop.ok('POST', '/reservations', body, 201);
      const { meta } = await shop.ok('GET', '/changes?after=0');
      const missing = {
        product: MISSING_ID,
        reservation: `rsv_${'0'.repeat(32)}`,
        sku: 'S-2',
        externalId: 'E-2',
        reference: 'cart-2',
      };
      const request = async (of: typeof missing) => {
        const names = [{ product_id: of.product }, { sku: of.sku }, { externalId: of.externalId }];
        const changes = names.map((name) => ({ ...name, adjustment: -1 }));
        const row = { id: of.product, name: 'x', inventory: 0 };
        const responses = [
          ...(await Promise.all(
            names.map((name) => stranger.send('POST', '/inventory', { body: { ...name, set: 0 } })),
          )),
          ...(await Promise.all(
            names.map((name) =>
              stranger.send('POST', '/reservations', { body: { items: [{ ...name, quantity: 1 }] } }),
            ),
          )),
          await stranger.send('GET', `/reservations/${of.reservation}`),
          await stranger.send('POST', `/reservations/${of.reservation}/extend`, { body: { expiresInSeconds: 60 } }),
          await stranger.send('POST', `/reservations/${of.reservation}/consume`, { body: {} }),
          await stranger.send('POST', `/reservations/${of.reservation}/consume`, {
            body: { items: [{ product_id: of.product, quantity: 1 }] },
          }),
          await stranger.send('POST', `/reservations/${of.reservation}/release`),
          await stranger.send('POST', '/inventory/batch?atomic=true', { body: { changes } }),
          await stranger.send('POST', '/products/batch?atomic=true', { body: { products: [row] } }),
          await stranger.send('POST', '/inventory/batch', { body: { changes } }),
          await stranger.send('POST', '/products/batch', { body: { products: [row] } }),
          await stranger.send('GET', `/reservations?product_id=${of.product}`),
          await stranger.send('GET', `/reservations?reference=${of.reference}`),
          await stranger.send('GET', '/reservations?status=held'),
          await stranger.send('GET', '/changes?after=0'),
        ];
        return responses.map(({ status, text, headers }) => [status, text, [...headers.keys()].toSorted()]);
      };
      const theirs = { product: product.id, reservation: reservation.id, ...ids, reference: 'cart-1' };
      const responses = await request(theirs);
      assert.deepEqual(responses, await request(missing));
      assert.deepEqual(
        responses.map(([status]) => status),
        [...Array.from({ length: 12 }, () => 404), 400, ...Array.from({ length: 6 }, () => 200)],
      );
      assert.equal((await stranger.send('GET', `/changes?after=${meta.sequence}`)).status, 410);
      assert.deepEqual((await shop.ok('GET', `/reservations/${reservation.id}`)).data, reservation);
      assert.equal((await shop.ok('GET', `/products/${product.id}`)).data.inventory, 15);
      assert.deepEqual(await stranger.events(), []);
    });

    test('a key cannot use a cursor of the reservations or of a filtered product list of another shop', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const { id } = await shop.product({ inventory: 5 });
      await shop.product();
      for (let made = 0; made < 2; made += 1)
        await shop.ok('POST', '/reservations', { items: [{ product_id: id, quantity: 1 }] }, 201);
      for (const path of ['/reservations?limit=1', '/products?limit=1&sort=name']) {
        const { nextCursor } = (await shop.ok('GET', path)).pagination;
        assert.equal(
          (await stranger.send('GET', `${path}&cursor=${encodeURIComponent(nextCursor)}`)).status,
          400,
          path,
        );
      }
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
