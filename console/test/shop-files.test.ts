// Tests the import of products from files, with its preview, and the export.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { setUpConsole } from './set-up.ts';
import type { TestShop } from './shop-pages.ts';
import { button, newShop, signIn } from './shop-pages.ts';

/** An export of Shopify with the earlier columns, an HTML body with line breaks, a row without a handle, and what a product has no place for. */
const SHOPIFY = [
  'Handle,Title,Body (HTML),Vendor,Tags,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Qty,Variant Price,Image Src,Image Position,Image Alt Text,Status',
  'shirt,Shirt,"<p>Soft,\nand warm</p>",Acme,"summer, linen",Size,M,S-M,3,19.90,https://pictures.example/1.png,1,Best shirt,active',
  'shirt,,,,,,L,S-L,4,21.90,,,,',
  'cup,Cup,,Acme,,Title,Default Title,C-1,9,9.90,,,,draft',
  'lamp,Lamp,,Acme,,Title,Default Title,L-1,1,"21,90",,,,active',
].join('\r\n');

describe('products in files', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole();
  let shop: TestShop;
  let opened: WatchedPage;
  let page: Page;

  beforeEach(async () => {
    shop = await newShop(app.service);
    opened = await app.newPage();
    ({ page } = opened);
    await signIn(opened, app.service.url, shop.key);
    await page.click('text=Import and export');
    await page.waitForSelector('[name=file]');
  });

  const choose = (name: string, content: string | Buffer) =>
    page.setInputFiles('[name=file]', { name, mimeType: 'text/csv', buffer: Buffer.from(content) });
  const counts = async () =>
    Object.fromEntries(
      await page
        .locator('.file-counts > div')
        .evaluateAll((entries) => entries.map((entry) => [...entry.children].map(({ textContent }) => textContent))),
    ) as Record<string, string>;
  const productsOf = async ({ client }: TestShop) => {
    const { data } = await client.listProducts({ status: 'any', sort: 'name' }).page();
    return Promise.all(
      data.map(async ({ id }) => {
        const {
          id: _id,
          createdAt: _createdAt,
          updatedAt: _updatedAt,
          ...product
        } = (await client.getProduct({ productId: id })).data;
        return product;
      }),
    );
  };

  test('an export of Shopify is imported after a preview of what it changes and what a product has no place for', async () => {
    await shop.client.createProduct({
      name: 'Cup',
      slug: 'cup',
      sku: 'C-1',
      price: '8.90',
      inventory: 9,
      status: 'draft',
    });
    await choose('products.csv', SHOPIFY);
    await page.waitForSelector('.file-preview');
    assert.deepEqual(await counts(), { New: '2', Changed: '1', Unchanged: '0', 'Not imported': '1' });
    const preview = (await page.textContent('.file-preview')) ?? '';
    assert.match(preview, /a product has no place for the columns Image Alt Text/i);
    assert.match(preview, /Kept in the metadata: Vendor/);
    assert.match(preview, /5Cup.*Price8\.909\.90/);
    assert.match(preview, /6price: must be a non-negative decimal/);
    assert.equal((await productsOf(shop)).length, 1, 'the preview stores nothing');
    await page.click('text=Import 3 products');
    await page.waitForSelector('text=Created: 2. Changed: 1.');
    const products = await productsOf(shop);
    assert.deepEqual(
      products.map(({ name, slug, price, inventory }) => ({ name, slug, price, inventory })),
      [
        { name: 'Cup', slug: 'cup', price: '9.90', inventory: 9 },
        { name: 'Shirt – L', slug: 'shirt-l', price: '21.90', inventory: 4 },
        { name: 'Shirt – M', slug: 'shirt-m', price: '19.90', inventory: 3 },
      ],
    );
    await choose('products.csv', SHOPIFY);
    await page.waitForSelector('.file-preview');
    assert.deepEqual(await counts(), { New: '0', Changed: '0', Unchanged: '3', 'Not imported': '1' });
  });

  for (const [format, link] of [
    ['csv', 'Columns of Shopify (CSV)'],
    ['ndjson', 'Records (NDJSON)'],
  ] as const) {
    test(`what is exported as ${format} and imported into another shop gives the same products`, async () => {
      await choose('products.csv', SHOPIFY);
      await page.click('text=Import 3 products');
      await page.waitForSelector('text=Created: 3.');
      await shop.client.createProduct({ name: 'Wholly "own"', price: '3', type: 'digital', externalId: 'erp-1' });
      const arriving = page.waitForEvent('download');
      await button(page, link).click();
      const content = readFileSync(await (await arriving).path());
      const other = await newShop(app.service);
      await opened.context.clearCookies();
      const elsewhere = await app.newPage();
      ({ page } = elsewhere);
      await signIn(elsewhere, app.service.url, other.key);
      await visit(page, `${app.service.url}/shop/files`);
      await choose(`products.${format}`, content);
      await page.click('text=Import 4 products');
      await page.waitForSelector('text=Created: 4.');
      assert.deepEqual(await productsOf(other), await productsOf(shop));
    });
  }

  test('a file can be dropped on the page', async () => {
    const files = await page.evaluateHandle(`{
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(SHOPIFY)}], 'products.csv'));
      transfer;
    }`);
    await page.dispatchEvent('.file-choice', 'drop', { dataTransfer: files });
    await page.waitForSelector('.file-preview:has-text("products.csv")');
    assert.equal((await counts())['New'], '3');
  });

  test('a file that cannot be read says why, and how to mend it', async () => {
    await choose('products.csv', 'id,amount\n1,2\n');
    await page.waitForSelector('text=neither a product export of Shopify');
    await choose('products.csv', Buffer.from(SHOPIFY.replace('Shirt', 'Chemisé'), 'latin1'));
    await page.waitForSelector('text=not in UTF-8');
    await choose('products.ndjson', '{"kind":"sale"}\n{"kind":"product","name":"A","price":"1"}\nnonsense\n');
    await page.waitForSelector('.file-preview');
    assert.deepEqual(await counts(), { New: '1', Changed: '0', Unchanged: '0', 'Not imported': '2' });
    await choose(
      'products.ndjson',
      '{"kind":"product","name":"A","price":"1"}\n{"kind":"product","name":"A","price":"2"}\n',
    );
    await page.waitForSelector('text=The slug a is also that of line 1');
  });

  for (const look of LOOKS) {
    test(`the page with a preview is complete and accessible at ${look.width} px, ${look.scheme}`, async () => {
      await shop.client.createProduct({ name: 'Cup', slug: 'cup', sku: 'C-1', price: '8.90', inventory: 9 });
      const other = await app.newPage(look);
      ({ page } = other);
      await signIn(other, app.service.url, shop.key);
      await visit(page, `${app.service.url}/shop/files`);
      await assertGoodPage(other, 'shop-files', look);
      await choose('products.csv', SHOPIFY);
      await page.waitForSelector('.file-preview');
      await page.locator('.file-preview').scrollIntoViewIfNeeded();
      await assertGoodPage(other, 'shop-files-preview', look);
    });
  }
});
