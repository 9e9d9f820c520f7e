// Tests how products are listed, updated and deleted (/api/v1/products). The suites beside this file test creation, slugs and versions, malformed request
// bodies, and the OpenAPI document.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestResponse } from '../support/service/service.ts';
import { assertInvalidProduct, forOneStore, inParallel } from '../support/service/shop.ts';
import { describeDocument } from './document.suite.ts';
import { describeProductBodies } from './product-bodies.suite.ts';
import { describeProductCreation } from './product-creation.suite.ts';
import { describeProductIdentity } from './product-identity.suite.ts';

const EMOJI = '🦔';

forOneStore('products', (store) => {
  describe('the list', () => {
    test('the list is newest first, in pages of 50 by default', async () => {
      const shop = await store.shop();
      const made: string[] = [];
      for (let number = 0; number < 53; number += 1) made.push((await shop.product({ name: `P ${number}` })).id);
      const first = await shop.ok('GET', '/products');
      assert.deepEqual(first.pagination, { hasMore: true, nextCursor: made[3], count: 50 });
      const second = await shop.ok('GET', `/products?cursor=${first.pagination.nextCursor}`);
      assert.deepEqual(second.pagination, { hasMore: false, nextCursor: null, count: 3 });
      assert.deepEqual(
        [...first.data, ...second.data].map(({ id }) => id),
        made.toReversed(),
      );
      assert.deepEqual(
        (await shop.walk('/products?limit=7')).map(({ id }) => id),
        made.toReversed(),
      );
      assert.equal((await shop.ok('GET', '/products?limit=53')).pagination.hasMore, false);
      assert.equal((await shop.ok('GET', '/products?limit=100')).data.length, 53);
    });

    test('the list of a shop without products is one empty page', async () => {
      const { body } = await (await store.shop()).send('GET', '/products');
      const pagination = { hasMore: false, nextCursor: null, count: 0 };
      assert.deepEqual(body, { data: [], pagination, meta: { sequence: 0 } });
    });

    test('the list filters each page after it is read, and loses no product', async () => {
      const shop = await store.shop();
      for (const number of Array.from({ length: 12 }).keys()) {
        const fields = number < 2 ? { type: 'nft', collection: 'rare' } : { type: 'digital' };
        await shop.product(fields);
      }
      await shop.product({ collections: ['other', 'rare'] });
      for (const filter of ['collection=rare', 'type=nft']) {
        const empty = await shop.ok(
          'GET',
          `/products?limit=3&${filter}&cursor=${(await shop.ok('GET', '/products?limit=1')).pagination.nextCursor}`,
        );
        assert.deepEqual([empty.data, empty.pagination.count, empty.pagination.hasMore], [[], 0, true]);
        const short = await shop.ok('GET', `/products?limit=100&${filter}`);
        assert.equal(short.pagination.count, short.data.length);
        assert.equal(short.pagination.hasMore, false);
        const walked = await shop.walk(`/products?limit=3&${filter}`);
        assert.deepEqual(walked, short.data);
        assert.equal(walked.length, filter === 'type=nft' ? 2 : 3);
      }
      assert.deepEqual(await shop.walk('/products?limit=3&collection=rare&type=digital'), []);
    });

    test('the list continues at the same position when the product that its cursor names is deleted', async () => {
      const shop = await store.shop();
      const made = [await shop.product(), await shop.product(), await shop.product(), await shop.product()];
      const { pagination } = await shop.ok('GET', '/products?limit=2');
      assert.equal(pagination.nextCursor, made[2]?.id);
      await shop.ok('DELETE', `/products/${pagination.nextCursor}`);
      const rest = await shop.ok('GET', `/products?limit=2&cursor=${pagination.nextCursor}`);
      assert.deepEqual(
        rest.data.map(({ id }: any) => id),
        [made[1]?.id, made[0]?.id],
      );
    });

    test('the list shows every change immediately, although versions of products are cached', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      const other = await shop.product();
      const readLast = async () => (await shop.ok('GET', '/products')).data.at(-1);
      const { data } = await shop.ok('GET', `/products/${id}`);
      assert.deepEqual({ ...data, ...(await readLast()) }, data);
      const changes = [
        { name: 'New' },
        { image: 'https://a/i' },
        { inventory: 7 },
        { collections: ['a'] },
        { price: '1.00' },
      ];
      for (const change of changes) {
        await shop.ok('PUT', `/products/${id}`, change);
        assert.deepEqual({ ...(await readLast()), ...change }, await readLast());
      }
      await shop.ok('POST', '/inventory', { product_id: id, adjustment: -3 });
      assert.equal((await readLast()).inventory, 4);
      await store.query(`update main.product set name = 'Elsewhere', version = version + 1 where id = $1`, [id]);
      assert.equal((await readLast()).name, 'Elsewhere', 'a change by another process is not in the list');
      await shop.ok('DELETE', `/products/${id}`);
      assert.equal((await readLast()).id, other.id);
    });

    test('the list and the product show every change that another process committed before the request', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 0 });
      let committed = 0;
      const done = new AbortController();
      const readAll = async () => {
        // All readers together stay below the rate limit of the key.
        for (let reads = 0; reads < 40 && !done.signal.aborted; reads += 1) {
          const least = committed;
          const { data } = await shop.ok('GET', `/products/${id}`);
          assert.ok(data.inventory >= least, `the product shows ${data.inventory} after ${least} was committed`);
          const leastOfPage = committed;
          const [item] = (await shop.ok('GET', '/products')).data;
          assert.ok(
            item.inventory >= leastOfPage,
            `the page shows ${item.inventory} after ${leastOfPage} was committed`,
          );
        }
      };
      const readers = Promise.all(Array.from({ length: 6 }, readAll));
      for (let stock = 1; stock <= 30; stock += 1) {
        await store.query(`update main.product set inventory = $2, version = version + 1 where id = $1`, [id, stock]);
        committed = stock;
        await shop.ok('GET', `/products/${id}`);
      }
      done.abort();
      await readers;
    });

    test('a cached product is not shown to another shop, and not after the product was deleted', async () => {
      const [shop, other] = [await store.shop(), await store.shop()];
      const { id } = await shop.product();
      await shop.ok('GET', `/products/${id}`);
      assert.equal((await other.send('GET', `/products/${id}`)).status, 404);
      await shop.ok('DELETE', `/products/${id}`);
      assert.equal((await shop.send('GET', `/products/${id}`)).status, 404);
    });

    test('an item of the list has exactly the documented fields', async () => {
      const shop = await store.shop();
      await shop.product({ description: 'long', moreImages: ['https://a'] });
      const [item] = (await shop.ok('GET', '/products')).data;
      const fields =
        'id name slug price type inventory trackInventory requiresShipping weightGrams collections image createdAt ' +
        'updatedAt sku barcode externalId status compareAtPrice groupId options metadata';
      assert.deepEqual(Object.keys(item), fields.split(' '));
      assert.equal(item.createdAt, new Date(store.now()).toISOString());
    });

    test('the list rejects an invalid parameter with a 400 that names the parameter', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const invalid: [string, string][] = [
        ...['0', '-1', '101', '1.5', '1e1', '0x10', '%2010', '', 'x', '05', '9007199254740993'].map(
          (limit) => ['limit', limit] as [string, string],
        ),
        ...['', 'x', id.slice(0, -1), `${id}0`, id.toUpperCase(), `evt_${id.slice(5)}`, `${id}%00`, '%ff'].map(
          (cursor) => ['cursor', cursor] as [string, string],
        ),
        ...['', 'Physical', 'nft,digital', 'service'].map((type) => ['type', type] as [string, string]),
        ...['', 'c'.repeat(121), encodeURIComponent(EMOJI.repeat(121)), '%c3%28'].map(
          (slug) => ['collection', slug] as [string, string],
        ),
      ];
      for (const [name, value] of invalid)
        assertInvalidQuery(await shop.send('GET', `/products?${name}=${value}`), name);
      assertInvalidQuery(await shop.send('GET', '/products?limit=1&limit=1'), 'limit');
      assertInvalidQuery(await shop.send('GET', '/products?offset=1'), 'offset');
      for (const valid of [
        `cursor=prod_${'0'.repeat(32)}`,
        `collection=${'c'.repeat(120)}`,
        `collection=${encodeURIComponent(EMOJI.repeat(120))}`,
        'limit=100',
      ])
        await shop.ok('GET', `/products?${valid}`);
    });
  });

  describe('update', () => {
    test('an update keeps the value of omitted fields, and its event names the changed fields', async () => {
      const shop = await store.shop();
      const product = await shop.product({
        description: 'd',
        image: 'https://a/i',
        moreImages: ['ipfs://a'],
        collections: ['x', 'y'],
        inventory: 3,
      });
      store.advance(1_000);
      const path = `/products/${product.id}`;
      const updatedAt = new Date(store.now()).toISOString();
      const { data } = await shop.ok('PUT', path, {
        name: 'New',
        image: null,
        moreImages: [],
        collections: ['z'],
        price: '1.0',
      });
      const expected = {
        ...product,
        name: 'New',
        image: null,
        moreImages: [],
        collections: ['z'],
        price: '1.0',
        updatedAt,
      };
      assert.deepEqual(data, expected);
      assert.deepEqual((await shop.ok('GET', path)).data, expected);
      assert.deepEqual((await shop.ok('PUT', path, { collection: 'w' })).data.collections, ['z', 'w']);
      assert.equal((await shop.ok('PUT', path, { description: null })).data.description, null);
      const events = await shop.events();
      assert.deepEqual(
        events.map(({ type }) => type),
        ['product.created', 'product.updated', 'product.updated', 'product.updated'],
      );
      const changed = ['name', 'price', 'image', 'moreImages', 'collections'];
      assert.deepEqual(events[1]?.data, { ...expected, changed: events[1]?.data.changed });
      assert.deepEqual(events[1]?.data.changed.toSorted(), changed.toSorted());
    });

    test('an update with the stored values changes neither the product nor its ETag, and records no event and no adjustment', async () => {
      const shop = await store.shop();
      const product = await shop.product({ collections: ['a'], inventory: 4 });
      const path = `/products/${product.id}`;
      const { headers } = await shop.send('GET', path);
      store.advance(1_000);
      const same = {
        name: product.name,
        price: product.price,
        collections: ['a'],
        collection: 'a',
        inventory: 4,
        image: null,
      };
      for (const body of [{}, same]) {
        const response = await shop.send('PUT', path, { body });
        assert.deepEqual([response.status, response.body.data], [200, product]);
        assert.equal(response.headers.get('etag'), headers.get('etag'));
      }
      assert.equal((await shop.events()).length, 1);
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('an update with a new `inventory` is logged as one adjustment to that value', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 30 });
      const { data } = await shop.ok('PUT', `/products/${id}`, { inventory: 4, name: 'Few' });
      assert.deepEqual([data.inventory, data.name], [4, 'Few']);
      const [entry, ...rest] = await shop.walk('/inventory/adjustments');
      assert.deepEqual(rest, []);
      const { previous, next, adjustment, requested, source, keyId, productId } = entry;
      assert.deepEqual([previous, next, adjustment, requested], [30, 4, -26, 4]);
      assert.deepEqual([source, keyId, productId], ['product', shop.key.id, id]);
      assert.deepEqual(
        (await shop.events()).map(({ type }) => type),
        ['product.created', 'inventory.low', 'product.updated'],
      );
    });

    test('an update rejects invalid fields as the creation of a product does, and changes nothing', async () => {
      const shop = await store.shop();
      const product = await shop.product({ inventory: 4 });
      const path = `/products/${product.id}`;
      const bad = {
        name: '',
        price: '1e2',
        inventory: -1,
        weightGrams: '1',
        type: null,
        slug: null,
        id: 'x',
        moreImages: null,
      };
      assertInvalidProduct(await shop.send('PUT', path, { body: bad }), ...Object.keys(bad));
      for (const [field, value] of Object.entries(bad)) {
        assertInvalidProduct(await shop.send('PUT', path, { body: { description: 'new', [field]: value } }), field);
      }
      const full = Array.from({ length: 25 }, (_, index) => `c${index}`);
      await shop.ok('PUT', path, { collections: full });
      assertInvalidProduct(await shop.send('PUT', path, { body: { collection: 'one more' } }), 'collection');
      assert.deepEqual((await shop.ok('GET', path)).data, { ...product, collections: full });
    });

    test('concurrent updates of different fields of a product are all applied', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const fields = [
        { name: 'A' },
        { price: '7' },
        { description: 'B' },
        { image: 'ar://C' },
        { weightGrams: 5 },
        { inventory: 9 },
        { collections: ['D'] },
      ];
      await inParallel(fields, fields.length, (body) => shop.ok('PUT', `/products/${id}`, body));
      const { data } = await shop.ok('GET', `/products/${id}`);
      assert.deepEqual({ ...data, ...Object.assign({}, ...fields) }, data);
    });
  });

  test('a product can be deleted only once', async () => {
    const shop = await store.shop();
    const { id, slug } = await shop.product();
    assert.deepEqual(await shop.ok('DELETE', `/products/${id}`), { data: { id, deleted: true } });
    for (const method of ['DELETE', 'GET', 'PUT']) {
      const response = await shop.send(method, `/products/${id}`, method === 'PUT' ? { body: {} } : {});
      assert.deepEqual(
        [response.status, response.body.error],
        [404, { code: 'not_found', message: 'Product not found' }],
      );
    }
    assert.deepEqual(await shop.walk('/products'), []);
    assert.deepEqual((await shop.events())[1], { type: 'product.deleted', data: { id, slug } });
    assert.equal((await shop.product({ slug })).slug, slug);
  });

  describeProductCreation(store);
  describeProductIdentity(store);
  describeProductBodies(store);
  describeDocument(store);
});

function assertInvalidQuery({ status, body, text }: TestResponse, path: string): void {
  assert.deepEqual(
    [status, body.error.code, body.error.message],
    [400, 'bad_request', 'Invalid query parameters'],
    text,
  );
  assert.deepEqual(
    body.error.details.map((detail: any) => detail.path),
    [path],
  );
}
