// Tests batches of products (/api/v1/products/batch).

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BATCHES_A_MINUTE_MAX } from '../../src/shop/http/authenticate.ts';
import type { TestShop } from '../support/service/shop.ts';
import { assertInvalidProduct, forEachStore, inParallel } from '../support/service/shop.ts';

const PATH = '/products/batch';
const outcomesOf = (results: readonly any[]) => results.map(({ outcome }) => outcome);
const storeRows = async (shop: TestShop, products: unknown[], query = '') =>
  (await shop.ok('POST', `${PATH}${query}`, { products })).data;

forEachStore('batches of products', (store) => {
  describe('rows', () => {
    test('rows have the effects and the results of single requests, in their order', async () => {
      const rows = [
        { name: 'Mug', price: '5', sku: 'M', inventory: 20, collection: 'a', metadata: { a: '1' } },
        { name: 'Mug', price: 7.5, externalId: 'e', status: 'draft' },
        { name: 'Plain', price: '1' },
        { sku: 'M', inventory: 3, price: '6' },
        { externalId: 'e', sku: 'E', metadata: { b: '2' } },
        { sku: 'M', price: '6' },
        { sku: 'M', inventory: 30, collection: 'b', metadata: { a: null } },
      ];
      const [batched, single] = [await store.shop(), await store.shop()];
      const results = await storeRows(batched, rows);
      assert.deepEqual(outcomesOf(results), [
        'created',
        'created',
        'created',
        'updated',
        'updated',
        'unchanged',
        'updated',
      ]);
      const ids = new Map<string, string>();
      for (const row of rows) {
        const known = ids.get(row.externalId ?? row.sku ?? '');
        const { data } = known
          ? await single.ok('PUT', `/products/${known}`, row)
          : await single.ok('POST', '/products', row, 201);
        ids.set(row.externalId ?? row.sku ?? row.name ?? '', data.id);
      }
      const comparable = ({
        id: _id,
        createdAt: _createdAt,
        updatedAt: _updatedAt,
        productId: _productId,
        ...rest
      }: any) => rest;
      const [own, expected] = [await batched.walk('/products'), await single.walk('/products')];
      assert.deepEqual(own.map(comparable), expected.map(comparable));
      const logOf = async (shop: TestShop) =>
        (await shop.walk('/inventory/adjustments')).map(({ previous, next, source }) => [previous, next, source]);
      assert.deepEqual(await logOf(batched), await logOf(single));
      const eventsOf = async (shop: TestShop) =>
        (await shop.events()).map(({ type, data }) => [type, data.changed, data.name, data.inventory]);
      const sorted = (events: unknown[]) =>
        events.map((event) => JSON.stringify(event)).toSorted((a, b) => (a < b ? -1 : 1));
      assert.deepEqual(sorted(await eventsOf(batched)), sorted(await eventsOf(single)));
      assert.deepEqual(results.at(-1).product, (await batched.ok('GET', `/products/${results[0].product.id}`)).data);
      assert.equal(results[3].product.inventory, 3, 'a result is not the product as it was after its row');
      assert.deepEqual(
        (await batched.events()).filter(({ type }) => type === 'product.updated').map(({ data }) => data.sku),
        ['M', 'E', 'M'],
      );
    });

    test('a row updates the product with its id, else with its externalId, else with its SKU, and otherwise creates one', async () => {
      const shop = await store.shop();
      const [a, b] = [await shop.product({ sku: 's', externalId: 'x' }), await shop.product({ sku: 't' })];
      const results = await storeRows(shop, [
        { id: b.id, sku: 't2', externalId: 'y' },
        { externalId: 'x', sku: 's2' },
        { sku: 's2', name: 'by SKU' },
        { externalId: 'new', name: 'New', price: '1', sku: 's' },
        { externalId: null, sku: null, name: 'Without', price: '1' },
      ]);
      assert.deepEqual(outcomesOf(results), ['updated', 'updated', 'updated', 'created', 'created']);
      assert.deepEqual([results[0].product.id, results[1].product.id, results[2].product.id], [b.id, a.id, a.id]);
      assert.equal((await shop.walk('/products')).length, 4);
      const read = (await shop.ok('GET', `/products/${a.id}`)).data;
      assert.deepEqual([read.name, read.sku, read.externalId], ['by SKU', 's2', 'x']);
    });

    test('a rejected row has the error of a single request and no effect on the other rows', async () => {
      const shop = await store.shop();
      const owner = await shop.product({ sku: 'taken', groupId: 'g', options: [{ name: 'Size', value: 'M' }] });
      const rows = [
        { name: 'First', price: '1', sku: 'a' },
        { name: 'x', price: '1', externalId: 'e', sku: 'taken' },
        { name: 'x', price: 'free' },
        { sku: 'nobody', inventory: 4 },
        { id: `prod_${'0'.repeat(32)}`, price: '1' },
        { id: 'x', price: '1' },
        { id: 7, price: '1' },
        { name: 'x', price: '1', colour: 'red' },
        'x',
        { name: 'x', price: '1', sku: 'v', groupId: 'g', options: [{ name: 'Size', value: 'M' }] },
        { sku: 'a', collections: Array.from({ length: 26 }, String) },
        { name: 'x', price: '1', slug: 'first' },
        { name: 'Last', price: '1', sku: 'z' },
      ];
      const results = await storeRows(shop, rows);
      const errors = results.map(({ error }: any) => error && [error.code, error.details?.[0].path]);
      assert.deepEqual(errors, [
        null,
        ['bad_request', 'sku'],
        ['bad_request', 'price'],
        ['bad_request', 'name'],
        ['not_found', undefined],
        ['not_found', undefined],
        ['bad_request', 'id'],
        ['bad_request', 'colour'],
        ['bad_request', ''],
        ['bad_request', 'options'],
        ['bad_request', 'collections'],
        ['bad_request', 'slug'],
        null,
      ]);
      assert.equal(results[1].error.details[0].productId, owner.id);
      const alone = await shop.send('POST', '/products', { body: rows[1] });
      assert.deepEqual(results[1].error, alone.body.error);
      assert.deepEqual(
        (await shop.walk('/products')).map(({ name }) => name),
        ['Last', 'First', owner.name],
      );
      assert.equal((await shop.events()).length, 3);
    });

    test('rows with the same name get different slugs', async () => {
      const shop = await store.shop();
      await shop.product({ name: 'Mug' });
      const results = await storeRows(shop, [
        ...Array.from({ length: 3 }, () => ({ name: 'Mug', price: '1' })),
        { name: 'Other', price: '1', slug: 'cup' },
        { name: 'Cup', price: '1' },
      ]);
      assert.deepEqual(
        results.map(({ product }: any) => product.slug),
        ['mug-2', 'mug-3', 'mug-4', 'cup', 'cup-2'],
      );
    });

    test('a row can take an identifier that an earlier row of the batch has given up', async () => {
      const shop = await store.shop();
      const [a, b] = [await shop.product({ sku: 'a', slug: 'sa' }), await shop.product({ sku: 'b', slug: 'sb' })];
      assert.deepEqual(
        outcomesOf(
          await storeRows(shop, [
            { id: a.id, sku: 'c', slug: 'sc' },
            { id: b.id, sku: 'a', slug: 'sa' },
            { name: 'New', price: '1', sku: 'b', slug: 'sb' },
            { id: a.id, sku: 'a' },
          ]),
        ),
        ['updated', 'updated', 'created', 'rejected'],
      );
      const read = async (id: string) => {
        const { data } = await shop.ok('GET', `/products/${id}`);
        return [data.sku, data.slug];
      };
      assert.deepEqual(
        [await read(a.id), await read(b.id)],
        [
          ['c', 'sc'],
          ['a', 'sa'],
        ],
      );
    });
  });

  describe('the request', () => {
    test('an atomic batch with a rejected row stores nothing, and its error names every rejected row', async () => {
      const shop = await store.shop();
      const kept = await shop.product({ sku: 'a' });
      const rows = [
        { sku: 'a', price: '9' },
        { name: 'x', price: '1', sku: 'b' },
        { name: 'x' },
        { id: 'none' },
        { sku: 'c', price: 1 },
      ];
      const response = await shop.send('POST', `${PATH}?atomic=true`, { body: { products: rows } });
      assert.equal(response.status, 400);
      assert.deepEqual(
        response.body.error.details.map(({ path }: any) => path),
        ['products.2.price', 'products.3.id', 'products.4.name'],
      );
      assert.deepEqual(await shop.walk('/products'), (await shop.ok('GET', `/products?ids=${kept.id}`)).data);
      assert.equal((await shop.events()).length, 1);
      assert.deepEqual(outcomesOf(await storeRows(shop, rows.slice(0, 2), '?atomic=true')), ['updated', 'created']);
      assert.deepEqual(outcomesOf(await storeRows(shop, rows.slice(1, 3), '?atomic=false')), ['unchanged', 'rejected']);
    });

    test('a batch that is repeated with its Idempotency-Key is stored once and gets the first response', async () => {
      const shop = await store.shop();
      const send = (products: unknown[]) =>
        shop.send('POST', PATH, { body: { products }, headers: { 'idempotency-key': 'k' } });
      const rows = [{ name: 'Mug', price: '1' }, { name: 'x' }];
      const [first, again] = [await send(rows), await send(rows)];
      assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [first.text, 'true']);
      assert.equal((await send([{ name: 'Other', price: '1' }])).status, 422);
      assert.equal((await shop.walk('/products')).length, 1);
    });

    test('a batch of no rows, of more than 1,000 rows, or of another form is rejected', async () => {
      const shop = await store.shop();
      const row = { name: 'x', price: '1' };
      for (const [body, path] of [
        [{ products: [] }, 'products'],
        [{ products: Array.from({ length: 1_001 }, () => row) }, 'products'],
        [{ products: row }, 'products'],
        [{}, 'products'],
        [[row], ''],
        [{ products: [row], atomic: true }, 'atomic'],
      ] as const)
        assertInvalidProduct(await shop.send('POST', PATH, { body }), path);
      assert.equal((await shop.send('POST', `${PATH}?atomic=1`, { body: { products: [row] } })).status, 400);
      assert.deepEqual(await shop.walk('/products'), []);
    });

    test('a batch of 1,000 full rows is stored with as many statements as a batch of one', async () => {
      const shop = await store.shop();
      const toRow = (index: number, more = {}) => ({
        sku: `S-${index}`,
        externalId: `E-${index}`,
        barcode: `B-${index}`,
        name: `Product ${index}`,
        price: '19.90',
        description: 'x'.repeat(1_000),
        inventory: 20,
        groupId: `G-${index % 100}`,
        options: [{ name: 'No', value: String(index) }],
        metadata: { shelf: 'a' },
        ...more,
      });
      const rows = (count: number, more = {}) => Array.from({ length: count }, (_, index) => toRow(index, more));
      const countOf = async (work: () => Promise<unknown>) => {
        const before = store.statements('main.product');
        await work();
        return store.statements('main.product') - before;
      };
      const one = await countOf(() => storeRows(shop, [{ name: 'a', price: '1', sku: 'one' }]));
      assert.deepEqual(new Set(outcomesOf(await storeRows(shop, rows(10)))), new Set(['created']));
      const many = await countOf(async () =>
        assert.deepEqual(outcomesOf(await storeRows(shop, rows(1_000))), [
          ...Array.from({ length: 10 }, () => 'unchanged'),
          ...Array.from({ length: 990 }, () => 'created'),
        ]),
      );
      const updated = await countOf(async () =>
        assert.deepEqual(
          new Set(outcomesOf(await storeRows(shop, rows(1_000, { inventory: 7, price: '5' })))),
          new Set(['updated']),
        ),
      );
      // The statement that changes stock, and the one that reads numbered slugs again.
      assert.ok(
        many <= one + 2 && updated <= one + 2,
        `${one} statements for one row, ${many} and ${updated} for 1,000`,
      );
      assert.equal((await shop.events()).filter(({ type }) => type === 'inventory.low').length, 1_000);
      const log = await store.query('select count(*)::int as n from main.adjustment where shop_id = $1', [shop.id]);
      assert.deepEqual(log, [{ n: 1_000 }]);
    });

    test('concurrent batches and requests for the same products have no server errors, and each SKU has one product', async () => {
      const shop = await store.shop();
      const skus = Array.from({ length: 20 }, (_, index) => `s${index}`);
      const rows = (from: number) =>
        [...skus.slice(from), ...skus.slice(0, from)].map((sku) => ({ sku, name: `n ${from}`, price: '1' }));
      const requests = Array.from({ length: 24 }, (_, index) => index);
      const responses = await inParallel(requests, 12, (index) =>
        index % 3 === 0
          ? shop.send('POST', '/products', { body: { name: `n ${index}`, price: '2', sku: skus[index % 20] } })
          : shop.send('POST', PATH, { body: { products: rows(index % 20) } }),
      );
      for (const { status, text } of responses) assert.ok([200, 201, 400].includes(status), text);
      for (const { body, status } of responses.filter((one) => one.status === 200))
        assert.ok(
          body.data.every(({ outcome }: any) => outcome !== 'rejected'),
          `${status}`,
        );
      const products = await shop.walk('/products');
      assert.equal(products.length, skus.length);
      assert.deepEqual(new Set(products.map(({ sku }) => sku)), new Set(skus));
    });

    test('a batch cannot read or change the products of another shop', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const product = await shop.product({ sku: 's', externalId: 'e', slug: 'own-slug' });
      const send = (id: string) => storeRows(stranger, [{ id, price: '0' }]);
      assert.deepEqual(await send(product.id), await send(`prod_${'0'.repeat(32)}`));
      const results = await storeRows(stranger, [
        { sku: 's', price: '0', name: 'theirs' },
        { externalId: 'e', price: '0', name: 'theirs', slug: 'own-slug' },
      ]);
      assert.deepEqual(outcomesOf(results), ['created', 'created']);
      assert.deepEqual((await shop.ok('GET', `/products/${product.id}`)).data, product);
      assert.equal((await shop.walk('/products')).length, 1);
    });

    test('batches are counted apart from the other requests of a key', async () => {
      const shop = await store.shop();
      const body = { products: [{ sku: 'a' }] };
      const statuses = await inParallel(
        Array.from({ length: BATCHES_A_MINUTE_MAX + 1 }),
        4,
        async () => (await shop.send('POST', PATH, { body })).status,
      );
      assert.equal(statuses.filter((status) => status === 429).length, 1);
      assert.equal(statuses.filter((status) => status === 200).length, BATCHES_A_MINUTE_MAX);
      await shop.ok('GET', '/products');
    });
  });
});
