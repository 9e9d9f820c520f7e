// Tests that the pages of the market display the changes of the change stream.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { MINUTE_MS, newCollection, range } from '../../test/support/service/market.ts';
import { WHY_NO_BROWSER, visit } from './browser.ts';
import { DESKTOP, setUpConsole } from './set-up.ts';

const ETHER = 10n ** 18n;
const BUSY_MS = 24_000;

describe('the change stream in the market', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole();
  const subject = newCollection({ slug: 'live' });
  const other = newCollection({ slug: 'other' });
  const quiet = newCollection({ slug: 'quiet' });
  const many = range(6).map((number) => newCollection({ slug: `many-${number}` }));

  before(async () => {
    await app.service.load([
      subject.collection(),
      subject.listing('1', 2n * ETHER),
      subject.token('1'),
      subject.token('2'),
      other.collection(),
      other.token('7'),
      quiet.collection(),
      quiet.listing('1', 2n * ETHER),
      ...many.map((one) => one.collection()),
    ]);
  });

  const sell = (tokenId: string, price: bigint) =>
    app.service.load([
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
    const { page } = await app.newPage();
    const { open } = watchStreams(page);
    await visit(page, `${app.service.url}/`);
    await until(() => open.size === 1);
    await sell('101', 3n * ETHER);
    await page.waitForSelector('.ticker-sale.flash >> text=#101');
    assert.match((await page.textContent('.ticker-sale')) ?? '', /3 ETH/);
    const flash = page.waitForSelector('.market-collections [role=row]:has-text("Name of live") .flash');
    await app.service.load([subject.listing('2', ETHER)]);
    await flash;
    await page.waitForSelector('.market-collections [role=row]:has-text("Name of live") >> text=/^1 ETH/');
  });

  test('an open activity tab shows a new sale in its first row', async () => {
    const { page } = await app.newPage();
    const { open } = watchStreams(page);
    await visit(page, `${app.service.url}/c/live?tab=activity`);
    await until(() => open.size === 1);
    await sell('102', 4n * ETHER);
    await page.waitForSelector('.table-row.flash >> text=#102');
    assert.match((await page.textContent('.table-body .table-row')) ?? '', /Sold/);
  });

  test('after the user opens another collection, the page does not show the tokens of the previous collection', async () => {
    const { page } = await app.newPage();
    const { promise: isChecked, resolve: check } = Promise.withResolvers<void>();
    await page.route(`**/collections/${other.id}/tokens*`, async (route) => {
      await isChecked;
      await route.continue();
    });
    await visit(page, `${app.service.url}/`);
    await page.click('[data-row]:has-text("Name of live")');
    await page.waitForSelector('.card-title');
    await page.fill('[name=q]', 'other');
    await page.waitForSelector('.search-results >> text=Name of other');
    await page.press('[name=q]', 'Enter');
    await page.waitForSelector('h1 >> text=Name of other');
    assert.deepEqual(await page.locator('.card-title').allTextContents(), []);
    check();
  });

  const rowOf = (page: Page, slug: string) =>
    page.locator(`.market-collections [role=row]:has-text("Name of ${slug}")`);

  test('a row shows the floor, the total of the buyer and the listed count of one response', async () => {
    const { page } = await app.newPage();
    const { open } = watchStreams(page);
    const floors: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/floor')) floors.push(request.url());
    });
    await visit(page, `${app.service.url}/`);
    await until(() => open.size === 1);
    await app.service.load([other.listing('7', 6n * ETHER, { buyerTotalRaw: String(7n * ETHER) })]);
    await rowOf(page, 'other').locator('text=/^6 ETH/').waitFor();
    await rowOf(page, 'other').locator('text=/^7 ETH/').waitFor();
    await page.click('[data-row]:has-text("Name of other")');
    await page.waitForSelector('.figure-list >> text=/^7 ETH/');
    assert.deepEqual(floors, []);
  });

  test('an earlier total of the buyer is shown with its age, in the market and on the page of the collection', async () => {
    const { page } = await app.newPage();
    const observedAt = new Date(Date.now() - 12.5 * MINUTE_MS).toISOString();
    const age = (collection: any) => {
      const { stats } = collection;
      const buyerFloor = stats.buyerFloor && { ...stats.buyerFloor, stale: true, observedAt };
      return { ...collection, stats: { ...stats, buyerFloor } };
    };
    // Changes the response, because the service serves an earlier total only while its sources fail.
    await page.route(/\/explore\/v1\/collections(\?|\/[^/]*$)/, async (route) => {
      const response = await route.fetch();
      const { data, ...rest } = await response.json();
      await route.fulfill({ response, json: { ...rest, data: Array.isArray(data) ? data.map(age) : age(data) } });
    });
    await visit(page, `${app.service.url}/`);
    await rowOf(page, 'live').locator('.stale >> text=12 min ago').waitFor();
    await visit(page, `${app.service.url}/c/live`);
    await page.waitForSelector('.figure-list .stale >> text=12 min ago');
  });

  test('a row is read again after each change of its collection: a listing above the floor, its end', async () => {
    const { page } = await app.newPage({ ...DESKTOP, width: 1_920 });
    const { open } = watchStreams(page);
    await visit(page, `${app.service.url}/`);
    await until(() => open.size === 1);
    const row = rowOf(page, 'quiet');
    await row.locator('text=/^1 tokens/').waitFor();
    const above = quiet.listing('2', 9n * ETHER, { id: 'above' });
    await app.service.load([above]);
    await row.locator('text=/^2 tokens/').waitFor();
    await app.service.load([{ ...above, status: 'cancelled' }]);
    await row.locator('text=/^1 tokens/').waitFor();
  });

  test('if many collections change at once, their rows are read in one request', async () => {
    const { page } = await app.newPage();
    const { open } = watchStreams(page);
    await visit(page, `${app.service.url}/`);
    await until(() => open.size === 1);
    const ids = new Set(many.map(({ id }) => id));
    const reads: string[][] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.includes('/collections')) reads.push((searchParams.get('ids') ?? 'another read').split(','));
    });
    await app.service.load(many.map((one) => one.listing('1', ETHER / 2n)));
    for (const { slug } of many) await rowOf(page, slug).locator('text=/^0.5 ETH/').first().waitFor();
    // Late events of an earlier test can cause a read of other rows.
    assert.deepEqual(
      reads.filter((read) => read.some((id) => ids.has(id))).map((read) => read.filter((id) => ids.has(id)).sort()),
      [[...ids].sort()],
    );
  });

  test('a busy page with much live data causes at most 40 requests a minute', async () => {
    const { page } = await app.newPage();
    const { open } = watchStreams(page);
    await visit(page, `${app.service.url}/t/ethereum/${subject.address}/1`);
    await until(() => open.size === 1);
    const reads: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/')) reads.push(request.url());
    });
    const begin = performance.now();
    for (let price = 3n; performance.now() - begin < BUSY_MS; price += 1n) {
      await app.service.load([subject.listing('1', price * ETHER)]);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const seconds = (performance.now() - begin) / 1_000;
    assert.ok(reads.length >= 3, `only ${reads.length} requests: nothing was read again`);
    // The first read of each of the three comes at once.
    assert.ok(reads.length <= 3 + seconds * (40 / 60), `${reads.length} requests in ${seconds} s: ${reads.join(' ')}`);
  });

  test('nothing is read again by time while the stream is open, and everything while it is away', async () => {
    const { page } = await app.newPage();
    await page.clock.install();
    const { open } = watchStreams(page);
    const reads: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/explore/v1/') && !pathname.endsWith('/stream')) reads.push(pathname.slice(12));
    });
    const connected = page.waitForResponse('**/stream*');
    await visit(page, `${app.service.url}/c/live?tab=activity`);
    await page.clock.runFor(1_000);
    await connected;
    reads.length = 0;
    await page.clock.runFor(31_000);
    assert.deepEqual(reads, []);
    await page.route('**/stream*', (route) => route.abort());
    await setVisibility(page, 'hidden');
    await page.clock.runFor(1_000);
    await setVisibility(page, 'visible');
    await page.clock.runFor(1_000);
    await until(() => open.size === 0);
    reads.length = 0;
    await page.clock.runFor(31_000);
    await until(() => ['activity', 'collections/live'].every((read) => reads.some((one) => one === read)));
  });

  test('the filter by kind lists the activity of this kind, and new events of this kind only', async () => {
    const { page } = await app.newPage();
    const { open } = watchStreams(page);
    await visit(page, `${app.service.url}/c/live?tab=activity`);
    await page.click('nav.segments >> text=Listings');
    await page.waitForURL('**/c/live?tab=activity&kind=listings');
    await until(() => open.size === 1);
    await sell('104', 6n * ETHER);
    await app.service.load([subject.listing('105', 7n * ETHER)]);
    await page.waitForSelector('.table-row.flash >> text=#105');
    const kinds = await page.locator('.table-body .activity-kind').allTextContents();
    assert.ok(kinds.length >= 2 && kinds.every((kind) => /^(Listed|New price)$/.test(kind)), kinds.join());
    await page.click('nav.segments >> text=Sales');
    await page.waitForSelector('.table-row >> text=#104');
  });

  test('a page has one stream, closes the stream while the page is hidden, and then continues after the last offset', async () => {
    const { page } = await app.newPage();
    const { opened, open } = watchStreams(page);
    await visit(page, `${app.service.url}/`);
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
    const { data } = await app.service.ok('/explore/v1/activity?limit=1');
    const from = opened.at(-1)?.searchParams.get('from') ?? '';
    assert.match(from, /^[\da-f]{12}-\d{16}$/);
    assert.ok(from <= data[0].offset);
  });
});
