// Tests that a shop with 5,000 products finds, filters and sorts them, and edits the numbers by which they are found.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { WatchedPage } from './browser.ts';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit, waitUntilLoaded } from './browser.ts';
import { setUpConsole } from './set-up.ts';
import type { TestShop } from './shop-pages.ts';
import { button, newShop, signIn } from './shop-pages.ts';

const PRODUCTS = 5_000;
const BATCH = 1_000;
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('a shop with many products', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole();
  let shop: TestShop;
  let opened: WatchedPage;
  let page: Page;

  before(async () => {
    shop = await newShop(app.service);
    for (const batch of range(PRODUCTS / BATCH)) {
      const products = range(BATCH).map((row) => {
        const number = batch * BATCH + row;
        const name = `${number % 2 === 0 ? 'Enamel mug' : 'Linen towel'} ${number}`;
        return {
          name,
          sku: `SHELF-${number}`,
          barcode: String(4_006_381_000_000 + number),
          price: String(1 + ((number * 7) % PRODUCTS)),
          inventory: number < 3 ? 0 : number < 8 ? number : 50 + number,
        };
      });
      await shop.client.storeProducts({ products });
    }
    await shop.client.createProduct({ name: 'Gift card', price: '10', type: 'digital' });
    await shop.client.createProduct({ name: 'Spring mug', price: '10', status: 'draft', inventory: 100 });
    await shop.client.createProduct({ name: 'Last years mug', sku: 'OLD-1', price: '10', status: 'archived' });
  });
  beforeEach(async () => {
    opened = await app.newPage();
    ({ page } = opened);
    await signIn(opened, app.service.url, shop.key);
  });

  const names = () => page.locator('.table-body [data-row]').allTextContents();
  /** Waits until the first row is the product with this name. */
  const waitForFirst = (name: string) =>
    page.waitForSelector(`.table-group:first-child .table-row:first-child [data-row]:text-is("${name}")`);

  test('a product is found by its name, its SKU and its barcode with the keyboard alone', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('towel 4321');
    await waitForFirst('Linen towel 4321');
    assert.deepEqual(await names(), ['Linen towel 4321']);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('shelf-12');
    await waitForFirst('Enamel mug 12');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('j');
    const second = await page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('Enter');
    await page.waitForSelector(`.shop-title:has-text("${String(second)}")`);
    await page.goBack();
    await page.waitForURL('**/shop/products?q=shelf-12');
    assert.equal(await page.inputValue('[name=find]'), 'shelf-12');
  });

  test('a scanner, which types a barcode and Enter, opens the product; a text that only begins a SKU does not', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('4006381002345');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.shop-title:has-text("Linen towel 2345")');
    await visit(page, `${app.service.url}/shop/products`);
    await page.fill('[name=find]', 'OLD-1');
    await page.press('[name=find]', 'Enter');
    await page.waitForSelector('.shop-title:has-text("Last years mug")');
    await visit(page, `${app.service.url}/shop/products`);
    await page.fill('[name=find]', 'SHELF-499');
    await page.press('[name=find]', 'Enter');
    await page.waitForSelector('.shop-title:has-text("Linen towel 499")');
    await visit(page, `${app.service.url}/shop/products`);
    const found = page.waitForResponse((response) => response.url().includes('barcode=SHELF'));
    await page.fill('[name=find]', 'SHELF');
    await page.press('[name=find]', 'Enter');
    await found;
    await page.waitForURL('**/shop/products?q=SHELF');
  });

  test('the filters list the products with low stock, without stock and of each status, of the whole shop', async () => {
    assert.equal((await names()).includes('Last years mug'), false);
    await page.selectOption('select[aria-label=Stock]', 'low');
    await waitForFirst('Enamel mug 0');
    await waitUntilLoaded(page);
    assert.deepEqual(
      await names(),
      range(8).map((number) => `${number % 2 === 0 ? 'Enamel mug' : 'Linen towel'} ${number}`),
    );
    assert.equal(await page.locator('.more-rows').count(), 0, 'the list is complete');
    await page.selectOption('select[aria-label=Stock]', 'out');
    await page.waitForURL('**stock=out');
    await waitUntilLoaded(page);
    assert.deepEqual(await names(), ['Enamel mug 0', 'Linen towel 1', 'Enamel mug 2']);
    await page.fill('[name=find]', 'towel');
    await waitForFirst('Linen towel 1');
    await visit(page, `${app.service.url}/shop/products`);
    await page.selectOption('select[aria-label=Status]', 'draft');
    await waitForFirst('Spring mug');
    assert.deepEqual(await names(), ['Spring mug']);
    await page.selectOption('select[aria-label=Status]', 'archived');
    await waitForFirst('Last years mug');
    assert.match((await page.textContent('.table-body')) ?? '', /Archived/);
  });

  test('a click on the head of a column sorts the whole list, and a second click turns the order', async () => {
    const sorted = () =>
      page.locator('[aria-sort]').evaluate((head) => [head.textContent, head.getAttribute('aria-sort')]);
    assert.deepEqual(await sorted(), ['Created', 'descending']);
    await page.click('.sort-head:has-text("Name")');
    await waitForFirst('Enamel mug 0');
    assert.deepEqual(await sorted(), ['Name', 'ascending']);
    await page.click('.sort-head:has-text("Name")');
    await waitForFirst('Spring mug');
    assert.deepEqual(await sorted(), ['Name', 'descending']);
    await page.click('.sort-head:has-text("Stock")');
    await page.click('.sort-head:has-text("Stock")');
    await waitForFirst(`Linen towel ${PRODUCTS - 1}`);
    await page.fill('[name=find]', 'mug');
    await waitForFirst(`Enamel mug ${PRODUCTS - 2}`);
    await page.click('.sort-head:has-text("Price")');
    await waitForFirst('Enamel mug 0');
  });

  test('the SKU, the barcode, the status and the compare-at price of a product are edited in its form', async () => {
    await page.click('text=Add a product');
    await page.fill('[name=name]', 'Tea towel');
    await page.fill('[name=price]', '12.00');
    await page.fill('[name=compareAtPrice]', '15.00');
    await page.fill('[name=sku]', 'SHELF-17');
    await page.fill('[name=barcode]', '4006381999999');
    await page.check('[name=status][value=draft]');
    await button(page, 'Create the product').click();
    await page.waitForSelector('[name=sku][aria-invalid=true]');
    await page.fill('[name=sku]', 'TT-1');
    await button(page, 'Create the product').click();
    await page.waitForURL('**/shop/products/prod_*');
    await waitUntilLoaded(page);
    const productId = page.url().split('/').at(-1) ?? '';
    const read = async () => {
      const { sku, barcode, status, compareAtPrice } = (await shop.client.getProduct({ productId })).data;
      return { sku, barcode, status, compareAtPrice };
    };
    const created = { sku: 'TT-1', barcode: '4006381999999', status: 'draft', compareAtPrice: '15.00' };
    assert.deepEqual(await read(), created);
    await page.fill('[name=compareAtPrice]', '');
    await page.check('[name=status][value=active]');
    await button(page, 'Save').click();
    await page.waitForSelector('.save-bar', { state: 'detached' });
    assert.deepEqual(await read(), { ...created, status: 'active', compareAtPrice: null });
    await shop.client.deleteProduct({ productId });
  });

  test('each page of the shop has its own title', async () => {
    const { data } = await shop.client.listProducts({ sku: 'SHELF-1' }).page();
    for (const [path, name] of [
      ['products', 'Products'],
      ['products/new', 'New product'],
      // The name of the product is read after the page.
      [`products/${data[0]?.id}`, 'Linen towel 1'],
      ['stock', 'Stock'],
      ['log', 'Log'],
      ['webhooks', 'Webhooks'],
    ]) {
      await visit(page, `${app.service.url}/shop/${path}`);
      await page.waitForFunction(`document.title === ${JSON.stringify(`${name} · Shop · Mercat`)}`);
    }
  });

  for (const look of LOOKS.filter(({ width }) => width < 1_920)) {
    test(`a search with filters is complete and accessible at ${look.width} px, ${look.scheme}`, async () => {
      opened = await app.newPage(look);
      await signIn(opened, app.service.url, shop.key);
      await visit(opened.page, `${app.service.url}/shop/products?q=mug&sort=price`);
      await assertGoodPage(opened, 'shop-search', look);
    });
  }
});
