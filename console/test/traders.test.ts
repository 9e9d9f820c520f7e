// Tests what traders need from the pages of the market: a dense list, charts with units, and links to where a token is traded.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import type { TestService } from '../../test/support/service/service.ts';
import { startTestService } from '../../test/support/service/service.ts';
import { PATIENT, WHY_NO_BROWSER, launchBrowser, openPage, visit, waitUntilLoaded } from './browser.ts';

const DESKTOP = { width: 1_280, scheme: 'light' } as const;
const COLLECTION = 'harbour-lights';

describe('the market for traders', { skip: WHY_NO_BROWSER ?? false }, () => {
  let service: TestService;
  let browser: Browser;
  before(async () => {
    service = await startTestService({
      settings: { DATA_DIR: await directoryWithDatabase(), ...PATIENT },
      sample: true,
    });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await service.close();
    await cleanUp();
  });

  test('a click on the head of a column sorts the list, and the rows are 40 pixels high', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    await visit(page, `${service.url}/`);
    assert.match((await page.textContent('[aria-sort]')) ?? '', /^Total volume/);
    await page.click('.sort-head:has-text("Floor")');
    await page.waitForURL('**/?sort=floor');
    await waitUntilLoaded(page);
    assert.match((await page.textContent('[aria-sort]')) ?? '', /^Floor/);
    const heights = await page.evaluate(
      `Array.from(document.querySelectorAll('.table-group .table-row'), (row) => row.getBoundingClientRect().height)`,
    );
    assert.ok(Array.isArray(heights) && heights.length > 9 && heights.every((height) => height <= 41), String(heights));
    await context.close();
  });

  test('the charts show the values at the pointer, with their units', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    for (const [tab, expected] of [
      ['history&range=week', /Floor: 0\.\d+ ETH/],
      ['sales', /Price: \d+\.\d+ ETH/],
      ['depth', /\d\.\d+ ETHTokens: \d+/],
    ] as const) {
      await visit(page, `${service.url}/c/${COLLECTION}?tab=${tab}`);
      await page.locator('.u-over').scrollIntoViewIfNeeded();
      await page.hover('.u-over', { position: { x: 600, y: 60 } });
      assert.match((await page.textContent('.chart-tooltip:not([hidden])')) ?? '', expected, tab);
      await page.hover('h2');
      assert.equal(await page.isVisible('.chart-tooltip'), false);
    }
    await context.close();
  });

  test('a token has links to its marketplace and its block explorer, and a sale to its transaction', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    const { data } = await service.ok(`/explore/v1/collections/${COLLECTION}/tokens?limit=1`);
    const [{ chain, contractAddress, tokenId }] = data;
    await visit(page, `${service.url}/t/${chain}/${contractAddress}/${tokenId}`);
    await page.waitForSelector(`a[href="https://opensea.io/item/ethereum/${contractAddress}/${tokenId}"]`);
    await page.waitForSelector(`a[href="https://etherscan.io/nft/${contractAddress}/${tokenId}"]`);
    await visit(page, `${service.url}/c/${COLLECTION}?tab=sales`);
    const link = page.locator('.table-body a[href^="https://etherscan.io/tx/0x"]').first();
    assert.deepEqual(
      [await link.getAttribute('target'), await link.getAttribute('rel')],
      ['_blank', 'noreferrer noopener'],
    );
    await context.close();
  });
});
