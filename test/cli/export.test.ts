// Tests that what `mercat export products` writes gives the same products when it is imported, in both formats.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toNdjsonLines, toShopifyCsv } from '../../src/shop/products/product-files.ts';
import { createShopifyTally, describeShopify } from '../../src/shop/products/shopify.ts';
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

const HEADERS = {
  earlier:
    'Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Grams,' +
    'Variant Inventory Tracker,Variant Inventory Qty,Variant Price,Variant Compare At Price,Variant Requires Shipping,Variant Barcode,' +
    'Image Src,Image Position,Variant Image,SEO Title,Status',
  present:
    'URL handle,Title,Description,Vendor,Type,Tags,Published on online store,Option1 name,Option1 value,Option2 name,Option2 value,SKU,' +
    'Weight value (grams),Inventory tracker,Inventory quantity,Price,Compare-at price,Requires shipping,Barcode,Product image URL,' +
    'Image position,Variant image URL,SEO title,Status',
};
const I = (number: number) => `https://example.com/${number}.png`;
const ONE = `cup,Cup,,Acme,Cups,,TRUE,Title,Default Title,,,C-1,200,shopify,9,9.90,,TRUE,,,,,,active`;

/** Files in the shapes of exports: the name of the shape, the header, and the rows. */
const SHAPES: readonly [name: string, header: string, rows: string[], products: number][] = [
  ['one product without variants', HEADERS.earlier, [ONE], 1],
  ['one product without variants, present columns', HEADERS.present, [ONE], 1],
  [
    'variants with the handle on each row',
    HEADERS.earlier,
    [
      `shirt,Shirt,Text,Acme,Shirts,"a, b",TRUE,Size,M,Colour,Red,S-1,100,shopify,3,19.90,25.00,TRUE,4006381333931,${I(1)},1,${I(1)},Best shirt,draft`,
      `shirt,,,,,,,,L,,Red,S-2,110,shopify,0,19.90,,TRUE,,${I(2)},2,${I(2)},,`,
      `shirt,,,,,,,,,,,,,,,,,,,${I(3)},3,,,`,
    ],
    2,
  ],
  [
    'variants without a handle on the later rows',
    HEADERS.present,
    [
      `shirt,Shirt,Text,Acme,Shirts,"a, b",TRUE,Size,M,,,S-1,100,shopify,3,19.90,,TRUE,,${I(1)},1,,,archived`,
      `,,,,,,,,L,,,S-2,110,shopify,-2,19.90,,TRUE,,,,,,`,
      `,,,,,,,,,,,,,,,,,,,${I(2)},2,,,`,
      ONE,
    ],
    3,
  ],
  [
    'HTML with commas, quotes and line breaks',
    HEADERS.earlier,
    [`mug,Mug,"<p>One, ""two""\nthree</p>\n<ul><li>é 🦔</li></ul>",,,,,Title,Default Title,,,,,,,5,,,,,,,,`],
    1,
  ],
  ['an untracked product that is not shipped', HEADERS.present, ['pdf,Book,,,,,,,,,,,,,,3.00,,FALSE,,,,,,'], 1],
  [
    'images without positions and a variant image of its own',
    HEADERS.earlier,
    [`mug,Mug,,,,,,Colour,Red,,,,,,,5,,,,${I(1)},,${I(9)},,`, `mug,,,,,,,,Blue,,,,,,,6,,,,${I(2)},,,,`],
    2,
  ],
  ['one variant with an option', HEADERS.present, ['mug,Mug,,,,,,Size,S/M,,,,,,,5,,,,,,,,'], 1],
  [
    'options whose slugs are the same',
    HEADERS.earlier,
    [
      'mug,Mug,,,,,,Size,S/M,,,A,,,,5,,,,,,,,',
      'mug,,,,,,,,S M,,,B,,,,5,,,,,,,,',
      'mug-s-m,Other,,,,,,,,,,C,,,,5,,,,,,,,',
    ],
    3,
  ],
  [
    'names in other scripts',
    HEADERS.present,
    ['猫,日本猫 マグ,,,,"ねこ, 犬",,色,赤,,,,,,,5,,,,,,,,', '猫,,,,,,,,青,,,,,,,5,,,,,,,,'],
    2,
  ],
  [
    'several locations',
    'Handle,Title,Variant SKU,Variant Price,Variant Inventory Tracker,Inventory Available: Shop,Inventory Available: Barn',
    ['a,A,A-1,1.00,shopify,3,4', 'b,B,B-1,1.00,shopify,not stocked,5'],
    2,
  ],
  [
    'columns of applications',
    `${HEADERS.present},Colour (product.metafields.shopify.color),Google Shopping / Google Product Category`,
    [`${ONE},red,Home & Garden`],
    1,
  ],
];

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

  for (const [name, header, rows, products] of SHAPES) {
    test(`an export of Shopify with ${name} goes in and out, and in again, with the same products`, async () => {
      const shop = await store.shop();
      const file = `\ufeff${[header, ...rows].join('\r\n')}\r\n`;
      const { summary, text } = await importCsv(shop, file);
      assert.equal(summary.inserted, products, text);
      assert.deepEqual((await importCsv(shop, file)).summary.unchanged, products, 'the same file changes products');
      const exported = await csvOf(shop);
      assert.deepEqual((await importCsv(shop, exported)).summary.unchanged, products, exported);
      const other = await store.shop();
      await importCsv(other, exported);
      assert.deepEqual(await rowsOf(other), await rowsOf(shop));
      assert.equal(await csvOf(other), exported);
      assert.doesNotMatch(exported, /"\{""/, 'the columns of Shopify do not state a product that came from them');
    });
  }

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
