// Tests that the pages of the market show complete data, and find what a user looks for.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DAY_MS, SELLER, newCollection, range } from '../../test/support/service/market.ts';
import { WHY_NO_BROWSER, visit } from './browser.ts';
import { setUpConsole } from './set-up.ts';

const ETHER = 10n ** 18n;
/** Two pages and a half of the list of sales. */
const SALES = 250;
/** Two pages and a half of the list of tokens of a wallet. */
const TOKENS = 120;

describe('the data of the market', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole();
  const subject = newCollection({ slug: 'sold-often' });
  const held = [newCollection({ slug: 'held-a' }), newCollection({ slug: 'held-b' })].sort((a, b) =>
    a.id < b.id ? -1 : 1,
  );

  before(async () => {
    const now = Date.now();
    const [first, second] = held;
    await app.service.load([
      subject.collection(),
      ...range(SALES).map((index) =>
        subject.sale(String(index), ETHER + BigInt(index), {
          timestamp: new Date(now - (20 * DAY_MS * (index + 1)) / SALES).toISOString(),
          tx: `0x${String(index).padStart(64, '0')}`,
        }),
      ),
      subject.sale('old', ETHER, { tokenId: '9999', timestamp: new Date(now - 40 * DAY_MS).toISOString() }),
      ...held.map((one, index) => one.collection({ tokensComplete: index === 1 })),
      ...range(3).map((index) => first?.token(String(index), { owner: SELLER }) ?? {}),
      ...range(TOKENS).map((index) => second?.token(String(index), { owner: SELLER }) ?? {}),
      second?.listing('7', ETHER / 2n) ?? {},
    ]);
  });

  test('a time range of the sales has all sales of this range, in the chart and in the table', async () => {
    const { page } = await app.open('/c/sold-often?tab=sales&range=month');
    await page.waitForSelector(`figcaption:has-text("All ${SALES} sales.")`);
    assert.equal(await page.locator('.table-body [data-row]').count(), SALES);
    await page.click('nav.segments >> text=7 d');
    const week = Math.floor((SALES * 7) / 20);
    await page.waitForSelector(`figcaption:has-text("All ${week} sales.")`);
  });

  test('a link with a trait that the collection does not have says so, and leads to the tokens', async () => {
    const { page } = await app.open('/c/held-b?trait.Hour=None');
    const state = page.locator('.state', { hasText: 'No token has the chosen traits.' });
    await state.filter({ hasText: 'there is no trait "Hour"' }).waitFor();
    assert.equal(await page.locator('.state-error').count(), 0);
    await page.click('.state >> text=Clear the traits');
    await page.waitForURL('**/c/held-b');
    await page.waitForSelector('.card-title');
  });

  test('a wallet has the number of its tokens in each collection, and their value at the floor, before its tokens are loaded', async () => {
    const { page } = await app.open(`/w/${SELLER}`);
    const titles = page.locator('.group-title');
    await titles.nth(1).locator('.group-figures').waitFor();
    assert.equal(await page.locator('.more-rows').count(), 1, 'not all tokens are loaded');
    // The holders of the first collection are not all known, so its number of tokens is a lower bound.
    assert.match((await titles.nth(0).textContent()) ?? '', /Tokens: 3 or moreValue at the floor: –/);
    assert.match(
      (await titles.nth(1).textContent()) ?? '',
      new RegExp(`Tokens: ${TOKENS}Value at the floor: ${TOKENS / 2} ETH`),
    );
    assert.match(
      (await page.textContent('.wallet-value')) ?? '',
      new RegExp(`^Value at the floor${TOKENS / 2} ETH2 collections, 1 without a known value$`),
    );
    await page.click('nav.tabs >> text=Collections');
    await page.waitForSelector('.table-body [data-row] >> nth=1');
    const rows = await page.locator('.table-body [role=row]').allTextContents();
    // The most valuable first. The value of the other one is not known.
    assert.deepEqual(
      rows.map((row) => /(3 or more|120)/.exec(row)?.[0]),
      ['120', '3 or more'],
    );
    assert.match((await page.textContent('.wallet-head')) ?? '', new RegExp(`Tokens${TOKENS + 3} or moreListed1$`));
  });

  test('the activity of a wallet names the collection of a token without a name, and not the wallet itself', async () => {
    const { page } = await app.open(`/w/${SELLER}?tab=activity`);
    const row = page.locator('.table-body [role=row]');
    await row.filter({ hasText: /^Name of held-[ab] #7.*Listed.*0\.5 ETH.*This wallet/ }).waitFor();
  });

  test('each tab of a collection and of a wallet has a title of its own', async () => {
    const { page } = await app.newPage();
    const titles: string[] = [];
    for (const path of [
      'c/held-b',
      'c/held-b?tab=sales',
      'c/held-b?tab=holders',
      `w/${SELLER}`,
      `w/${SELLER}?tab=orders`,
    ]) {
      await visit(page, `${app.service.url}/${path}`);
      titles.push(await page.title());
    }
    const [name, wallet] = ['Name of held-b', `${SELLER.slice(0, 6)}…${SELLER.slice(-4)}`];
    assert.deepEqual(titles, [
      `${name} · Mercat`,
      `Sales · ${name} · Mercat`,
      `Holders · ${name} · Mercat`,
      `${wallet} · Mercat`,
      `Orders · ${wallet} · Mercat`,
    ]);
  });

  test('an address leads from the search to its wallet, without a result of the service', async () => {
    const { page } = await app.open('/');
    await page.route('**/explore/v1/search*', (route) => route.abort());
    await page.fill('[name=q]', ` ${SELLER} `);
    await page.waitForSelector('.search-result:has-text("Wallet")');
    await page.press('[name=q]', 'Enter');
    await page.waitForURL(`**/w/${SELLER}`);
  });

  test('the arrow keys move through the results of the search, and an empty search lists what was opened last', async () => {
    const { page } = await app.open('/');
    await page.fill('[name=q]', 'held');
    await page.waitForSelector('.search-result >> nth=1');
    const second = await page.textContent('.search-result >> nth=1 >> .search-name');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForSelector(`h1:has-text("${second}")`);
    await page.keyboard.press('/');
    await page.waitForSelector(`.search-result:has-text("${second}")`);
    assert.match((await page.textContent('.search-results')) ?? '', /^Opened last/);
  });
});
