// Opens the pages of the market in a real browser: with the sample marketplace, with an empty database, and while the service is stopped.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit, waitUntilLoaded } from './browser.ts';
import { setUpConsole } from './set-up.ts';

const COLLECTION = 'harbour-lights';
const PRICES = { PRICE_SOURCES: 'fixed', FIXED_PRICES: 'ETH=3000,SOL=140,POL=0.5,APE=1.2' };
const options = { skip: WHY_NO_BROWSER ?? false };

describe('the market on the sample', options, () => {
  const app = setUpConsole({ settings: PRICES, sample: true });
  /** The paths of the pages, by the names of their screenshots. */
  const paths: Record<string, string> = {};

  before(async () => {
    const { data } = await app.service.ok(`/explore/v1/collections/${COLLECTION}/tokens?limit=1`);
    const [{ chain, contractAddress, tokenId, owner }] = data;
    Object.assign(paths, {
      market: '/',
      'market-chain': '/?chain=solana&sort=floor',
      collection: `/c/${COLLECTION}`,
      'collection-table': `/c/${COLLECTION}?view=table&show=all`,
      history: `/c/${COLLECTION}?tab=history&range=all`,
      sales: `/c/${COLLECTION}?tab=sales`,
      activity: `/c/${COLLECTION}?tab=activity`,
      depth: `/c/${COLLECTION}?tab=depth`,
      holders: `/c/${COLLECTION}?tab=holders`,
      token: `/t/${chain}/${contractAddress}/${tokenId}`,
      wallet: `/w/${owner.address}`,
      'wallet-collections': `/w/${owner.address}?tab=collections`,
      'wallet-orders': `/w/${owner.address}?tab=orders`,
      'wallet-activity': `/w/${owner.address}?tab=activity`,
      orders: `/c/${COLLECTION}?tab=orders`,
    });
  });

  for (const look of LOOKS) {
    test(`every page is complete, accessible and without errors at ${look.width} px, ${look.scheme}`, async () => {
      const opened = await app.newPage(look);
      for (const [name, path] of Object.entries(paths)) {
        await visit(opened.page, app.service.url + path);
        await assertGoodPage(opened, name, look);
      }
    });
  }

  test('a user can find, open and close a collection with the keyboard alone', async () => {
    const { page } = await app.open('/');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const name = await page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/c/*');
    await waitUntilLoaded(page);
    assert.equal(await page.textContent('h1'), name);
    await page.keyboard.press('Escape');
    await page.waitForURL(`${app.service.url}/`);
    await page.keyboard.press('/');
    await page.keyboard.type(COLLECTION);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/c/${COLLECTION}`);
    await page.keyboard.press('?');
    assert.equal(
      await page.isVisible('dialog[open]'),
      false,
      'the key ? opened the help, so the search field has lost the focus',
    );
  });

  test('a click on the name of a figure shows where the figure comes from', async () => {
    const { page } = await app.open(`/c/${COLLECTION}`);
    await page.click('.figure-name >> nth=0');
    await page.waitForSelector('.popover-row');
    assert.match((await page.textContent('.popover')) ?? '', /Counted in a complete list/);
  });

  test('while the service does not respond, the page says so and keeps its figures; afterwards the page continues by itself', async () => {
    const { page } = await app.open(`/c/${COLLECTION}`);
    const figures = await page.textContent('.figure-list');
    await app.stop();
    await page.click('nav.tabs a >> text=Depth');
    await page.waitForSelector('.connection-text');
    assert.equal(await page.textContent('.figure-list'), figures);
    await app.start();
    await page.waitForSelector('.connection-text', { state: 'detached' });
    await waitUntilLoaded(page);
    assert.ok(await page.isVisible('.chart'));
  });
});

describe('the market on an empty database', options, () => {
  const app = setUpConsole();

  for (const look of LOOKS) {
    test(`at ${look.width} px, ${look.scheme}, the page of an empty market names the command for imports`, async () => {
      const opened = await app.open('/', look);
      assert.match((await opened.page.textContent('main')) ?? '', /mercat import/);
      await assertGoodPage(opened, 'market-empty', look);
    });
  }

  test('the page of an unknown collection says that no collection has this id', async () => {
    const { page } = await app.newPage();
    await page.goto(`${app.service.url}/c/unknown`);
    await page.waitForSelector('.state');
    assert.match((await page.textContent('main')) ?? '', /No collection has this id/);
  });
});
