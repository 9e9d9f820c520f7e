// Tests what traders need from the pages of the market: a dense list, charts with units, and links to where a token is traded.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WHY_NO_BROWSER, visit, waitUntilLoaded } from './browser.ts';
import { setUpConsole } from './set-up.ts';

const COLLECTION = 'harbour-lights';

describe('the market for traders', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole({ sample: true });

  test('a click on a head sorts by the figures of the chosen period, a second click turns the order, and the order is that of the service', async () => {
    const { page } = await app.open('/');
    const sorted = () =>
      page.locator('[aria-sort]').evaluate((head) => [head.textContent, head.getAttribute('aria-sort')]);
    /** Waits until the table has the rows of the service's list with these parameters. */
    const waitForList = async (parameters: string) => {
      const { data } = await app.service.ok(`/explore/v1/collections?limit=25&${parameters}`);
      const paths = data.map(({ slug, id }: { slug: string | null; id: string }) => `/c/${slug ?? id}`);
      await page.waitForFunction(
        `Array.from(document.querySelectorAll('.market-collections [data-row]'), (row) => row.pathname).join() === '${paths.join()}'`,
      );
    };
    // The first list has the collections that were launched on the service before all others, so it is not sorted by a figure.
    assert.equal(await page.locator('[aria-sort]').count(), 0);
    assert.equal(await page.inputValue('select[aria-label=Sort]'), 'launched');
    await waitForList('sort=volume&window=24h');
    await page.click('.sort-head:has-text("24 h volume")');
    assert.deepEqual(await sorted(), ['24 h volume', 'descending']);
    await waitForList('sort=volume&window=24h&launchedFirst=false');
    for (const [period, window] of [
      ['1 h', '1h'],
      ['7 d', '7d'],
      ['30 d', '30d'],
    ] as const) {
      await page.click(`nav.segments >> text="${period}"`);
      for (const [head, sort] of [
        [`${period} volume`, 'volume'],
        [`${period} sales`, 'sales'],
        [period, 'change'],
      ] as const) {
        const link = page.locator('.sort-head').filter({ hasText: new RegExp(`^${head}$`) });
        if ((await sorted())[0] !== head) await link.click();
        await waitForList(`sort=${sort}&window=${window}&launchedFirst=false`);
        assert.deepEqual(await sorted(), [head, 'descending']);
        await link.click();
        await waitForList(`sort=${sort}&window=${window}&order=asc&launchedFirst=false`);
        assert.deepEqual(await sorted(), [head, 'ascending']);
      }
    }
  });

  test('the list is also sorted by floor and by the number of listed tokens, and its rows are 40 pixels high', async () => {
    const { page } = await app.open('/?window=all');
    await page.click('.sort-head:has-text("Total volume")');
    await page.waitForURL('**/?window=all&sort=volume');
    assert.match((await page.textContent('[aria-sort]')) ?? '', /^Total volume/);
    await page.click('.sort-head:has-text("Listed")');
    await page.waitForURL('**/?window=all&sort=listed');
    await page.selectOption('select[aria-label=Sort]', 'floor');
    await page.waitForURL('**/?window=all&sort=floor');
    await waitUntilLoaded(page);
    assert.match((await page.textContent('[aria-sort]')) ?? '', /^Floor/);
    const heights = await page.evaluate(
      `Array.from(document.querySelectorAll('.table-group .table-row'), (row) => row.getBoundingClientRect().height)`,
    );
    assert.ok(Array.isArray(heights) && heights.length > 9 && heights.every((height) => height <= 41), String(heights));
  });

  for (const [name, path, selector] of [
    ['the table of the market', '/', '.market-collections [data-row]'],
    ['the tokens of a collection', `/c/${COLLECTION}`, '.card-title'],
  ] as const) {
    test(`a page sends at most 12 requests before ${name} can be used`, async () => {
      const { page } = await app.newPage();
      const sent: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith('data:')) sent.push(request.url());
      });
      await page.goto(app.service.url + path);
      await page.waitForSelector(selector);
      assert.ok(sent.length <= 12, sent.join(' '));
    });
  }

  test('collections that were launched on the service are marked', async () => {
    const { page } = await app.open('/');
    const { data } = await app.service.ok('/explore/v1/collections?limit=25&window=24h');
    const marked = await page.locator('.table-body [role=row]:has(.launched) [data-row]').allTextContents();
    assert.deepEqual(
      marked,
      data.filter(({ launched }: { launched: boolean }) => launched).map(({ name }: { name: string }) => name),
    );
    assert.ok(marked.length > 0);
  });

  test('the bars of the holders can be compared: the largest one is full', async () => {
    const { page } = await app.open(`/c/${COLLECTION}?tab=holders`);
    const widths = await page.evaluate<number[]>(
      `Array.from(document.querySelectorAll('.panel:last-child .share-bar-track span'), ({ style }) => parseFloat(style.width))`,
    );
    assert.equal(widths[0], 100);
    assert.ok(widths.length > 5 && widths.every((width) => width > 5), widths.join());
  });

  test('the table of tokens has all its columns inside', async () => {
    const { page } = await app.open(`/c/${COLLECTION}?view=table`);
    const [table, last] = await page.evaluate<[number, number]>(`[
      document.querySelector('[role=table]').getBoundingClientRect().right,
      Math.max(...Array.from(document.querySelectorAll('[role=cell], [role=columnheader]'), (cell) => cell.getBoundingClientRect().right)),
    ]`);
    assert.ok(last <= table, `${last} is right of ${table}`);
  });

  test('the charts show the values at the pointer, with their units', async () => {
    const { page } = await app.newPage();
    for (const [tab, expected] of [
      ['history&range=week', /Floor: 0\.\d+ ETH/],
      ['sales', /Price: \d+\.\d+ ETH/],
      ['depth', /\d\.\d+ ETHTokens: \d+/],
    ] as const) {
      await visit(page, `${app.service.url}/c/${COLLECTION}?tab=${tab}`);
      await page.locator('.u-over').scrollIntoViewIfNeeded();
      await page.hover('.u-over', { position: { x: 600, y: 60 } });
      assert.match((await page.textContent('.chart-tooltip:not([hidden])')) ?? '', expected, tab);
      await page.hover('h2');
      assert.equal(await page.isVisible('.chart-tooltip'), false);
    }
  });

  test('a token has links to its marketplace and its block explorer, and a sale to its transaction', async () => {
    const { page } = await app.newPage();
    const { data } = await app.service.ok(`/explore/v1/collections/${COLLECTION}/tokens?limit=1`);
    const [{ chain, contractAddress, tokenId }] = data;
    await visit(page, `${app.service.url}/t/${chain}/${contractAddress}/${tokenId}`);
    await page.waitForSelector(`a[href="https://opensea.io/item/ethereum/${contractAddress}/${tokenId}"]`);
    await page.waitForSelector(`a[href="https://etherscan.io/nft/${contractAddress}/${tokenId}"]`);
    await visit(page, `${app.service.url}/c/${COLLECTION}?tab=sales`);
    const link = page.locator('.table-body a[href^="https://etherscan.io/tx/0x"]').first();
    assert.deepEqual(
      [await link.getAttribute('target'), await link.getAttribute('rel')],
      ['_blank', 'noreferrer noopener'],
    );
  });
});
