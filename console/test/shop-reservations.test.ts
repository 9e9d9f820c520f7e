// Tests the pages of reservations, and the log of the stock that they take and return.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { setUpConsole } from './set-up.ts';
import type { TestShop } from './shop-pages.ts';
import { newShop, signIn } from './shop-pages.ts';

describe('reservations', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole();
  let shop: TestShop;
  let opened: WatchedPage;
  let page: Page;
  let mug: string;

  beforeEach(async () => {
    shop = await newShop(app.service);
    mug = (await shop.client.createProduct({ name: 'Mug', sku: 'M-1', price: '10', inventory: 20 })).data.id;
    opened = await app.newPage();
    ({ page } = opened);
    await signIn(opened, app.service.url, shop.key);
  });

  const reserve = async (reference: string, quantity: number) =>
    (await shop.client.createReservation({ items: [{ sku: 'M-1', quantity }], reference })).data;
  const stock = async () => (await shop.client.listInventory({ product_id: mug })).data[0];
  const open = async (path: string) => {
    await visit(page, `${app.service.url}/shop/${path}`);
  };

  test('the list has who holds what until when, by state, and a reservation is found by its reference', async () => {
    await reserve('order 1', 3);
    const second = await reserve('order 2', 2);
    await shop.client.releaseReservation({ reservationId: second.id });
    await page.click('nav.tabs >> text=Reservations');
    await page.waitForSelector('[data-row]:text-is("order 1")');
    const row = (await page.textContent('.table-row:has-text("order 1")')) ?? '';
    assert.match(row, /3 × Mug.*Held.*in 1[45] min/);
    await page.click('nav.segments >> text=Released');
    // Until the list of the state is read, the rows of before are shown.
    await page.waitForSelector('[data-row]:text-is("order 1")', { state: 'detached' });
    await page.waitForURL('**status=released');
    assert.deepEqual(await page.locator('[data-row]').allTextContents(), ['order 2']);
    await page.click('nav.segments >> text=All');
    await page.fill('[name=find]', 'order 1');
    await page.press('[name=find]', 'Enter');
    await page.waitForURL('**reference=order+1');
    await page.waitForSelector('[data-row]:text-is("order 2")', { state: 'detached' });
    await page.waitForSelector('[data-row]:text-is("order 1")');
    assert.deepEqual(await page.locator('[data-row]').allTextContents(), ['order 1']);
  });

  test('a reservation is held for longer, marked as sold, or released, and the log names it', async () => {
    const sold = await reserve('order 1', 3);
    const returned = await reserve('order 2', 2);
    await open(`reservations/${sold.id}`);
    await page.click('text=Hold for 15 more minutes');
    await page.waitForSelector('text=held for at least 15 minutes');
    await page.click('text=Mark as sold');
    await page.click('dialog[open] .button-row > :last-child');
    await page.waitForSelector('.facts .badge:text-is("Sold")');
    assert.equal((await shop.client.getReservation({ reservationId: sold.id })).data.status, 'consumed');
    assert.equal(await page.locator('text=Release').count(), 0);
    await open(`reservations/${returned.id}`);
    await page.click('text=Release');
    await page.click('dialog[open] .button-danger');
    await page.waitForSelector('.facts .badge:text-is("Released")');
    assert.deepEqual([(await stock())?.inventory, (await stock())?.reserved], [17, 0]);
    await open(`log?product=${mug}`);
    const log = (await page.textContent('.table-body')) ?? '';
    assert.match(log, /Mug/);
    await page.click('.table-body a:has-text("reservation") >> nth=0');
    await page.waitForURL('**/shop/reservations/*');
  });

  test('the stock page has what is reserved, and finds a product by its name or SKU', async () => {
    await shop.client.createProduct({ name: 'Towel', sku: 'T-1', price: '10', inventory: 5 });
    await reserve('order 1', 3);
    await open('stock');
    assert.match((await page.textContent('.table-row:has-text("Mug")')) ?? '', /M-1\s*3Stock of Mug: 17/);
    await page.keyboard.press('/');
    await page.keyboard.type('t-1');
    await page.waitForSelector('[data-row]:text-is("Mug")', { state: 'detached' });
    await page.keyboard.press('Enter');
    await page.keyboard.press('s');
    await page.keyboard.type('+40');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.table-row:has-text("Towel"):has-text("45")');
    await page.fill('[name=find]', 'nothing');
    await page.waitForSelector('text=No product matches.');
  });

  for (const look of LOOKS) {
    test(`the pages of reservations are complete and accessible at ${look.width} px, ${look.scheme}`, async () => {
      const other = await app.newPage(look);
      await signIn(other, app.service.url, shop.key);
      await visit(other.page, `${app.service.url}/shop/reservations`);
      await assertGoodPage(other, 'shop-reservations-empty', look);
      const held = await reserve('order 4711', 3);
      const sold = await reserve('order 4712', 1);
      await shop.client.consumeReservation({ reservationId: sold.id });
      await visit(other.page, `${app.service.url}/shop/reservations`);
      await assertGoodPage(other, 'shop-reservations', look);
      await visit(other.page, `${app.service.url}/shop/reservations/${held.id}`);
      await assertGoodPage(other, 'shop-reservation', look);
      await visit(other.page, `${app.service.url}/shop/stock`);
      await assertGoodPage(other, 'shop-stock-reserved', look);
    });
  }
});
