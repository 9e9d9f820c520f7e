// Tests the fields with which a shop finds its products again and describes variants: identifiers, status, metadata, groups and options.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertInvalidProduct, forOneStore, inParallel } from '../support/service/shop.ts';

const EMOJI = '🦔';
const MUG = { name: 'Mug', price: '5' };

forOneStore('identifiers, status, metadata and variants', (store) => {
  describe('identifiers', () => {
    test('a product has the identifiers that were sent, in responses, lists and events, until null clears them', async () => {
      const shop = await store.shop();
      const given = { sku: `sku ${EMOJI}`, barcode: '4006381333931', externalId: 'erp/1', compareAtPrice: '20.00' };
      const made = await shop.product(given);
      const listed = (await shop.ok('GET', '/products')).data[0];
      for (const one of [
        made,
        listed,
        (await shop.ok('GET', `/products/${made.id}`)).data,
        (await shop.events())[0]?.data,
      ])
        assert.deepEqual({ ...one, ...given }, one);
      assert.equal(listed.updatedAt, made.updatedAt);
      const cleared = { sku: null, barcode: null, externalId: null, compareAtPrice: null };
      const { data } = await shop.ok('PUT', `/products/${made.id}`, cleared);
      assert.deepEqual(data, { ...made, ...cleared });
      assert.deepEqual((await shop.events()).at(-1)?.data.changed.toSorted(), Object.keys(cleared).toSorted());
      await shop.product(given);
    });

    test('a create or update is rejected when another product has the identifier, and the details name this product', async () => {
      const shop = await store.shop();
      for (const [path, value] of [
        ['sku', 'A-1'],
        ['externalId', 'e-1'],
        ['slug', 'a-slug'],
      ] as const) {
        const owner = await shop.product({ [path]: value });
        const other = await shop.product();
        for (const response of [
          await shop.send('POST', '/products', { body: { ...MUG, [path]: value } }),
          await shop.send('PUT', `/products/${other.id}`, { body: { [path]: value, name: 'not stored' } }),
        ]) {
          assertInvalidProduct(response, path);
          assert.equal(response.body.error.details[0].productId, owner.id);
        }
        assert.deepEqual((await shop.ok('GET', `/products/${other.id}`)).data, other);
        await shop.ok('PUT', `/products/${owner.id}`, { [path]: value, name: 'the same identifier' });
        const stranger = await store.shop();
        assert.equal(
          (await stranger.product({ [path]: value }))[path],
          value,
          'another shop cannot use the identifier',
        );
      }
      const events = (await shop.events()).map(({ type }) => type);
      assert.equal(events.filter((type) => type === 'product.created').length, 6);
    });

    test('a create that clashes in several identifiers names each of them', async () => {
      const shop = await store.shop();
      const [first, second] = [await shop.product({ sku: 'a' }), await shop.product({ externalId: 'b' })];
      const { body } = await shop.send('POST', '/products', { body: { ...MUG, sku: 'a', externalId: 'b' } });
      assert.deepEqual(
        body.error.details.map(({ path, productId }: any) => [path, productId]),
        [
          ['sku', first.id],
          ['externalId', second.id],
        ],
      );
    });

    test('of concurrent requests that want one SKU, exactly one gets it, and the others name its product', async () => {
      const shop = await store.shop();
      const others = await inParallel(Array.from({ length: 6 }), 6, () => shop.product());
      const creates = Array.from({ length: 6 }, () => ['POST', '/products', { ...MUG, sku: 'wanted' }] as const);
      const updates = others.map(({ id }) => ['PUT', `/products/${id}`, { sku: 'wanted' }] as const);
      const responses = await inParallel([...creates, ...updates], 12, ([method, path, body]) =>
        shop.send(method, path, { body }),
      );
      const [winner, ...rest] = responses.filter(({ status }) => status < 300);
      assert.deepEqual(rest, []);
      for (const response of responses.filter((one) => one !== winner)) {
        assertInvalidProduct(response, 'sku');
        assert.equal(response.body.error.details[0].productId, winner?.body.data.id);
      }
    });

    test('identifiers that are empty, too long or not text are rejected', async () => {
      const shop = await store.shop();
      const bounds = { sku: 120, barcode: 120, externalId: 255, groupId: 255 };
      for (const [path, max] of Object.entries(bounds)) {
        assert.equal((await shop.product({ [path]: EMOJI.repeat(max) }))[path], EMOJI.repeat(max));
        for (const wrong of ['', 'x'.repeat(max + 1), 7, {}, '\0'])
          assertInvalidProduct(await shop.send('POST', '/products', { body: { ...MUG, [path]: wrong } }), path);
      }
      for (const wrong of ['', '-1', '1e3', -1, {}])
        assertInvalidProduct(
          await shop.send('POST', '/products', { body: { ...MUG, compareAtPrice: wrong } }),
          'compareAtPrice',
        );
      assert.equal((await shop.product({ compareAtPrice: 20.5 })).compareAtPrice, '20.5');
    });
  });

  describe('status', () => {
    test('an archived product is left out of the lists of products and stock, and keeps its stock and its log', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 20 });
      const draft = await shop.product({ status: 'draft' });
      const { data } = await shop.ok('PUT', `/products/${id}`, { status: 'archived' });
      assert.equal(data.status, 'archived');
      assert.deepEqual(
        (await shop.walk('/products?limit=1')).map((one) => one.id),
        [draft.id],
      );
      assert.deepEqual(
        (await shop.ok('GET', '/inventory')).data.map((one: any) => one.productId),
        [draft.id],
      );
      await shop.ok('POST', '/inventory', { product_id: id, adjustment: -3 });
      assert.equal((await shop.ok('GET', `/inventory?product_id=${id}`)).data[0].inventory, 17);
      assert.equal((await shop.ok('GET', `/products/${id}`)).data.inventory, 17);
      assert.equal((await shop.walk(`/inventory/adjustments?product_id=${id}`)).length, 1);
      await shop.ok('PUT', `/products/${id}`, { status: 'active' });
      assert.equal((await shop.walk('/products')).length, 2);
      assertInvalidProduct(await shop.send('PUT', `/products/${id}`, { body: { status: 'deleted' } }), 'status');
      assertInvalidProduct(await shop.send('PUT', `/products/${id}`, { body: { status: null } }), 'status');
    });
  });

  describe('metadata', () => {
    test('an update merges metadata by key, null removes a key, and what changes nothing writes nothing', async () => {
      const shop = await store.shop();
      const { id, metadata } = await shop.product({ metadata: { b: '1', a: '', gone: null, __proto__x: 'p' } });
      assert.deepEqual(metadata, { __proto__x: 'p', a: '', b: '1' });
      const put = async (change: unknown) =>
        (await shop.ok('PUT', `/products/${id}`, { metadata: change })).data.metadata;
      assert.deepEqual(await put({ c: 'é', b: '2' }), { __proto__x: 'p', a: '', b: '2', c: 'é' });
      assert.deepEqual(await put({ a: null, b: null, none: null }), { __proto__x: 'p', c: 'é' });
      const events = (await shop.events()).length;
      assert.deepEqual(await put({ c: 'é', none: null }), { __proto__x: 'p', c: 'é' });
      assert.equal((await shop.events()).length, events);
      const named = await shop.send('PUT', `/products/${id}`, { body: '{"metadata":{"__proto__":"x","10":"y"}}' });
      assert.deepEqual(Object.entries(named.body.data.metadata), [
        ['10', 'y'],
        ['__proto__', 'x'],
        ['__proto__x', 'p'],
        ['c', 'é'],
      ]);
      assert.deepEqual(
        (await shop.ok('GET', '/products')).data[0].metadata,
        (await shop.ok('GET', `/products/${id}`)).data.metadata,
      );
    });

    test('metadata has at most 50 keys of 40 characters, with texts of 500 characters', async () => {
      const shop = await store.shop();
      const full = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 'v']));
      const { id } = await shop.product({ metadata: full });
      const put = (metadata: unknown) => shop.send('PUT', `/products/${id}`, { body: { metadata } });
      assertInvalidProduct(await put({ more: 'v' }), 'metadata');
      assert.equal((await put({ more: 'v', k0: null })).status, 200);
      assert.equal((await put({ more: null, [EMOJI.repeat(40)]: EMOJI.repeat(500) })).status, 200);
      for (const wrong of [
        { ['k'.repeat(41)]: 'v' },
        { '': 'v' },
        { k1: 'v'.repeat(501) },
        { k1: 1 },
        { k1: {} },
        [],
        'x',
        null,
      ])
        assertInvalidProduct(await put(wrong), 'metadata');
      const many = { ...full, more: 'v' };
      assertInvalidProduct(await shop.send('POST', '/products', { body: { ...MUG, metadata: many } }), 'metadata');
    });
  });

  describe('variants', () => {
    test('two products of one group cannot have the same options, in any order', async () => {
      const shop = await store.shop();
      const [size, colour] = [
        { name: 'Size', value: 'M' },
        { name: 'Colour', value: 'Blue' },
      ];
      const first = await shop.product({ groupId: 'g', options: [size, colour] });
      assert.deepEqual(first.options, [size, colour]);
      const other = await shop.product({ groupId: 'g', options: [{ ...size, value: 'L' }, colour] });
      await shop.product({ groupId: 'h', options: [size, colour] });
      await shop.product({ options: [size, colour] });
      await shop.product({ groupId: 'g' });
      for (const response of [
        await shop.send('POST', '/products', { body: { ...MUG, groupId: 'g', options: [colour, size] } }),
        await shop.send('PUT', `/products/${other.id}`, { body: { options: [size, colour] } }),
      ]) {
        assertInvalidProduct(response, 'options');
        assert.equal(response.body.error.details[0].productId, first.id);
      }
      assertInvalidProduct(await shop.send('POST', '/products', { body: { ...MUG, groupId: 'g' } }), 'options');
      assert.equal((await (await store.shop()).product({ groupId: 'g' })).groupId, 'g');
      await shop.ok('PUT', `/products/${first.id}`, { groupId: null });
      await shop.ok('PUT', `/products/${other.id}`, { options: [size, colour] });
    });

    test('options are at most three pairs of texts of 255 characters with different names', async () => {
      const shop = await store.shop();
      const texts = Array.from({ length: 3 }, (_, index) => `${index}${EMOJI.repeat(254)}`);
      const most = texts.map((text) => ({ name: text, value: text }));
      assert.deepEqual((await shop.product({ options: most })).options, most);
      for (const wrong of [
        [...most, { name: 'a', value: 'b' }],
        [{ name: 'a', value: 'b', more: 1 }],
        [{ name: 'a' }],
        [{ name: '', value: 'b' }],
        [{ name: 'a', value: 'x'.repeat(256) }],
        [
          { name: 'a', value: 'b' },
          { name: 'a', value: 'c' },
        ],
        ['a: b'],
        {},
        null,
      ])
        assertInvalidProduct(await shop.send('POST', '/products', { body: { ...MUG, options: wrong } }), 'options');
    });
  });
});
