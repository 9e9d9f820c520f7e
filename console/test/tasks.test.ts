// Tests that what a user usually wants to know or do needs no mouse, and few keys.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { WHY_NO_BROWSER, tabTo, waitUntilLoaded } from './browser.ts';
import { setUpConsole } from './set-up.ts';
import { newShop, signIn } from './shop-pages.ts';

/** The keys of one task, without the typed texts. A user who presses two keys a second needs less than half a minute for them. */
const KEYS_MAX = 45;
/** Nothing listens on this port. */
const NOBODY = 'http://127.0.0.1:9';

describe('the tasks of a user, with the keyboard alone', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole({ sample: true, settings: { WEBHOOK_ALLOW_PRIVATE: 'true', RPC_URL_BASE: NOBODY } });

  /** Opens a page and presses keys in it. `tab:Floor` moves the focus with Tab to what begins with this text. */
  const perform = async (page: Page, steps: readonly string[]): Promise<void> => {
    let count = 0;
    for (const step of steps) {
      const [, kind, rest = ''] = /^(tab|type|wait):(.*)$/s.exec(step) ?? [];
      if (kind === 'tab') count += await tabTo(page, new RegExp(`^${rest}`));
      else if (kind === 'type') await page.keyboard.type(rest);
      else if (kind === 'wait') await page.waitForSelector(rest);
      else {
        await page.keyboard.press(step);
        count += 1;
      }
    }
    assert.ok(count <= KEYS_MAX, `${count} keys`);
  };
  const open = async (path: string) => (await app.open(path)).page;
  const openShop = async () => {
    const shop = await newShop(app.service);
    const opened = await app.newPage();
    return { shop, page: opened.page, enter: () => signIn(opened, app.service.url, shop.key) };
  };

  test('which lighthouse at dusk is the cheapest for a buyer', async () => {
    const page = await open('/');
    const search = ['/', 'type:harbour', 'wait:.search-result', 'Enter', 'wait:.trait-value'];
    await perform(page, [...search, 'tab:Dusk', 'Enter', 'wait:.filter-clear', 'j', 'Enter', 'wait:.token-price']);
    const { data } = await app.service.ok(
      '/explore/v1/collections/harbour-lights/tokens?listed=true&sort=price&trait=Hour:Dusk&limit=50',
    );
    const totals = data.map(({ listing }: any) => BigInt(listing.buyerTotal.raw));
    const least = totals.reduce((a: bigint, b: bigint) => (a < b ? a : b));
    const cheapest = data.filter((_token: any, index: number) => totals[index] === least).map(({ name }: any) => name);
    assert.ok(cheapest.includes(await page.textContent('h1')), cheapest.join());
  });

  test('what a wallet has paid for a token', async () => {
    const { data } = await app.service.ok('/explore/v1/activity?collection=harbour-lights&kinds=sale&include=token');
    const sale = data.find(({ to, name }: any) => to !== null && name !== null);
    const page = await open('/');
    await perform(page, ['/', `type:${sale.to}`, 'wait:.search-result', 'Enter', 'wait:.wallet-address']);
    const row = `.table-row:has-text("${sale.name}"):has-text("Sold")`;
    await perform(page, ['tab:Activity', 'Enter', 'tab:Sales', 'Enter', `wait:${row}`]);
    assert.match((await page.textContent(row)) ?? '', /\d (ETH|WETH)/);
  });

  test('which collection has moved most in a day', async () => {
    const page = await open('/');
    // The head of the change is before that of the volume.
    await perform(page, ['tab:24 h volume', 'Shift+Tab', 'Enter', 'wait:[aria-sort]:has-text("24 h")']);
    await waitUntilLoaded(page);
    const { data } = await app.service.ok('/explore/v1/collections?sort=change&window=24h&launchedFirst=false&limit=1');
    assert.equal(await page.textContent('.table-body [data-row]'), data[0].name);
  });

  test('whether the floor of a collection is current', async () => {
    const page = await open('/c/harbour-lights');
    await perform(page, ['tab:Floor', 'Enter', 'wait:.popover-row']);
    assert.match((await page.textContent('.popover')) ?? '', /As of/);
  });

  test('what has changed in the last hour', async () => {
    const page = await open('/');
    await perform(page, ['tab:1 h', 'Enter', 'wait:.table-head:has-text("1 h volume")']);
  });

  test('what is wrong with the service', async () => {
    const page = await open('/');
    await perform(page, ['g', 'o', 'wait:.problem']);
    assert.match((await page.textContent('.problem >> nth=0')) ?? '', /^No endpoint of Base works\.What to do:/);
  });

  test('forty mugs are back on stock', async () => {
    const { shop, page, enter } = await openShop();
    const { data } = await shop.client.createProduct({ name: 'Enamel mug', price: '10', inventory: 2 });
    await shop.client.createProduct({ name: 'Linen towel', price: '10', inventory: 2 });
    await enter();
    await perform(page, ['/', 'type:mug', 'wait:.table-body:not(:has-text("towel")) [data-row]']);
    await perform(page, ['ArrowDown', 's', 'type:+40', 'Enter', 'wait:.table-row:has-text("42")']);
    assert.equal((await shop.client.getProduct({ productId: data.id })).data.inventory, 42);
  });

  test('which product has a barcode', async () => {
    const { shop, page, enter } = await openShop();
    await shop.client.createProduct({ name: 'Enamel mug', price: '10', barcode: '4006381333931' });
    await enter();
    await perform(page, ['/', 'type:4006381333931', 'Enter', 'wait:.shop-title:has-text("Enamel mug")']);
  });

  test('why a webhook is off', async () => {
    const receiver = createServer((_request, response) => response.writeHead(410).end()).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { shop, page, enter } = await openShop();
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
    await shop.client.createWebhook({ url, events: ['product.*'] });
    await shop.client.createProduct({ name: 'Enamel mug', price: '10' });
    await enter();
    await perform(page, ['tab:Webhooks', 'Enter', 'wait:.table-body [data-row]', 'j', 'Enter', 'wait:.note-bad']);
    assert.match((await page.textContent('.note-bad')) ?? '', /410/);
    receiver.close();
  });
});
