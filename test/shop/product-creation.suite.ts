// Tests how products are created, and which values their fields accept. products.test.ts runs this suite.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestStore } from '../support/service/shop.ts';
import { assertInvalidProduct, assertNothingStored } from '../support/service/shop.ts';

const ID = /^prod_[0-9a-f]{32}$/;
const EMOJI = '🦔';
const IMAGES = [
  'https://example.org/x.png',
  'HTTP://EXAMPLE.ORG/X',
  'ipfs://x',
  'ar://x',
  'data:image/png;base64,aaaa',
];
const NOT_IMAGES = [
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'JavaScript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
];

/** Declares the tests of the fields of a new product, their limits and their defaults. */
export function describeProductCreation(store: TestStore): void {
  describe('create', () => {
    test('the creation of a product returns 201 with the product, its location, and the defaults of a physical product', async () => {
      const shop = await store.shop();
      const { status, headers, body } = await shop.send('POST', '/products', {
        body: { name: 'Blue Mug', price: '19.90' },
      });
      const { data } = body;
      assert.equal(status, 201);
      assert.match(data.id, ID);
      assert.equal(headers.get('location'), `/api/v1/products/${data.id}`);
      const now = new Date(store.now()).toISOString();
      assert.deepEqual(data, {
        id: data.id,
        name: 'Blue Mug',
        slug: 'blue-mug',
        price: '19.90',
        type: 'physical',
        inventory: 0,
        trackInventory: true,
        requiresShipping: true,
        weightGrams: 0,
        collections: [],
        image: null,
        createdAt: now,
        description: null,
        moreImages: [],
        updatedAt: now,
        sku: null,
        barcode: null,
        externalId: null,
        status: 'active',
        compareAtPrice: null,
        groupId: null,
        options: [],
        metadata: {},
      });
      assert.deepEqual((await shop.ok('GET', `/products/${data.id}`)).data, data);
      assert.deepEqual(await shop.events(), [{ type: 'product.created', data }]);
    });

    test('a new digital product or NFT has false for trackInventory and requiresShipping by default', async () => {
      const shop = await store.shop();
      for (const type of ['digital', 'nft']) {
        const { trackInventory, requiresShipping } = await shop.product({ type });
        assert.deepEqual([trackInventory, requiresShipping], [false, false]);
        const explicit = await shop.product({ type, trackInventory: true, requiresShipping: true });
        assert.deepEqual([explicit.trackInventory, explicit.requiresShipping], [true, true]);
      }
      const untracked = await shop.product({ trackInventory: false, requiresShipping: false });
      assert.deepEqual([untracked.trackInventory, untracked.requiresShipping], [false, false]);
    });

    test('a new product has every field as it was sent', async () => {
      const shop = await store.shop();
      const fields = {
        name: ` Ünï ${EMOJI}\n`,
        slug: 'My slug/1',
        price: '007.50',
        description: '<b>as given</b>\u0001',
        image: 'ipfs://x',
        moreImages: ['ar://b', 'ipfs://a', 'ar://b'],
        type: 'digital',
        inventory: 2 ** 31 - 1,
        trackInventory: true,
        requiresShipping: true,
        weightGrams: 12.5,
        collections: ['b', 'a'],
      };
      const product = await shop.product(fields);
      assert.deepEqual({ ...product, ...fields }, product);
    });

    test('a new product has a price with exactly the digits that were sent', async () => {
      const shop = await store.shop();
      const long = `${'1234567890'.repeat(4)}.123456789012345678`;
      for (const price of ['12345678901234567890.12', '0', '0.00', '19.90', '00', '9007199254740993', long]) {
        assert.equal((await shop.product({ price })).price, price);
      }
      for (const literal of ['19.90', '0', '0.10', '9007199254740993', '12345678901234567890.12', long]) {
        const { body } = await shop.send('POST', '/products', { body: `{"name":"a","price":${literal}}` });
        assert.equal(body.data.price, literal);
        const { id } = body.data;
        assert.equal((await shop.ok('GET', `/products/${id}`)).data.price, literal);
      }
    });

    test('a new product with a price that is not a plain non-negative decimal is rejected', async () => {
      const shop = await store.shop();
      const texts = [
        '',
        ' ',
        '-1',
        '+1',
        '1e2',
        'NaN',
        'Infinity',
        '1,5',
        '.5',
        '1.',
        '1.1.1',
        ' 1',
        '1\n',
        '0x1',
        '١',
        '1_0',
      ];
      for (const price of [...texts, '1'.repeat(41), `1.${'1'.repeat(19)}`, null, true, [1], { a: 1 }]) {
        assertInvalidProduct(await shop.send('POST', '/products', { body: { name: 'a', price } }), 'price');
      }
      for (const literal of ['-1', '-0', '1e2', '1E2', '1e400', '0.5e1', '1'.repeat(41), `1.${'1'.repeat(19)}`]) {
        assertInvalidProduct(
          await shop.send('POST', '/products', { body: `{"name":"a","price":${literal}}` }),
          'price',
        );
      }
      await assertNothingStored(shop);
    });

    const urls = (count: number) => Array.from({ length: count }, (_, index) => `https://example.org/${index}`);
    const repeated = (count: number, length: number) =>
      Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'x'));
    const edges: [string, unknown[], unknown[]][] = [
      ['name', ['a', ' ', 'n'.repeat(160), EMOJI.repeat(160)], ['', 'n'.repeat(161), EMOJI.repeat(161)]],
      ['slug', ['s', 's'.repeat(180), EMOJI.repeat(180)], ['', 's'.repeat(181)]],
      // Nested brackets and a leading byte order mark are ordinary text on both engines.
      ['description', ['', 'd'.repeat(10_000), '['.repeat(2_001), '\ufeffa', null], [1, ['x']]],
      ['image', ['', ...IMAGES, null], [1, {}, ...NOT_IMAGES]],
      [
        'moreImages',
        [[], IMAGES, urls(20)],
        [urls(21), ['https://ok', 1], 'https://x', [null], [['https://x']], [''], ...NOT_IMAGES.map((one) => [one])],
      ],
      ['type', ['physical', 'digital', 'nft'], ['', 'Physical', 'service', 1, ['nft']]],
      ['collection', ['c', 'c'.repeat(120), EMOJI.repeat(120)], ['', 'c'.repeat(121), EMOJI.repeat(121), 1]],
      ['collections', [[], repeated(25, 120)], [repeated(26, 9), ['c'.repeat(121)], [''], [1], 'x']],
      ['trackInventory', [true, false], ['true', 1, 0, []]],
      ['requiresShipping', [true, false], ['false', 1]],
    ];
    for (const [field, valid, invalid] of edges) {
      test(`a new product is accepted with each valid value of ${field} and rejected with each invalid value`, async () => {
        const shop = await store.shop();
        for (const value of valid) {
          const product = await shop.product({ [field]: value });
          const stored = field === 'collection' ? product.collections[0] : product[field];
          assert.deepEqual(stored, value);
        }
        const count = (await shop.events()).length;
        const nulls = field === 'description' || field === 'image' ? [] : [null];
        for (const value of [...invalid, ...nulls, ...(typeof valid[0] === 'string' ? ['\u0000', '\ud800'] : [])]) {
          assertInvalidProduct(
            await shop.send('POST', '/products', { body: { name: 'a', price: 1, [field]: value } }),
            field,
          );
        }
        assert.equal((await shop.events()).length, count);
        assert.equal((await shop.walk('/products')).length, count);
      });
    }

    test('the inventory of a new product must be an integer from 0 to 2^31-1', async () => {
      const shop = await store.shop();
      const request = (literal: string) =>
        shop.send('POST', '/products', { body: `{"name":"a","price":1,"inventory":${literal}}` });
      for (const literal of ['0', '1', '2147483647'])
        assert.equal((await request(literal)).body.data.inventory, Number(literal));
      for (const literal of [
        '-1',
        '1.5',
        '"5"',
        'true',
        'null',
        '2147483648',
        '9007199254740993',
        '1e400',
        '[]',
        '{}',
      ]) {
        assertInvalidProduct(await request(literal), 'inventory');
      }
    });

    test('the weight of a new product must be a non-negative number', async () => {
      const shop = await store.shop();
      const request = (literal: string) =>
        shop.send('POST', '/products', { body: `{"name":"a","price":1,"weightGrams":${literal}}` });
      for (const literal of ['0', '-0', '1.5', '1e3', '2147483648']) {
        assert.equal((await request(literal)).body.data.weightGrams, Math.abs(Number(literal)));
      }
      for (const literal of ['-1', '-0.001', '"5"', 'true', 'null', '1e400', '-1e400']) {
        assertInvalidProduct(await request(literal), 'weightGrams');
      }
    });

    test('the creation of a product adds `collection` to `collections` unless `collections` already contains it', async () => {
      const shop = await store.shop();
      const collectionsOf = async (fields: object) => (await shop.product({ ...fields })).collections;
      assert.deepEqual(await collectionsOf({ collection: 'a' }), ['a']);
      assert.deepEqual(await collectionsOf({ collection: 'a', collections: ['b', 'c', 'b'] }), ['b', 'c', 'a']);
      assert.deepEqual(await collectionsOf({ collection: 'b', collections: ['b', 'c'] }), ['b', 'c']);
      const full = repeated(25, 9);
      assert.equal((await collectionsOf({ collection: full[3], collections: full })).length, 25);
      const response = await shop.send('POST', '/products', {
        body: { name: 'a', price: 1, collection: 'z', collections: full },
      });
      assertInvalidProduct(response, 'collection');
    });

    test('the creation of a product rejects missing and unknown fields, and names all of them', async () => {
      const shop = await store.shop();
      const response = await shop.send('POST', '/products', { body: { nmae: 'a', price: '', id: 'x' } });
      assertInvalidProduct(response, 'nmae', 'price', 'id', 'name');
      assertInvalidProduct(await shop.send('POST', '/products', { body: {} }), 'name', 'price');
      for (const path of ['__proto__', 'constructor', 'toString', 'version', 'shopId', 'createdAt', 'Name']) {
        assertInvalidProduct(
          await shop.send('POST', '/products', { body: `{"name":"a","price":1,"${path}":{"name":"b"}}` }),
          path,
        );
      }
      await assertNothingStored(shop);
    });
  });
}
