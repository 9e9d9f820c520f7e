// Tests the forms of the shop: their errors, and the webhooks that they create and change.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { setUpConsole } from './set-up.ts';
import type { TestShop } from './shop-pages.ts';
import { button, newShop, signIn } from './shop-pages.ts';

const GONE = 410;

describe('the forms and webhooks of a shop', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole({ settings: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  let receiver: Server;
  let receiverUrl: string;
  let shop: TestShop;
  let opened: WatchedPage;
  let page: Page;

  before(async () => {
    receiver = createServer((request, response) => {
      response.statusCode = request.url === '/gone' ? GONE : 200;
      response.end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = receiver.address();
    receiverUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });
  after(() => void receiver.close());
  beforeEach(async () => {
    shop = await newShop(app.service);
    opened = await app.newPage();
    ({ page } = opened);
    await signIn(opened, app.service.url, shop.key);
  });

  const focusedName = () => page.evaluate(`document.activeElement.getAttribute('name')`);

  test('a form reports all its errors in one round, and the first field with an error gets the focus', async () => {
    await visit(page, `${app.service.url}/shop/products/new`);
    await page.fill('[name=price]', 'much');
    await page.fill('[name=weightGrams]', 'heavy');
    await page.fill('[name=inventory]', '1.5');
    await page.fill('[name=image]', 'ftp://pictures.example/1.png');
    await button(page, 'Create the product').click();
    await page.waitForSelector('[aria-invalid=true]');
    const invalid = await page
      .locator('[aria-invalid=true]')
      .evaluateAll((fields) => fields.map((field) => field.getAttribute('name')));
    assert.deepEqual(invalid, ['name', 'price', 'image', 'inventory', 'weightGrams']);
    assert.equal(await focusedName(), 'name');
    await page.fill('[name=name]', 'Mug');
    await button(page, 'Create the product').click();
    await page.waitForSelector('[name=name][aria-invalid=false]');
    await page.waitForFunction(`document.activeElement.getAttribute('name') === 'price'`);
  });

  test('the other forms focus their first error too', async () => {
    await shop.client.createProduct({ name: 'Mug', price: '10', inventory: 20 });
    await visit(page, `${app.service.url}/shop/stock`);
    await button(page, 'Change the stock of Mug').click();
    await page.fill('[name=amount]', 'some');
    await page.press('[name=reason]', 'Enter');
    await page.waitForSelector('[name=amount][aria-invalid=true]');
    assert.equal(await focusedName(), 'amount');
    await visit(page, `${app.service.url}/shop/webhooks`);
    await button(page, 'Add a webhook').click();
    await page.fill('[name=url]', 'nowhere');
    await page.press('[name=description]', 'Enter');
    await page.waitForSelector('[name=url][aria-invalid=true]');
    assert.equal(await focusedName(), 'url');
  });

  test('the URL and the events of a webhook are edited, and what was typed survives the end of the dialog', async () => {
    const { data } = await shop.client.createWebhook({ url: `${receiverUrl}/a`, events: ['product.*'] });
    await visit(page, `${app.service.url}/shop/webhooks/${data.id}`);
    await button(page, 'Edit').click();
    await page.fill('[name=url]', `${receiverUrl}/b`);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    await button(page, 'Edit').click();
    assert.equal(await page.inputValue('[name=url]'), `${receiverUrl}/b`);
    assert.equal(await page.isChecked('[name="product.*"]'), true);
    await page.check('[name="reservation.created"]');
    await button(page, 'Save').click();
    await page.waitForSelector('text=The webhook was saved.');
    const saved = (await shop.client.getWebhook({ webhookId: data.id })).data;
    assert.deepEqual([saved.url, saved.events], [`${receiverUrl}/b`, ['reservation.created', 'product.*']]);
    assert.deepEqual(await page.evaluate(`Object.keys(sessionStorage).filter((key) => key.startsWith('draft'))`), []);
  });

  test('the page of a webhook says why the service has turned it off, and has request and response of a delivery beside each other', async () => {
    const { data } = await shop.client.createWebhook({ url: `${receiverUrl}/gone`, events: ['product.*'] });
    await shop.client.createProduct({ name: 'Mug', price: '10' });
    await visit(page, `${app.service.url}/shop/webhooks/${data.id}`);
    await page.waitForSelector('.note-bad:has-text("The service has turned this webhook off")');
    assert.match((await page.textContent('.note-bad')) ?? '', /410/);
    await page.click('text=Details');
    await page.waitForSelector('.exchange-body');
    const [request, response] = await page.locator('.exchange-side').allTextContents();
    assert.match(request ?? '', /webhook-id: .*"type": "product.created".*"name": "Mug"/s);
    assert.match(response ?? '', /status 410/);
    const boxes = await Promise.all([0, 1].map((index) => page.locator('.exchange-side').nth(index).boundingBox()));
    assert.ok(boxes[0] && boxes[1] && boxes[0].y === boxes[1].y && boxes[0].x < boxes[1].x);
  });

  for (const look of LOOKS) {
    test(`forms with errors and deliveries are complete and accessible at ${look.width} px, ${look.scheme}`, async () => {
      const { data } = await shop.client.createWebhook({ url: `${receiverUrl}/gone`, events: ['product.*'] });
      await shop.client.createProduct({ name: 'Mug', price: '10' });
      const other = await app.newPage(look);
      await signIn(other, app.service.url, shop.key);
      await visit(other.page, `${app.service.url}/shop/webhooks/${data.id}`);
      await other.page.waitForSelector('.note-bad');
      await other.page.click('text=Details');
      await other.page.waitForSelector('.exchange-body');
      await assertGoodPage(other, 'shop-delivery', look);
      await button(other.page, 'Edit').click();
      await assertGoodPage(other, 'shop-webhook-edit', look);
      await visit(other.page, `${app.service.url}/shop/products/new`);
      await other.page.fill('[name=price]', 'much');
      await button(other.page, 'Create the product').click();
      await other.page.waitForSelector('[aria-invalid=true]');
      await assertGoodPage({ ...other, errors: [] }, 'shop-form-errors', look);
    });
  }
});
