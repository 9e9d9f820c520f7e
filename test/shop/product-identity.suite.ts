// Tests slugs and versions of products. products.test.ts runs this suite.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestStore } from '../support/service/shop.ts';
import { assertInvalidProduct, inParallel } from '../support/service/shop.ts';

/** Declares the tests of slugs and versions. */
export function describeProductIdentity(store: TestStore): void {
  describe('slugs', () => {
    test('the slug of a product is derived from its name: lower-case ASCII words, never empty', async () => {
      const shop = await store.shop();
      const slugs: Record<string, string> = {
        'Blue  Mug!': 'blue-mug',
        'Crème brûlée': 'creme-brulee',
        'Straße 7': 'strasse-7',
        'Тёплый шарф': 'teplyy-sharf',
        "Ann's mug": 'anns-mug',
        '--': 'product',
        '   ': 'product-2',
      };
      for (const [name, slug] of Object.entries(slugs)) assert.equal((await shop.product({ name })).slug, slug, name);
      const { slug } = await shop.product({ name: '東京' });
      assert.match(slug, /^[a-z0-9]+(-[a-z0-9]+)*$/);
      assert.ok((await shop.product({ name: '㎎'.repeat(160) })).slug.length <= 180);
    });

    test('when another product has the derived slug, the slug gets the smallest free number from 2 as a suffix', async () => {
      const shop = await store.shop();
      const slugOf = async (fields = {}) => (await shop.product({ name: 'Mug', ...fields })).slug;
      assert.deepEqual([await slugOf(), await slugOf(), await slugOf()], ['mug', 'mug-2', 'mug-3']);
      const [, second] = await shop.walk('/products');
      await shop.ok('DELETE', `/products/${second.id}`);
      assert.deepEqual([await slugOf(), await slugOf()], ['mug-2', 'mug-4']);
      assert.equal(await slugOf({ name: 'mug-2' }), 'mug-2-2');
      assert.equal(
        (await (await store.shop()).product({ name: 'Mug' })).slug,
        'mug',
        'the slug has a number although only another shop uses it',
      );
    });

    test('products that are created concurrently with the same name get different slugs', async () => {
      const shop = await store.shop();
      const slugs = await inParallel(
        Array.from({ length: 160 }),
        16,
        async () => (await shop.product({ name: 'Same' })).slug,
      );
      assert.equal(new Set(slugs).size, 160);
    });

    test('a create or an update is rejected with 400 when another product has the slug of the request', async () => {
      const shop = await store.shop();
      await shop.product({ slug: 'taken' });
      const other = await shop.product({ slug: 'other' });
      assertInvalidProduct(
        await shop.send('POST', '/products', { body: { name: 'a', price: 1, slug: 'taken' } }),
        'slug',
      );
      assertInvalidProduct(
        await shop.send('PUT', `/products/${other.id}`, { body: { slug: 'taken', name: 'no' } }),
        'slug',
      );
      assert.deepEqual((await shop.ok('GET', `/products/${other.id}`)).data, other);
      await shop.ok('PUT', `/products/${other.id}`, { slug: 'other' });
      const concurrent = await inParallel(Array.from({ length: 6 }), 6, () => shop.product());
      const responses = await inParallel(concurrent, 6, ({ id }) =>
        shop.send('PUT', `/products/${id}`, { body: { slug: 'wanted' } }),
      );
      assert.deepEqual(
        responses.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 400, 400, 400, 400, 400],
      );
      for (const response of responses.filter(({ status }) => status === 400)) assertInvalidProduct(response, 'slug');
    });
  });

  describe('versions', () => {
    test('a read, a create and an update respond with the ETag of the product, and each change changes the ETag', async () => {
      const shop = await store.shop();
      const created = await shop.send('POST', '/products', { body: { name: 'a', price: 1 } });
      const path = `/products/${created.body.data.id}`;
      const first = created.headers.get('etag') ?? '';
      assert.match(first, /^"[^"]+"$/);
      assert.equal((await shop.send('GET', path)).headers.get('etag'), first);
      const second = (await shop.send('PUT', path, { body: { name: 'b' } })).headers.get('etag');
      assert.notEqual(second, first);
      assert.equal((await shop.send('GET', path)).headers.get('etag'), second);
      await shop.ok('POST', '/inventory', { product_id: created.body.data.id, adjustment: 1 });
      assert.notEqual(
        (await shop.send('GET', path)).headers.get('etag'),
        second,
        'a change of stock did not change the ETag',
      );
    });

    test('a change with If-Match succeeds only while the product has the named version', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const path = `/products/${id}`;
      const etag = (await shop.send('GET', path)).headers.get('etag') ?? '';
      for (const wrong of ['"0"', `W/${etag}`, etag.slice(1, -1), '"x", "y"', '']) {
        for (const [method, body] of [
          ['PUT', { name: 'b' }],
          ['DELETE', undefined],
        ] as const) {
          const response = await shop.send(method, path, { body, headers: { 'if-match': wrong } });
          assert.deepEqual([response.status, response.body.error.code], [412, 'precondition_failed'], wrong);
        }
      }
      const updated = await shop.send('PUT', path, { body: { name: 'b' }, headers: { 'if-match': `"x", ${etag}` } });
      assert.equal(updated.status, 200);
      const outdated = await shop.send('PUT', path, { body: { name: 'c' }, headers: { 'if-match': etag } });
      assert.equal(outdated.status, 412);
      assert.equal((await shop.ok('GET', path)).data.name, 'b');
      assert.equal((await shop.send('DELETE', path, { headers: { 'if-match': '*' } })).status, 200);
      assert.equal((await shop.send('PUT', path, { body: {}, headers: { 'if-match': '*' } })).status, 404);
    });

    test('of several concurrent changes whose If-Match names the same version, exactly one succeeds', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const etag = (await shop.send('GET', `/products/${id}`)).headers.get('etag') ?? '';
      const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
      const responses = await inParallel(names, 10, (name) =>
        shop.send('PUT', `/products/${id}`, { body: { name }, headers: { 'if-match': etag } }),
      );
      assert.equal(responses.filter(({ status }) => status === 200).length, 1);
      assert.equal(responses.filter(({ status }) => status === 412).length, 9);
    });
  });
}
