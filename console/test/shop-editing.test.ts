// Tests that many products are changed at once, and that stock and prices are edited in their rows, with the keyboard alone.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { setUpConsole } from './set-up.ts';
import type { TestShop } from './shop-pages.ts';
import { button, newShop, signIn } from './shop-pages.ts';

const MUGS = 5;

describe('editing in the list of products', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole();
  let shop: TestShop;
  let opened: WatchedPage;
  let page: Page;

  beforeEach(async () => {
    shop = await newShop(app.service);
    const variant = (colour: string, price: string, inventory: number) => ({
      name: `Kettle – ${colour}`,
      sku: `KET-${colour}`,
      price,
      inventory,
      groupId: 'kettle',
      options: [{ name: 'Colour', value: colour }],
    });
    await shop.client.storeProducts({
      products: [
        variant('Red', '30', 20),
        variant('Blue', '35', 0),
        ...Array.from({ length: MUGS }, (_, index) => ({
          name: `Mug ${index + 1}`,
          sku: `MUG-${index + 1}`,
          price: '10',
          inventory: 20,
          collections: ['cups'],
        })),
      ],
    });
    opened = await app.newPage();
    ({ page } = opened);
    await signIn(opened, app.service.url, shop.key);
    await visit(page, `${app.service.url}/shop/products?sort=name`);
  });

  const read = async (sku: string) => {
    const { data } = await shop.client.listProducts({ sku, status: 'any' }).page();
    return data[0] ?? assert.fail(`no product ${sku}`);
  };
  const focused = () => page.evaluate('document.activeElement.textContent');
  const waitForFocus = (text: string) => page.waitForFunction(`document.activeElement.textContent === '${text}'`);
  const names = () => page.locator('.table-body [data-row]').allTextContents();
  const edit = (name: string, what: 'stock' | 'price', on = page) =>
    on.click(`.table-row:has([data-row]:text-is("${name}")) [data-edit=${what}]`);
  const focusRow = async (name: string) => page.focus(`[data-row]:text-is("${name}")`);

  test('the arrow keys move through the rows, and s and p edit the stock and the price of the row', async () => {
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), 'Mug 1');
    await page.keyboard.press('s');
    await page.keyboard.type('+40');
    await page.keyboard.press('Enter');
    await waitForFocus('Mug 1');
    assert.equal((await read('MUG-1')).inventory, 60);
    await page.keyboard.press('p');
    await page.keyboard.type('12.50');
    await page.keyboard.press('ArrowDown');
    // The price of the next row is edited.
    await page.waitForFunction(`document.activeElement.getAttribute('aria-label') === 'Price of Mug 2'`);
    await page.keyboard.type('13');
    await page.keyboard.press('Enter');
    await waitForFocus('Mug 2');
    assert.deepEqual([(await read('MUG-1')).price, (await read('MUG-2')).price], ['12.50', '13']);
    await page.keyboard.press('p');
    await page.keyboard.type('99');
    await page.keyboard.press('Escape');
    await waitForFocus('Mug 2');
    assert.equal((await read('MUG-2')).price, '13');
    assert.match((await page.textContent('.table-row:has-text("Mug 2")')) ?? '', /13/);
  });

  test('what was typed is saved by a click elsewhere, and an invalid value stays in its field with the reason', async () => {
    await edit('Mug 1', 'stock');
    await page.keyboard.type('7');
    await page.click('.page-head h1');
    await page.waitForSelector('.table-row:has-text("Mug 1") .badge:text-is("Low")');
    assert.equal((await read('MUG-1')).inventory, 7);
    await edit('Mug 1', 'price');
    await page.keyboard.type('much');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.cell-error:has-text("non-negative decimal")');
    assert.equal(await page.inputValue('.cell-field input'), 'much');
    await assertGoodPage({ ...opened, errors: [] }, 'shop-cell-error', { width: 1_280, scheme: 'light' });
    await page.keyboard.press('Escape');
  });

  test('a count does not replace a stock that the user has not seen, and a removal beyond the stock changes nothing', async () => {
    const { id } = await read('MUG-3');
    await edit('Mug 3', 'stock');
    await page.keyboard.type('18');
    await shop.client.changeInventory({ product_id: id, adjustment: -5 });
    await page.keyboard.press('Enter');
    await page.waitForSelector('.cell-error:has-text("it is 15 now")');
    assert.equal((await read('MUG-3')).inventory, 15);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.cell-field', { state: 'detached' });
    assert.equal((await read('MUG-3')).inventory, 18);
    await edit('Mug 3', 'stock');
    await page.keyboard.type('-19');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.cell-error:has-text("not sufficient")');
    assert.equal((await read('MUG-3')).inventory, 18);
  });

  test('selected products get another stock, price, collection and status at once, each with an undo', async () => {
    await focusRow('Mug 1');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.waitForSelector('.bulk-bar:has-text("2 selected")');
    const stocks = async () => [(await read('MUG-1')).inventory, (await read('MUG-2')).inventory];
    const fields = async () => {
      const { price, collections, status, inventory } = await read('MUG-2');
      return { price, collections, status, inventory };
    };
    const before = await fields();
    const isDone = (text: string) => page.waitForSelector(`.bulk-outcome:has-text("${text}: 2 products.")`);
    const undo = async () => {
      await button(page, 'Undo').click();
      await isDone('Undone');
      assert.deepEqual(await fields(), before);
    };

    await button(page, 'Stock').click();
    await page.fill('dialog[open] [name=amount]', '-3');
    await page.keyboard.press('Enter');
    await isDone('Changed');
    assert.deepEqual(await stocks(), [17, 17]);
    assert.match((await page.textContent('.table-row:has-text("Mug 2")')) ?? '', /17/);
    await undo();

    await button(page, 'Price').click();
    await page.fill('dialog[open] [name=value]', '11');
    await page.keyboard.press('Enter');
    await isDone('Changed');
    assert.equal((await fields()).price, '11');
    await undo();

    await button(page, 'Collection').click();
    await page.fill('dialog[open] [name=value]', 'sale');
    await page.keyboard.press('Enter');
    await isDone('Changed');
    assert.deepEqual((await fields()).collections, ['cups', 'sale']);
    await undo();

    await page.selectOption('.bulk-bar select', 'archived');
    await isDone('Changed');
    assert.equal((await fields()).status, 'archived');
    await undo();

    await focusRow('Mug 1');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.bulk-bar', { state: 'detached' });
    assert.match(page.url(), /\/shop\/products/);
  });

  test('a product that cannot get the change is named, and the others get it', async () => {
    const { id } = await read('MUG-1');
    await page.click('[aria-label="Select all products of this list"]');
    await shop.client.deleteProduct({ productId: id });
    await button(page, 'Stock').click();
    await page.fill('dialog[open] [name=amount]', '+1');
    await page.keyboard.press('Enter');
    await page.waitForSelector(`.bulk-outcome:has-text("Changed: ${MUGS + 1} products.")`);
    assert.match((await page.textContent('.bulk-outcome')) ?? '', /Mug 1: Product not found/);
    assert.equal((await read('MUG-5')).inventory, 21);
  });

  test('selected products are deleted after a confirmation', async () => {
    await page.click('[aria-label="Select Mug 1"]');
    await page.click('[aria-label="Select Mug 2"]');
    await button(page, 'Delete').click();
    await page.waitForSelector('dialog[open]:has-text("Delete 2 products?")');
    assert.equal((await names()).includes('Mug 1'), true);
    await page.click('dialog[open] .button-danger');
    await page.waitForSelector('.bulk-outcome:has-text("Deleted: 2 products.")');
    assert.deepEqual(await names(), ['Kettle', 'Mug 3', 'Mug 4', 'Mug 5']);
    const { data } = await shop.client.listProducts({ q: 'mug' }).page();
    assert.equal(data.length, 3);
  });

  test('the variants of a product are one row with their prices and their stock, which opens to a row for each', async () => {
    assert.deepEqual((await names()).slice(0, 2), ['Kettle', 'Mug 1']);
    const row = (await page.textContent('.table-row:has-text("2 variants")')) ?? '';
    assert.match(row, /30 – 35/);
    assert.match(row, /1 sold out/);
    await focusRow('Kettle');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('[data-row]:text-is("Red")');
    assert.deepEqual((await names()).slice(0, 3), ['Kettle', 'Blue', 'Red']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('s');
    await page.keyboard.type('4');
    await page.keyboard.press('Enter');
    await waitForFocus('Blue');
    assert.equal((await read('KET-Blue')).inventory, 4);
    await focusRow('Kettle');
    await page.keyboard.press('ArrowLeft');
    await page.waitForSelector('[data-row]:text-is("Red")', { state: 'detached' });
    await page.keyboard.press('x');
    await page.waitForSelector('.bulk-bar:has-text("2 selected")');
    await page.keyboard.press('Enter');
    await page.waitForURL('**group=kettle');
    // Until the list of the group is read, the rows of before are shown.
    await page.waitForSelector('[data-row]:text-is("Mug 1")', { state: 'detached' });
    assert.deepEqual(await names(), ['Kettle – Blue', 'Kettle – Red']);
    await page.click('[data-row] >> nth=0');
    await page.click('text=All variants');
    await page.waitForURL('**group=kettle');
  });

  test('with a key that can only read, no product can be selected or edited', async () => {
    const reader = await app.newPage();
    const key = await app.service.operate('keys.create', { shop: shop.name, scopes: ['products:read'] });
    await signIn(reader, app.service.url, key.body.result.secret);
    await reader.page.waitForSelector('[data-row]:text-is("Mug 1")');
    assert.equal(await reader.page.locator('[data-select], [data-edit]').count(), 0);
  });

  for (const look of LOOKS) {
    test(`a list with selected products and open variants is complete and accessible at ${look.width} px, ${look.scheme}`, async () => {
      const other = await app.newPage(look);
      await signIn(other, app.service.url, shop.key);
      await visit(other.page, `${app.service.url}/shop/products?sort=name`);
      await other.page.click('[data-toggle]');
      await other.page.click('[aria-label="Select Mug 1"]');
      await other.page.waitForSelector('.bulk-bar');
      await assertGoodPage(other, 'shop-selected', look);
      if (look.width < 500) return;
      await edit('Mug 2', 'stock', other.page);
      await assertGoodPage(other, 'shop-row-edit', look);
    });
  }
});
