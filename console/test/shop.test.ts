// Opens the pages of the shop and of the service in a real browser.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { WatchedPage } from './browser.ts';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit, waitUntilLoaded } from './browser.ts';
import { setUpConsole } from './set-up.ts';
import { button, newShop as createShop, signIn as signInTo } from './shop-pages.ts';

describe('the shop and the service', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole({ settings: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  let receiver: Server;
  let receiverUrl: string;

  before(async () => {
    receiver = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = receiver.address();
    receiverUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hooks`;
  });
  after(() => void receiver.close());

  const newShop = (scopes?: readonly string[]) => createShop(app.service, scopes);
  const signIn = (opened: WatchedPage, key: string) => signInTo(opened, app.service.url, key);
  const fill = (page: Page, name: string, value: string) => page.fill(`[name=${name}]`, value);

  for (const look of LOOKS) {
    test(`every page is complete, accessible and without errors at ${look.width} px, ${look.scheme}`, async () => {
      const { key, client } = await newShop();
      const opened = await app.newPage(look);
      const { page } = opened;
      await visit(page, `${app.service.url}/shop`);
      await assertGoodPage(opened, 'shop-sign-in', look);
      await signIn(opened, key);
      await assertGoodPage(opened, 'shop-empty', look);
      const mug = await client.createProduct({ name: 'Harbour Lights enamel mug', price: '19.90', inventory: 12 });
      await client.createProduct({ name: 'Wallpaper', price: '3', type: 'digital', collections: ['harbour-lights'] });
      await client.changeInventory({ product_id: mug.data.id, adjustment: -3, reason: 'Sold at the stall' });
      const webhook = await client.createWebhook({ url: receiverUrl });
      await client.testWebhook({ webhookId: webhook.data.id });
      const paths = {
        products: '/shop/products',
        'product-new': '/shop/products/new',
        product: `/shop/products/${mug.data.id}`,
        stock: '/shop/stock',
        log: '/shop/log',
        webhooks: '/shop/webhooks',
        webhook: `/shop/webhooks/${webhook.data.id}`,
      };
      for (const [name, path] of Object.entries(paths)) {
        await visit(page, app.service.url + path);
        await assertGoodPage(opened, `shop-${name}`, look);
      }
      await visit(page, `${app.service.url}/shop/stock`);
      await page.click('text=Change >> nth=-1');
      await page.waitForSelector('dialog[open]');
      await assertGoodPage(opened, 'shop-stock-dialog', look);
      await visit(page, `${app.service.url}/service`);
      await assertGoodPage(opened, 'service', look);
    });
  }

  test('a product is created, its stock falls to low, the log has the reason, and the webhook gets the event', async () => {
    const { key } = await newShop();
    const opened = await app.newPage();
    const { page } = opened;
    await signIn(opened, key);

    await page.click('nav.tabs >> text=Webhooks');
    await button(page, 'Add a webhook').click();
    await fill(page, 'url', receiverUrl);
    await button(page, 'Create the webhook').click();
    assert.match((await page.textContent('.secret code')) ?? '', /^whsec_/);

    await page.click('nav.tabs >> text=Products');
    await page.click('text=Add a product');
    await fill(page, 'name', 'Mug');
    await fill(page, 'price', 'much');
    await fill(page, 'inventory', '12');
    await fill(page, 'weightGrams', '12.5');
    await button(page, 'Create the product').click();
    await page.waitForSelector('[name=price][aria-invalid=true]');
    await fill(page, 'price', '19.90');
    await button(page, 'Create the product').click();
    await page.waitForURL('**/shop/products/prod_*');
    await waitUntilLoaded(page);
    assert.equal(await page.inputValue('[name=price]'), '19.90');
    assert.equal(await page.inputValue('[name=weightGrams]'), '12.5');

    await page.click('nav.tabs >> text=Stock');
    await button(page, 'Change the stock of Mug').click();
    await fill(page, 'amount', '-3');
    await fill(page, 'reason', 'Sold at the stall');
    await button(page, 'Save').click();
    await page.waitForSelector('.table .badge >> text=Low');

    await page.click('nav.tabs >> text=Log');
    await page.waitForSelector('text=Sold at the stall');
    assert.match((await page.textContent('.table-body')) ?? '', /12 →\s*9/);

    await page.click('nav.tabs >> text=Webhooks');
    await page.click('[data-row]');
    await page.waitForSelector('.timeline-delivered >> text=inventory.low');
  });

  test('when another client has changed a field that the user edits, the user chooses a value, and all other changes are kept', async () => {
    const { key, client } = await newShop();
    const { data } = await client.createProduct({ name: 'Mug', price: '10' });
    const opened = await app.newPage();
    const { page } = opened;
    await signIn(opened, key);
    await visit(page, `${app.service.url}/shop/products/${data.id}`);
    await fill(page, 'name', 'Mug of mine');
    await fill(page, 'price', '12');
    await client.updateProduct({ productId: data.id, price: '11', description: 'Enamel' });
    await button(page, 'Save').click();
    await page.waitForSelector('.conflicts');
    assert.match((await page.textContent('.conflicts')) ?? '', /11.*12/);
    await page.click('.conflict-side >> nth=0');
    await button(page, 'Save').click();
    await page.waitForSelector('.save-bar', { state: 'detached' });
    const { name, price, description } = (await client.getProduct({ productId: data.id })).data;
    assert.deepEqual({ name, price, description }, { name: 'Mug of mine', price: '11', description: 'Enamel' });
  });

  test('setting the stock to a count does not overwrite a change that the user has not seen', async () => {
    const { key, client } = await newShop();
    const { data } = await client.createProduct({ name: 'Mug', price: '10', inventory: 20 });
    const opened = await app.newPage();
    const { page } = opened;
    await signIn(opened, key);
    await visit(page, `${app.service.url}/shop/stock`);
    await button(page, 'Change the stock of Mug').click();
    await page.click('text=Set to a count');
    await fill(page, 'amount', '18');
    await client.changeInventory({ product_id: data.id, adjustment: -5 });
    await button(page, 'Save').click();
    await page.waitForSelector('text=You have seen 20, and now it is 15.');
    assert.equal((await client.getProduct({ productId: data.id })).data.inventory, 15);
    await button(page, 'Set to 18').click();
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    assert.equal((await client.getProduct({ productId: data.id })).data.inventory, 18);
  });

  test('with a key that can only read, the pages have no controls for changes, and a wrong key is refused', async () => {
    const { key, client } = await newShop(['products:read']);
    const { data } = await client.createProduct({ name: 'Mug', price: '10' });
    const opened = await app.newPage();
    const { page } = opened;
    await visit(page, `${app.service.url}/shop`);
    await fill(page, 'key', 'mercat_live_wrong');
    await page.click('text=Sign in >> nth=-1');
    await page.waitForSelector('text=The service does not accept this key.');
    await signIn(opened, key);
    assert.equal(await page.textContent('nav.tabs'), 'Products');
    assert.equal(await page.locator('text=Add a product').count(), 0);
    await visit(page, `${app.service.url}/shop/products/${data.id}`);
    assert.equal(await page.isDisabled('[name=name]'), true);
    assert.equal(await page.locator('text=Delete').count(), 0);
    assert.equal(page.url().includes(key), false);
    await button(page, 'Sign out').click();
    await page.waitForSelector('[name=key]');
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  });

  test('a user who leaves a form with unsaved changes is asked first', async () => {
    const { key } = await newShop();
    const opened = await app.newPage();
    const { page } = opened;
    await signIn(opened, key);
    await visit(page, `${app.service.url}/shop/products/new`);
    await fill(page, 'name', 'Mug');
    await page.click('nav.workplaces >> text=Market');
    await button(page, 'Stay').click();
    assert.equal(await page.inputValue('[name=name]'), 'Mug');
    await page.click('nav.workplaces >> text=Market');
    await button(page, 'Leave').click();
    await page.waitForURL(`${app.service.url}/`);
  });
});

describe('the service with an endpoint that does not respond', { skip: WHY_NO_BROWSER ?? false }, () => {
  // Nothing listens on this port.
  const nobody = 'http://127.0.0.1:9';
  const app = setUpConsole({ settings: { RPC_URL_BASE: nobody, OPENSEA_API_KEY: 'a-key', OPENSEA_URL: nobody } });

  for (const look of LOOKS) {
    test(`its page says what is wrong, what it means and what to do at ${look.width} px, ${look.scheme}`, async () => {
      const opened = await app.open('/service', look);
      await opened.page.waitForSelector('text=No endpoint of Base works.');
      assert.match(
        (await opened.page.textContent('.problem >> nth=0')) ?? '',
        /^No endpoint of Base works\.What to do:/,
      );
      await assertGoodPage(opened, 'service-problems', look);
    });
  }

  test('what works is folded, what fails is not and is red, and a source that was never asked is not used yet', async () => {
    const { page } = await app.open('/service');
    await page.waitForSelector('.status-failing:has-text("paused after failures")');
    assert.equal(await page.locator('details.status-healthy[open]').count(), 0);
    assert.equal(await page.locator('.table-row:visible:has-text("Index")').count(), 0);
    const colours = await page.evaluate(`[getComputedStyle(document.querySelector('.status-failing .bad')).color,
      getComputedStyle(document.querySelector('.problem-bad > .icon')).color]`);
    assert.equal((colours as string[])[0], (colours as string[])[1]);
    await page.click('.status-part:has(h2:text-is("Sources")) summary');
    await page.waitForSelector('.table-row:has-text("opensea") .badge:text-is("Not used yet")');
    await page.click('.status-part:has(h2:text-is("Databases")) summary');
    await page.waitForSelector('.table-row:has-text("Index"):visible');
  });
});
