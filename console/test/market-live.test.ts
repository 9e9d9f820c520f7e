// Tests that the pages of the market display the changes of the change stream.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import { newCollection } from '../../test/support/service/market.ts';
import type { TestService } from '../../test/support/service/service.ts';
import { startTestService } from '../../test/support/service/service.ts';
import { PATIENT, WHY_NO_BROWSER, launchBrowser, openPage, visit } from './browser.ts';

const DESKTOP = { width: 1_280, scheme: 'light' } as const;
const ETHER = 10n ** 18n;

describe('the change stream in the market', { skip: WHY_NO_BROWSER ?? false }, () => {
  let service: TestService;
  let browser: Browser;
  const subject = newCollection({ slug: 'live' });
  const other = newCollection({ slug: 'other' });

  before(async () => {
    service = await startTestService({ settings: { DATA_DIR: await directoryWithDatabase(), ...PATIENT } });
    await service.load([
      subject.collection(),
      subject.listing('1', 2n * ETHER),
      subject.token('1'),
      subject.token('2'),
      other.collection(),
      other.token('7'),
    ]);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await service.close();
    await cleanUp();
  });

  const sell = (tokenId: string, price: bigint) =>
    service.load([
      subject.sale(tokenId, price, { timestamp: new Date().toISOString(), tx: `0x${tokenId.padStart(64, '0')}` }),
    ]);

  /** Returns `open`, the requests of the streams that are open now, and `opened`, the URLs of all streams that the page has opened. */
  const watchStreams = (page: Page) => {
    const opened: URL[] = [];
    const open = new Set<object>();
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (!url.pathname.endsWith('/stream')) return;
      opened.push(url);
      open.add(request);
    });
    for (const event of ['requestfailed', 'requestfinished'] as const)
      page.on(event as 'requestfailed', (request) => void open.delete(request));
    return { opened, open };
  };

  const setVisibility = (page: Page, state: 'hidden' | 'visible') =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
      document.dispatchEvent(new Event('visibilitychange'))`);

  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  test('a sale appears among the latest sales, and a new floor in the row of its collection', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    const { open } = watchStreams(page);
    await visit(page, `${service.url}/`);
    await until(() => open.size === 1);
    await sell('101', 3n * ETHER);
    await page.waitForSelector('.ticker-sale.flash >> text=#101');
    assert.match((await page.textContent('.ticker-sale')) ?? '', /3 ETH/);
    await service.load([subject.listing('2', ETHER)]);
    await page.waitForSelector('.market-collections [role=row]:has-text("Name of live") .flash');
    await page.waitForSelector('.market-collections [role=row]:has-text("Name of live") >> text=/^1 ETH/');
    await context.close();
  });

  test('an open activity tab shows a new sale in its first row', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    const { open } = watchStreams(page);
    await visit(page, `${service.url}/c/live?tab=activity`);
    await until(() => open.size === 1);
    await sell('102', 4n * ETHER);
    await page.waitForSelector('.table-row.flash >> text=#102');
    assert.match((await page.textContent('.table-body .table-row')) ?? '', /Sold/);
    await context.close();
  });

  test('after the user opens another collection, the page does not show the tokens of the previous collection', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    const { promise: isChecked, resolve: check } = Promise.withResolvers<void>();
    await page.route(`**/collections/${other.id}/tokens*`, async (route) => {
      await isChecked;
      await route.continue();
    });
    await visit(page, `${service.url}/`);
    await page.click('[data-row]:has-text("Name of live")');
    await page.waitForSelector('.card-title');
    await page.fill('[name=q]', 'other');
    await page.waitForSelector('.search-results >> text=Name of other');
    await page.press('[name=q]', 'Enter');
    await page.waitForSelector('h1 >> text=Name of other');
    assert.deepEqual(await page.locator('.card-title').allTextContents(), []);
    check();
    await context.close();
  });

  test('the row of a collection without a floor shows the buyer floor after the first listing', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    const { open } = watchStreams(page);
    // Changes the response, so that the collection seems to have no stored buyer floor yet.
    await page.route(`**/collections/${other.id}`, async (route) => {
      const response = await route.fetch();
      const { data, meta } = await response.json();
      await route.fulfill({ response, json: { data: { ...data, stats: { ...data.stats, buyerFloor: null } }, meta } });
    });
    await visit(page, `${service.url}/`);
    await until(() => open.size === 1);
    await service.load([other.listing('7', 6n * ETHER)]);
    const row = page.locator('.market-collections [role=row]:has-text("Name of other")');
    await row.locator('text=/^6 ETH/').nth(1).waitFor();
    await context.close();
  });

  test('a page has one stream, closes the stream while the page is hidden, and then continues after the last offset', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    const { opened, open } = watchStreams(page);
    await visit(page, `${service.url}/`);
    await until(() => open.size === 1);
    await sell('103', 5n * ETHER);
    await page.waitForSelector('.ticker-sale >> text=#103');
    await page.click('.market-collections [data-row]');
    await page.waitForURL('**/c/live');
    await until(() => opened.some(({ searchParams }) => searchParams.get('collections') === subject.id));
    await until(() => open.size === 1);

    await setVisibility(page, 'hidden');
    await until(() => open.size === 0);
    const before = opened.length;
    await setVisibility(page, 'visible');
    await until(() => open.size === 1);
    assert.equal(opened.length, before + 1);
    const { data } = await service.ok('/explore/v1/activity?limit=1');
    const from = opened.at(-1)?.searchParams.get('from') ?? '';
    assert.match(from, /^\d{16}$/);
    assert.ok(from <= data[0].offset);
    await context.close();
  });
});
