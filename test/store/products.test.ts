// /api/v1/products: the list, create, read, merge-update and delete.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestShop } from '../support/shop.ts';
import { forEachStore, inParallel } from '../support/shop.ts';

const ID = /^prod_[0-9a-f]{32}$/;
const EMOJI = '🦔';

forEachStore('products', (store) => {
  describe('the list', () => {
    test('is newest first, in pages of 50 unless told otherwise, and ends with a null cursor', async () => {
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

    test('of an empty shop is an empty last page', async () => {
      const { body } = await (await store.shop()).send('GET', '/products');
      assert.deepEqual(body, { data: [], pagination: { hasMore: false, nextCursor: null, count: 0 } });
    });

    test('filters after the page is cut: short and empty pages with more behind them, and nothing lost', async () => {
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

    test('goes on where it was when the product of its cursor is deleted', async () => {
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

    test('shows the fields of the specification and no others', async () => {
      const shop = await store.shop();
      await shop.product({ description: 'long', moreImages: ['a'] });
      const [item] = (await shop.ok('GET', '/products')).data;
      const fields =
        'id name slug price type inventory trackInventory requiresShipping weightGrams collections image createdAt';
      assert.deepEqual(Object.keys(item), fields.split(' '));
      assert.equal(item.createdAt, new Date(store.now()).toISOString());
    });

    test('refuses parameters that are not of their kind, with the specified message and the parameter named', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const bad: [string, string][] = [
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
      for (const [name, value] of bad) assertInvalidQuery(await shop.send('GET', `/products?${name}=${value}`), name);
      assertInvalidQuery(await shop.send('GET', '/products?limit=1&limit=1'), 'limit');
      for (const good of [
        `cursor=prod_${'0'.repeat(32)}`,
        `collection=${'c'.repeat(120)}`,
        `collection=${encodeURIComponent(EMOJI.repeat(120))}`,
        'offset=x',
        'limit=100',
      ])
        await shop.ok('GET', `/products?${good}`);
    });
  });

  describe('create', () => {
    test('answers 201 with the product, where it is, and the defaults of a physical product', async () => {
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
      });
      assert.deepEqual((await shop.ok('GET', `/products/${data.id}`)).data, data);
      assert.deepEqual(await shop.events(), [{ type: 'product.created', data }]);
    });

    test('neither tracks nor ships what is digital or an NFT, unless told to', async () => {
      const shop = await store.shop();
      for (const type of ['digital', 'nft']) {
        const { trackInventory, requiresShipping } = await shop.product({ type });
        assert.deepEqual([trackInventory, requiresShipping], [false, false]);
        const told = await shop.product({ type, trackInventory: true, requiresShipping: true });
        assert.deepEqual([told.trackInventory, told.requiresShipping], [true, true]);
      }
      const untracked = await shop.product({ trackInventory: false, requiresShipping: false });
      assert.deepEqual([untracked.trackInventory, untracked.requiresShipping], [false, false]);
    });

    test('keeps every field as it was given', async () => {
      const shop = await store.shop();
      const fields = {
        name: ` Ünï ${EMOJI}\n`,
        slug: 'My slug/1',
        price: '007.50',
        description: '<b>as given</b>\u0001',
        image: 'ipfs://x',
        moreImages: ['b', 'a', 'b'],
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

    test('prices come back digit by digit, from text and from number literals', async () => {
      const shop = await store.shop();
      const long = `${'1234567890'.repeat(4)}.${'123456789012345678'}`;
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

    test('refuses prices that are not plain non-negative decimals', async () => {
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

    const repeated = (count: number, length: number) =>
      Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'x'));
    const edges: [string, unknown[], unknown[]][] = [
      ['name', ['a', ' ', 'n'.repeat(160), EMOJI.repeat(160)], ['', 'n'.repeat(161), EMOJI.repeat(161)]],
      ['slug', ['s', 's'.repeat(180), EMOJI.repeat(180)], ['', 's'.repeat(181)]],
      ['description', ['', 'd'.repeat(10_000), null], [1, ['x']]],
      ['image', ['', 'https://example.org/x.png', null], [1, {}]],
      ['moreImages', [[], repeated(20, 9)], [repeated(21, 9), ['ok', 1], 'x', [null], [['x']]]],
      ['type', ['physical', 'digital', 'nft'], ['', 'Physical', 'service', 1, ['nft']]],
      ['collection', ['c', 'c'.repeat(120), EMOJI.repeat(120)], ['', 'c'.repeat(121), EMOJI.repeat(121), 1]],
      ['collections', [[], repeated(25, 120)], [repeated(26, 9), ['c'.repeat(121)], [''], [1], 'x']],
      ['trackInventory', [true, false], ['true', 1, 0, []]],
      ['requiresShipping', [true, false], ['false', 1]],
    ];
    for (const [field, good, bad] of edges) {
      test(`holds ${field} to its limits, to the character`, async () => {
        const shop = await store.shop();
        for (const value of good) {
          const product = await shop.product({ [field]: value });
          const stored = field === 'collection' ? product.collections[0] : product[field];
          assert.deepEqual(stored, value);
        }
        const count = (await shop.events()).length;
        const nulls = field === 'description' || field === 'image' ? [] : [null];
        for (const value of [...bad, ...nulls, ...(typeof good[0] === 'string' ? ['\u0000', '\ud800'] : [])]) {
          assertInvalidProduct(
            await shop.send('POST', '/products', { body: { name: 'a', price: 1, [field]: value } }),
            field,
          );
        }
        assert.equal((await shop.events()).length, count);
        assert.equal((await shop.walk('/products')).length, count);
      });
    }

    test('takes whole numbers from 0 to 2^31-1 as inventory, and nothing that only looks like one', async () => {
      const shop = await store.shop();
      const ask = (literal: string) =>
        shop.send('POST', '/products', { body: `{"name":"a","price":1,"inventory":${literal}}` });
      for (const literal of ['0', '1', '2147483647'])
        assert.equal((await ask(literal)).body.data.inventory, Number(literal));
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
        assertInvalidProduct(await ask(literal), 'inventory');
      }
    });

    test('takes non-negative numbers as weight', async () => {
      const shop = await store.shop();
      const ask = (literal: string) =>
        shop.send('POST', '/products', { body: `{"name":"a","price":1,"weightGrams":${literal}}` });
      for (const literal of ['0', '-0', '1.5', '1e3', '2147483648']) {
        assert.equal((await ask(literal)).body.data.weightGrams, Math.abs(Number(literal)));
      }
      for (const literal of ['-1', '-0.001', '"5"', 'true', 'null', '1e400', '-1e400']) {
        assertInvalidProduct(await ask(literal), 'weightGrams');
      }
    });

    test('adds collection to collections once, and keeps their order', async () => {
      const shop = await store.shop();
      const collectionsOf = async (fields: object) => (await shop.product({ ...fields })).collections;
      assert.deepEqual(await collectionsOf({ collection: 'a' }), ['a']);
      assert.deepEqual(await collectionsOf({ collection: 'a', collections: ['b', 'c', 'b'] }), ['b', 'c', 'a']);
      assert.deepEqual(await collectionsOf({ collection: 'b', collections: ['b', 'c'] }), ['b', 'c']);
      const full = repeated(25, 9);
      assert.equal((await collectionsOf({ collection: full[3], collections: full })).length, 25);
      const answer = await shop.send('POST', '/products', {
        body: { name: 'a', price: 1, collection: 'z', collections: full },
      });
      assertInvalidProduct(answer, 'collection');
    });

    test('refuses what is missing or unknown, and names all of it', async () => {
      const shop = await store.shop();
      const answer = await shop.send('POST', '/products', { body: { nmae: 'a', price: '', id: 'x' } });
      assertInvalidProduct(answer, 'nmae', 'price', 'id', 'name');
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

  describe('slugs', () => {
    test('are made of the name: lower-case words in plain letters, never empty', async () => {
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

    test('that clash are numbered from 2, with the first number that is free', async () => {
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
        'slugs are unique in their shop only',
      );
    });

    test('made at the same moment are all different', async () => {
      const shop = await store.shop();
      const slugs = await inParallel(
        Array.from({ length: 24 }),
        24,
        async () => (await shop.product({ name: 'Same' })).slug,
      );
      assert.equal(new Set(slugs).size, 24);
    });

    test('that are given and taken are refused by name, in a create and in an update, also at the same moment', async () => {
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
      const rivals = await inParallel(Array.from({ length: 6 }), 6, () => shop.product());
      const answers = await inParallel(rivals, 6, ({ id }) =>
        shop.send('PUT', `/products/${id}`, { body: { slug: 'wanted' } }),
      );
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 400, 400, 400, 400, 400],
      );
      for (const answer of answers.filter(({ status }) => status === 400)) assertInvalidProduct(answer, 'slug');
    });
  });

  describe('update', () => {
    test('merges: what is omitted keeps its value, lists are replaced, null clears what may be null', async () => {
      const shop = await store.shop();
      const product = await shop.product({
        description: 'd',
        image: 'i',
        moreImages: ['a'],
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

    test('that changes nothing writes nothing and is no event', async () => {
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
        const answer = await shop.send('PUT', path, { body });
        assert.deepEqual([answer.status, answer.body.data], [200, product]);
        assert.equal(answer.headers.get('etag'), headers.get('etag'));
      }
      assert.equal((await shop.events()).length, 1);
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('with inventory is a set in the adjustment log, and can send inventory.low before product.updated', async () => {
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

    test('refuses bad fields as create does, and changes nothing then', async () => {
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

    test('at the same moment by many callers merges them all', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const fields = [
        { name: 'A' },
        { price: '7' },
        { description: 'B' },
        { image: 'C' },
        { weightGrams: 5 },
        { inventory: 9 },
        { collections: ['D'] },
      ];
      await inParallel(fields, fields.length, (body) => shop.ok('PUT', `/products/${id}`, body));
      const { data } = await shop.ok('GET', `/products/${id}`);
      assert.deepEqual({ ...data, ...Object.assign({}, ...fields) }, data);
    });
  });

  describe('versions', () => {
    test('a read, a create and an update carry the ETag of the product as they show it', async () => {
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
      assert.notEqual((await shop.send('GET', path)).headers.get('etag'), second, 'stock is part of the product');
    });

    test('If-Match lets a change through only on the version that it names', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const path = `/products/${id}`;
      const etag = (await shop.send('GET', path)).headers.get('etag') ?? '';
      for (const wrong of ['"0"', `W/${etag}`, etag.slice(1, -1), '"x", "y"', '']) {
        for (const [method, body] of [
          ['PUT', { name: 'b' }],
          ['DELETE', undefined],
        ] as const) {
          const answer = await shop.send(method, path, { body, headers: { 'if-match': wrong } });
          assert.deepEqual([answer.status, answer.body.error.code], [412, 'precondition_failed'], wrong);
        }
      }
      const updated = await shop.send('PUT', path, { body: { name: 'b' }, headers: { 'if-match': `"x", ${etag}` } });
      assert.equal(updated.status, 200);
      const late = await shop.send('PUT', path, { body: { name: 'c' }, headers: { 'if-match': etag } });
      assert.equal(late.status, 412);
      assert.equal((await shop.ok('GET', path)).data.name, 'b');
      assert.equal((await shop.send('DELETE', path, { headers: { 'if-match': '*' } })).status, 200);
      assert.equal((await shop.send('PUT', path, { body: {}, headers: { 'if-match': '*' } })).status, 404);
    });

    test('of callers who change the same version at the same moment one succeeds', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const etag = (await shop.send('GET', `/products/${id}`)).headers.get('etag') ?? '';
      const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
      const answers = await inParallel(names, 10, (name) =>
        shop.send('PUT', `/products/${id}`, { body: { name }, headers: { 'if-match': etag } }),
      );
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      assert.equal(answers.filter(({ status }) => status === 412).length, 9);
    });
  });

  test('delete answers once, and after that the product is nowhere', async () => {
    const shop = await store.shop();
    const { id, slug } = await shop.product();
    assert.deepEqual(await shop.ok('DELETE', `/products/${id}`), { data: { id, deleted: true } });
    for (const method of ['DELETE', 'GET', 'PUT']) {
      const answer = await shop.send(method, `/products/${id}`, method === 'PUT' ? { body: {} } : {});
      assert.deepEqual([answer.status, answer.body.error], [404, { code: 'not_found', message: 'Product not found' }]);
    }
    assert.deepEqual(await shop.walk('/products'), []);
    assert.deepEqual((await shop.events())[1], { type: 'product.deleted', data: { id, slug } });
    assert.equal((await shop.product({ slug })).slug, slug);
  });

  describe('a body that cannot be read', () => {
    const bytes = (...values: number[]) => Buffer.from(values);
    const wrap = (value: Buffer) => Buffer.concat([Buffer.from('{"price":1,"name":"'), value, Buffer.from('"}')]);
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const bodies: Record<string, string | Buffer> = {
      nothing: '',
      'malformed JSON': '{"name":"a","price":1',
      'two values': '{"name":"a","price":1}{}',
      'a trailing comma': '{"name":"a","price":1,}',
      'a number with a leading zero': '{"name":"a","price":01}',
      NaN: '{"name":"a","price":NaN}',
      'an array': '[{"name":"a","price":1}]',
      'a string': '"a"',
      'a number': '1',
      null: 'null',
      'invalid UTF-8': wrap(bytes(0xff)),
      'overlong UTF-8': wrap(bytes(0xc0, 0xaf)),
      'a surrogate in UTF-8': wrap(bytes(0xed, 0xa0, 0x80)),
      'UTF-8 that ends early': wrap(bytes(0xe2, 0x82)),
      'UTF-16': Buffer.from('{"name":"a","price":1}', 'utf16le'),
      'a control character': wrap(bytes(0x00)),
      'an escaped NUL': '{"name":"a\\u0000","price":1}',
      'a lone surrogate': '{"name":"\\ud800","price":1}',
      'a lone surrogate in a field name': '{"name":"a","price":1,"\\udfff":1}',
      'arrays 20,000 deep': deep,
      'a field 20,000 deep': `{"name":"a","price":1,"moreImages":${deep}}`,
      'a prototype': '{"__proto__":{"name":"a","price":1}}',
    };
    for (const [name, body] of Object.entries(bodies)) {
      test(`(${name}) is 400 in a create and an update, with the specified message, and nothing is stored`, async () => {
        const shop = await store.shop();
        const product = await shop.product();
        for (const [method, path] of [
          ['POST', '/products'],
          ['PUT', `/products/${product.id}`],
        ] as const) {
          const { status, body: answer } = await shop.send(method, path, { body });
          assert.deepEqual(
            [status, answer.error.code, answer.error.message],
            [400, 'bad_request', 'Invalid product payload'],
          );
          assert.ok(answer.error.details.length > 0);
        }
        assert.deepEqual((await shop.ok('GET', '/products')).pagination.count, 1);
        assert.deepEqual((await shop.ok('GET', `/products/${product.id}`)).data, product);
      });
    }

    test('is one of another type, even with JSON in it', async () => {
      const shop = await store.shop();
      const body = '{"name":"a","price":1}';
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/xml',
        'multipart/form-data',
        'json',
        'x',
      ]) {
        assertInvalidProduct(await shop.send('POST', '/products', { body, headers: { 'content-type': type } }), '');
      }
      await assertNothingStored(shop);
      for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/merge-patch+json']) {
        assert.equal((await shop.send('POST', '/products', { body, headers: { 'content-type': type } })).status, 201);
      }
    });

    test('is one that is too large', async () => {
      const shop = await store.shop();
      const answer = await shop.send('POST', '/products', {
        body: { name: 'a', price: 1, description: 'x'.repeat(1_100_000) },
      });
      assertInvalidProduct(answer, '');
      await assertNothingStored(shop);
    });

    test('with thousands of mistakes is answered with the first of them', async () => {
      const shop = await store.shop();
      const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]));
      const answer = await shop.send('POST', '/products', { body });
      assert.equal(answer.status, 400);
      assert.ok(answer.text.length < 10_000);
    });
  });
});

type Answer = Awaited<ReturnType<TestShop['send']>>;

function assertInvalidQuery({ status, body, text }: Answer, path: string): void {
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

function assertInvalidProduct({ status, body, text }: Answer, ...paths: string[]): void {
  assert.deepEqual(
    [status, body.error?.code, body.error?.message],
    [400, 'bad_request', 'Invalid product payload'],
    text,
  );
  assert.deepEqual(body.error.details.map((detail: any) => detail.path).toSorted(), paths.toSorted());
}

async function assertNothingStored(shop: TestShop): Promise<void> {
  assert.deepEqual(await shop.walk('/products'), []);
  assert.deepEqual(await shop.events(), []);
}
