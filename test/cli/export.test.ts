// Tests that what `mercat export products` writes gives the same products when it is imported, in both formats.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { toNdjsonLines, toShopifyCsv } from '../../src/shop/products/product-files.ts';
import { OWN_COLUMN, createShopifyTally, describeShopify, readShopifyHeader } from '../../src/shop/products/shopify.ts';
import { toShopifyLines } from '../../src/cli/import/shopify.ts';
import type { ProductExport } from '../../src/shop/operations.ts';
import { runImport, toContext } from '../support/service/intake.ts';
import type { TestShop } from '../support/service/shop.ts';
import { forOneStore } from '../support/service/shop.ts';

async function* toChunks(text: string): AsyncGenerator<Uint8Array> {
  // Parts that end inside a row, and inside a character.
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += 1_001)
    yield await Promise.resolve(bytes.subarray(start, start + 1_001));
}

async function join(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

const FOLDER = path.join(import.meta.dirname, '../fixtures/shopify');

/**
 * The files of test/fixtures/shopify: how many products they have, what an import says about them after the counts, and the cells that an
 * import and an export change, as `row column: before → after`.
 */
const SHAPES: Readonly<Record<string, { products: number; said: string[]; changed: string[] }>> = {
  'digital-and-gift-card.present.csv': {
    products: 4,
    said: [
      'kept in the metadata: Vendor, Published on online store, Charge tax, Fulfillment service, Gift card, Inventory tracker',
    ],
    changed: ['4 Inventory tracker: shipwire → shopify'],
  },
  'html.earlier.csv': {
    products: 2,
    said: [
      'kept in the metadata: Vendor, Published on online store, Continue selling when out of stock, Fulfillment service, Charge tax, SEO description, Weight unit for display',
    ],
    changed: [],
  },
  'images-of-variants.present.csv': {
    products: 3,
    said: [
      'kept in the metadata: Vendor, Published on online store, Charge tax, Continue selling when out of stock, Weight unit for display, Fulfillment service',
    ],
    changed: [],
  },
  'images.earlier.csv': {
    products: 2,
    said: [
      'images and tags beyond 21 images and 25 tags, which are not stored: 6',
      'kept in the metadata: Vendor, Published on online store, Continue selling when out of stock, Fulfillment service, Charge tax, Weight unit for display',
      'a product has no place for the columns Image alt text',
    ],
    changed: [
      '1 Image alt text: The cover → ',
      '2 Image alt text: The back → ',
      '22 URL handle: atlas → ',
      '22 Product image URL: https://cdn.example.com/s/files/22.jpg?v=1700000022 → ',
      '22 Image position: 22 → ',
      '23 URL handle: atlas → ',
      '23 Product image URL: https://cdn.example.com/s/files/23.jpg?v=1700000023 → ',
      '23 Image position: 23 → ',
      '24 URL handle: atlas → ',
      '24 Product image URL: https://cdn.example.com/s/files/24.jpg?v=1700000024 → ',
      '24 Image position: 24 → ',
    ],
  },
  'locations.earlier.csv': {
    products: 3,
    said: [
      'the stock is the sum of the locations Bakery, Lisbon, Warehouse',
      'kept in the metadata: Vendor, Published on online store, Continue selling when out of stock, Fulfillment service, Charge tax, Weight unit for display',
    ],
    changed: [
      '1 Inventory Available: Bakery, Lisbon: 14 → ',
      '1 Inventory Available: Warehouse: 3 → ',
      '2 Inventory Available: Bakery, Lisbon: 6 → ',
      '2 Inventory Available: Warehouse: not stocked → ',
      '3 Inventory Available: Bakery, Lisbon: not stocked → ',
      '3 Inventory Available: Warehouse: 240 → ',
    ],
  },
  'markets-and-metafields.present.csv': {
    products: 2,
    said: [
      'kept in the metadata: Vendor, Type, Published on online store, Option1 Linked To, Charge tax, Unit price total measure, Unit price total measure unit, Continue selling when out of stock, Weight unit for display, Fulfillment service, Fit (product.metafields.custom.fit), Google Shopping / MPN, Included / International, Price / International, Status',
      'a product has no place for the columns SEO description, Color (product.metafields.shopify.color-pattern), Google Shopping / Google product category',
      'not read after the first row of a product: Title, Tags',
    ],
    changed: [
      '1 Tags: winter, Coats → winter',
      '1 Status: Unlisted → active',
      '1 SEO description: Long. Long. Long. Long. Long. Long. Long. Long. Long. Long.  → ',
      '1 Color (product.metafields.shopify.color-pattern): moss → ',
      '1 Google Shopping / Google product category: Apparel & Accessories > Clothing > Outerwear → ',
      '2 Title: Coat, ink → ',
      '2 Tags: winter → ',
      '2 Color (product.metafields.shopify.color-pattern): ink → ',
    ],
  },
  'one-product.earlier.csv': {
    products: 1,
    said: [
      'kept in the metadata: Vendor, Type, Published on online store, Continue selling when out of stock, Fulfillment service, Charge tax, Gift card, Weight unit for display',
    ],
    changed: [],
  },
  'one-product.present.csv': {
    products: 1,
    said: [
      'kept in the metadata: Vendor, Product category, Type, Published on online store, Cost per item, Charge tax, Continue selling when out of stock, Weight unit for display, Fulfillment service, Gift card',
    ],
    changed: [],
  },
  'same-slugs.earlier.csv': {
    products: 3,
    said: [
      'kept in the metadata: Vendor, Published on online store, Continue selling when out of stock, Fulfillment service, Charge tax, Weight unit for display',
    ],
    changed: [
      "1 SKU: '0012 → 0012",
      "1 Barcode: '0000123456784 → 0000123456784",
      '3 URL handle: ring-s-m → ring-s-m-3',
    ],
  },
  'scripts.present.csv': {
    products: 3,
    said: [
      'kept in the metadata: Vendor, Type, Published on online store, Charge tax, Continue selling when out of stock, Weight unit for display, Fulfillment service',
    ],
    changed: [],
  },
  'variants-without-handles.present.csv': {
    products: 4,
    said: [
      'stocks below 0 that are stored as 0: 1',
      'kept in the metadata: Vendor, Type, Published on online store, Charge tax, Continue selling when out of stock, Weight unit for display, Fulfillment service',
    ],
    changed: ['2 Inventory quantity: -2 → 0'],
  },
  'variants.earlier.csv': {
    products: 4,
    said: [
      'kept in the metadata: Vendor, Product category, Type, Published on online store, Continue selling when out of stock, Fulfillment service, Charge tax, Gift card, SEO title, SEO description, Weight unit for display, Cost per item, Included / United States, Price / United States',
    ],
    changed: [],
  },
};

/** The rows of a file by the present names of its columns. A row without a handle gets that of the row before it. */
function readRows(csv: string): Map<string, string>[] {
  const [header = [], ...rows] = parse(csv, { bom: true, relax_column_count: false });
  const names = readShopifyHeader(header);
  let handle = '';
  return rows.map((cells) => {
    const row = new Map(names.map((name, index) => [name, cells[index] ?? '']));
    handle = row.get('URL handle') || handle;
    return row.set('URL handle', handle);
  });
}

/** Of these values, both generations of exports have other letters. */
const toValue = (cell: string) => (/^(?:true|false|active|draft|archived)$/i.test(cell) ? cell.toLowerCase() : cell);

/** The cells of the file that the export does not have. A column that the export does not have is in its metadata. */
function findChanges(before: readonly Map<string, string>[], after: readonly Map<string, string>[]): string[] {
  return before.flatMap((row, index) => {
    const exported = after[index];
    const own = JSON.parse(exported?.get(OWN_COLUMN) || '{}') as { metadata?: Record<string, string> };
    return [...row].flatMap(([name, cell]) => {
      const found = exported?.get(name) ?? own.metadata?.[name] ?? '';
      return cell === '' || toValue(cell) === toValue(found)
        ? []
        : [`${index + 1} ${name}: ${cell.slice(0, 60)} → ${found}`];
    });
  });
}

forOneStore('an export of products', (store) => {
  const exportOf = async function* (shop: TestShop): AsyncGenerator<ProductExport['groups'][number]> {
    for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
      const page = (await store.operate('products.export', { shop: shop.name, after })) as ProductExport;
      yield* page.groups;
      after = page.next;
    }
  };
  const csvOf = (shop: TestShop) => join(toShopifyCsv(exportOf(shop)));
  const importCsv = async (shop: TestShop, csv: string) => {
    const rejected: unknown[] = [];
    const tally = createShopifyTally();
    const onRejected = (row: unknown) => rejected.push(row);
    const lines = await join(decode(toShopifyLines(toChunks(csv), { shop: shop.name, tally, onRejected })));
    const { summary, refused } = await runImport(toContext(store.main), lines);
    assert.deepEqual([...rejected, ...refused], []);
    return { summary, text: describeShopify(tally) };
  };
  const rowsOf = async (shop: TestShop) => {
    const listed = await shop.walk('/products?status=any&order=asc');
    const read = await Promise.all(listed.map(({ id }) => shop.ok('GET', `/products/${id}`)));
    return read.map(({ data: { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } }) => fields);
  };

  for (const [name, { products, said, changed }] of Object.entries(SHAPES)) {
    test(`the export of Shopify ${name} goes in and out, and in again, with the same rows`, async () => {
      const shop = await store.shop();
      const file = readFileSync(path.join(FOLDER, name), 'utf8');
      const { summary, text } = await importCsv(shop, file);
      assert.equal(summary.inserted, products, text);
      assert.deepEqual(text.split('; ').slice(1), said);
      assert.deepEqual((await importCsv(shop, file)).summary.unchanged, products, 'the same file changes products');
      const exported = await csvOf(shop);
      const [before, after] = [readRows(file), readRows(exported)];
      assert.deepEqual(findChanges(before, after), changed);
      const lost = changed.filter((change) => / URL handle: .* → $/.test(change));
      assert.equal(after.length, before.length - lost.length);
      assert.deepEqual((await importCsv(shop, exported)).summary.unchanged, products, exported);
      const other = await store.shop();
      await importCsv(other, exported);
      assert.deepEqual(await rowsOf(other), await rowsOf(shop));
      assert.equal(await csvOf(other), exported);
    });
  }

  test('each file of the folder is tested', () => {
    assert.deepEqual(readdirSync(FOLDER).toSorted(), Object.keys(SHAPES).toSorted());
  });

  test('products that Shopify cannot state, and all others, are the same after an export and an import in each format', async () => {
    const shop = await store.shop();
    const options = (value: string) => [{ name: ' Size ', value }];
    for (const fields of [
      { name: '  spaced  ', price: '007.50', slug: 'odd slug/1', description: ' a\r\nb ', image: '' },
      {
        name: 'A',
        groupId: 'g',
        options: options('M'),
        sku: "'1",
        barcode: "'2",
        externalId: 'e',
        status: 'archived',
        slug: 'x',
      },
      { name: 'Single' },
      { name: 'B', groupId: 'g', options: options(' L'), status: 'draft', metadata: { Vendor: 'v', 'x,y': '"z"' } },
      { name: 'C', groupId: 'g', type: 'nft', collections: ['a,b', 'c'], trackInventory: true, slug: 'g-m' },
      { name: 'Single', slug: 'g', weightGrams: 0.1, moreImages: ['ar://1', 'ar://1'], compareAtPrice: '1.0' },
      { name: 'D', options: options('S'), groupId: null, inventory: 2 ** 31 - 1, price: '1'.repeat(40) },
      {
        name: 'E',
        groupId: 'single-2',
        options: [],
        metadata: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, ''])),
      },
    ])
      await shop.product(fields);
    const [csvShop, ndjsonShop] = [await store.shop(), await store.shop()];
    const csv = await csvOf(shop);
    await importCsv(csvShop, csv);
    const ndjson = await join(toNdjsonLines(exportOf(shop), ndjsonShop.name));
    assert.deepEqual((await runImport(toContext(store.main), ndjson)).refused, []);
    const bySlug = async (one: TestShop) => (await rowsOf(one)).toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
    assert.deepEqual(await bySlug(csvShop), await bySlug(shop));
    assert.deepEqual(await bySlug(ndjsonShop), await bySlug(shop));
    assert.deepEqual((await importCsv(shop, csv)).summary.unchanged, 8);
  });

  test('an export has every product of its shop once, also of a group that many pages are between, and of no other shop', async () => {
    const [shop, stranger] = [await store.shop(), await store.shop()];
    await stranger.product({ groupId: 'g', name: 'theirs' });
    const rows = Array.from({ length: 450 }, (_, index) => ({
      name: `P ${index}`,
      price: '1',
      ...(index % 150 === 0 && { groupId: 'g', options: [{ name: 'No', value: String(index) }] }),
    }));
    await shop.ok('POST', '/products/batch', { products: rows });
    const groups: string[][] = [];
    for await (const group of exportOf(shop)) groups.push(group.map(({ name }) => name));
    assert.deepEqual(groups[0], ['P 0', 'P 150', 'P 300']);
    assert.deepEqual(new Set(groups.flat()), new Set(rows.map(({ name }) => name)));
    assert.equal(groups.flat().length, 450);
    await assert.rejects(
      store.operate('products.export', { shop: 'nobody', after: null }),
      /there is no shop named "nobody"/,
    );
  });
});

async function* decode(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield Buffer.from(chunk).toString('utf8');
}
