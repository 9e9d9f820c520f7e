// Tests what the market pages of the console load and render. How long this takes on a machine is measured by `npm run bench console`.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { newCollection } from '../../test/support/service/market.ts';
import { IS_FIREFOX, WHY_NO_BROWSER, visit } from './browser.ts';
import { setUpConsole } from './set-up.ts';

const LAYOUT_SHIFT_MAX = 0.05;
const SCRIPT_BYTES_MAX = 170_000;
/** Requests for the interfaces until the table can be used. */
const READS_MAX = 12;
const COLLECTIONS = 1_000;

const options = { skip: WHY_NO_BROWSER ?? false };

describe('the start page on the sample', options, () => {
  const app = setUpConsole({ sample: true });

  test('it loads few scripts and sends few requests', async () => {
    const { page } = await app.newPage();
    await visit(page, `${app.service.url}/`);
    const resources = await entriesOf(page, 'resource');
    const bytes = resources
      .filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    assert.ok(bytes > 0 && bytes < SCRIPT_BYTES_MAX, `${bytes} bytes of scripts`);
    const reads = resources.filter(({ name }) => name.includes('/v1/')).map(({ name }) => name);
    assert.ok(reads.length > 0 && reads.length <= READS_MAX, `requests: ${reads.join(', ')}`);
  });

  test('it has a stable layout', { skip: IS_FIREFOX && 'Firefox does not report how the layout shifts' }, async () => {
    const { page } = await app.newPage();
    await visit(page, `${app.service.url}/`);
    const shifts = await entriesOf(page, 'layout-shift');
    const shift = shifts.reduce((sum, { value }) => sum + value, 0);
    assert.ok(shift < LAYOUT_SHIFT_MAX, `layout shift: ${JSON.stringify(shifts)}`);
  });
});

describe('the start page with many collections', options, () => {
  const app = setUpConsole();
  before(async () => {
    await app.service.load(
      Array.from({ length: COLLECTIONS }, () => {
        const { collection, listing } = newCollection();
        return [collection(), listing('1', 10n ** 18n)];
      }).flat(),
    );
  });

  test('scrolling loads all 1,000 rows, each of them once', async () => {
    const { page } = await app.open('/');
    const rows = page.locator('.market-collections [data-row]');
    await page.mouse.move(400, 500);
    for (let count = await rows.count(); count < COLLECTIONS; count = await rows.count()) {
      await page.mouse.wheel(0, 4_000);
      // The rows are loaded although the user does not move any more.
      await page.waitForFunction(`document.querySelectorAll('.market-collections [data-row]').length > ${count}`);
    }
    const links = await page.evaluate<string[]>(
      `Array.from(document.querySelectorAll('.market-collections [data-row]'), ({ href }) => href)`,
    );
    assert.equal(new Set(links).size, COLLECTIONS);
    assert.equal(links.length, COLLECTIONS);
  });
});

type Entry = { name: string; value: number; encodedBodySize: number };

/** How long the browser may take to report entries. A page without entries of a kind reports none. */
const ENTRIES_WITHIN_MS = 1_000;

/** Returns the performance entries that the browser has recorded so far, including the entries from before the call. */
async function entriesOf(page: Page, type: string): Promise<Entry[]> {
  return page.evaluate<Entry[]>(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().map((entry) => entry.toJSON())))
      .observe({ type: '${type}', buffered: true });
    setTimeout(() => resolve([]), ${ENTRIES_WITHIN_MS});
  })`);
}
