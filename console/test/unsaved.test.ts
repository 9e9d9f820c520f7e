// Tests that the pages of the shop lose nothing that a user has typed, and say truthfully whether it is saved.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { WatchedPage } from './browser.ts';
import { WHY_NO_BROWSER, launchBrowser, openPage, visit } from './browser.ts';
import { DESKTOP, setUpConsole } from './set-up.ts';
import type { TestShop } from './shop-pages.ts';
import { button, newShop, signIn } from './shop-pages.ts';

describe('edits in the shop', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole({ settings: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  let shop: TestShop;
  let opened: WatchedPage;
  let page: Page;

  beforeEach(async () => {
    shop = await newShop(app.service);
    opened = await app.newPage();
    ({ page } = opened);
    await signIn(opened, app.service.url, shop.key);
  });

  const typeName = async (name: string) => {
    await page.click('text=Add a product');
    await page.fill('[name=name]', name);
  };

  test('the Back button of the browser asks before it leaves a form with unsaved changes', async () => {
    await typeName('Mug');
    const form = page.url();
    await page.goBack();
    await button(page, 'Stay').click();
    assert.deepEqual([page.url(), await page.inputValue('[name=name]')], [form, 'Mug']);
    await page.goBack();
    await button(page, 'Leave').click();
    await page.waitForURL('**/shop/products');
    await page.click('text=Add a product');
    assert.equal(await page.inputValue('[name=name]'), '');
  });

  test('the search and a key for another page ask before they leave a form with unsaved changes', async () => {
    await typeName('Mug');
    await page.fill('[name=q]', 'unknown');
    await page.press('[name=q]', 'Enter');
    await button(page, 'Stay').click();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await button(page, 'Stay').click();
    assert.equal(await page.inputValue('[name=name]'), 'Mug');
    await page.press('[name=q]', 'Enter');
    await button(page, 'Leave').click();
    await page.waitForURL('**/c/unknown');
  });

  test('unsaved changes survive a reload', async () => {
    const { data } = await shop.client.createProduct({ name: 'Mug', price: '10' });
    await visit(page, `${app.service.url}/shop/products/${data.id}`);
    await page.fill('[name=price]', '12');
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.waitForSelector('.save-bar');
    assert.equal(await page.inputValue('[name=price]'), '12');
    await button(page, 'Save').click();
    await page.waitForSelector('.save-bar', { state: 'detached' });
    assert.equal((await shop.client.getProduct({ productId: data.id })).data.price, '12');
    assert.deepEqual(await page.evaluate(`Object.keys(sessionStorage).filter((key) => key.startsWith('draft'))`), []);
  });

  test('when the key is revoked, saving ends the session, and the changes are there again after the next sign-in', async () => {
    await typeName('Mug');
    await page.fill('[name=price]', '19.90');
    await app.service.operate('keys.revoke', { id: shop.keyId });
    // The service accepts a revoked key for up to three seconds.
    const headers = { authorization: `Bearer ${shop.key}` };
    while ((await fetch(`${app.service.url}/api/v1/products?limit=1`, { headers })).status === 200)
      await new Promise((resolve) => setTimeout(resolve, 100));
    await button(page, 'Create the product').click();
    await page.waitForSelector('text=The service does not accept the key any more.');
    const { key } = await newShop(app.service);
    await page.fill('[name=key]', key);
    await page.click('text=Sign in >> nth=-1');
    await page.waitForSelector('.save-bar');
    assert.equal(await page.inputValue('[name=price]'), '19.90');
  });

  test('while the service does not respond, a save says that it is not repeated, and the banner and the service page say so', async () => {
    await typeName('Mug');
    await page.fill('[name=price]', '5');
    const watched = await app.open('/service');
    await app.stop();
    await button(page, 'Create the product').click();
    await page.waitForSelector('.connection-text');
    assert.match((await page.textContent('form [role=alert]')) ?? '', /may not have been saved.*not sent again/);
    await watched.page.waitForSelector('text=The present state is not known.');
    assert.equal(await watched.page.locator('text=All parts of this service work').count(), 0);
    await app.start();
    await page.waitForSelector('.connection-text', { state: 'detached' });
    await button(page, 'Create the product').click();
    await page.waitForURL('**/shop/products/prod_*');
  });

  test('a copy button works on a page that is served by plain http from another host', async () => {
    const elsewhere = await launchBrowser({ localName: 'market.example' });
    const url = app.service.url.replace('127.0.0.1', 'market.example');
    const there = await openPage(elsewhere, DESKTOP);
    await signIn(there, url, shop.key);
    await there.page.click('nav.tabs >> text=Webhooks');
    await button(there.page, 'Add a webhook').click();
    await there.page.fill('[name=url]', 'http://127.0.0.1:9/hooks');
    await button(there.page, 'Create the webhook').click();
    const secret = await there.page.textContent('.secret code');
    assert.equal(await there.page.evaluate('isSecureContext'), false);
    await button(there.page, 'Copy: Secret').click();
    await button(there.page, 'Copied').waitFor();
    await there.page.focus('[name=q]');
    await there.page.keyboard.press('Control+V');
    assert.equal(await there.page.inputValue('[name=q]'), secret);
    assert.deepEqual(there.errors, []);
    await elsewhere.close();
  });
});
