// Opens the pages of the market in a real browser: with the sample marketplace, with an empty database, and while the service is stopped.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import type { TestService } from '../../test/support/service/service.ts';
import { startTestService } from '../../test/support/service/service.ts';
import {
  LOOKS,
  PATIENT,
  WHY_NO_BROWSER,
  assertGoodPage,
  launchBrowser,
  openPage,
  visit,
  waitUntilLoaded,
} from './browser.ts';

const COLLECTION = 'harbour-lights';
const PRICES = { PRICE_SOURCES: 'fixed', FIXED_PRICES: 'ETH=3000,SOL=140,POL=0.5,APE=1.2' };
const DESKTOP = { width: 1_280, scheme: 'light' } as const;
const options = { skip: WHY_NO_BROWSER ?? false };

describe('the market on the sample', options, () => {
  let service: TestService;
  let browser: Browser;
  let settings: Record<string, string>;
  /** The paths of the pages, by the names of their screenshots. */
  const paths: Record<string, string> = {};

  before(async () => {
    settings = { DATA_DIR: await directoryWithDatabase(), ...PATIENT, ...PRICES };
    service = await startTestService({ settings, sample: true });
    browser = await launchBrowser();
    const { data } = await service.ok(`/explore/v1/collections/${COLLECTION}/tokens?limit=1`);
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
      'wallet-listings': `/w/${owner.address}?tab=listings`,
    });
  });
  after(async () => {
    await browser.close();
    await service.close();
    await cleanUp();
  });

  for (const look of LOOKS) {
    test(`every page is complete, accessible and without errors at ${look.width} px, ${look.scheme}`, async () => {
      const opened = await openPage(browser, look);
      for (const [name, path] of Object.entries(paths)) {
        await visit(opened.page, service.url + path);
        await assertGoodPage(opened, name, look);
      }
      await opened.context.close();
    });
  }

  test('a user can find, open and close a collection with the keyboard alone', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    await visit(page, `${service.url}/`);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const name = await page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/c/*');
    await waitUntilLoaded(page);
    assert.equal(await page.textContent('h1'), name);
    await page.keyboard.press('Escape');
    await page.waitForURL(`${service.url}/`);
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
    await context.close();
  });

  test('a click on the name of a figure shows where the figure comes from', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    await visit(page, `${service.url}/c/${COLLECTION}`);
    await page.click('.figure-name >> nth=0');
    await page.waitForSelector('.popover-row');
    assert.match((await page.textContent('.popover')) ?? '', /Counted in a complete list/);
    await context.close();
  });

  test('while the service does not respond, the page says so and keeps its figures; afterwards the page continues by itself', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    await visit(page, `${service.url}/c/${COLLECTION}`);
    const figures = await page.textContent('.figure-list');
    const { port } = new URL(service.url);
    await service.close();
    await page.click('nav.tabs a >> text=Depth');
    await page.waitForSelector('.connection-text');
    assert.equal(await page.textContent('.figure-list'), figures);
    service = await startTestService({ settings: { ...settings, PORT: port }, sample: true });
    await page.waitForSelector('.connection-text', { state: 'detached' });
    await waitUntilLoaded(page);
    assert.ok(await page.isVisible('.chart'));
    await context.close();
  });
});

describe('the market on an empty database', options, () => {
  let service: TestService;
  let browser: Browser;

  before(async () => {
    service = await startTestService({ settings: { DATA_DIR: await directoryWithDatabase(), ...PATIENT } });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await service.close();
    await cleanUp();
  });

  for (const look of LOOKS) {
    test(`at ${look.width} px, ${look.scheme}, the page of an empty market names the command for imports`, async () => {
      const opened = await openPage(browser, look);
      await visit(opened.page, `${service.url}/`);
      assert.match((await opened.page.textContent('main')) ?? '', /mercat import/);
      await assertGoodPage(opened, 'market-empty', look);
      await opened.context.close();
    });
  }

  test('the page of an unknown collection says that no collection has this id', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    await page.goto(`${service.url}/c/unknown`);
    await page.waitForSelector('.state');
    assert.match((await page.textContent('main')) ?? '', /No collection has this id/);
    await context.close();
  });
});
