// Tests that a buyer sees what a token costs in all, and all orders of a token.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { SELLER, newCollection, range } from '../../test/support/service/market.ts';
import { WHY_NO_BROWSER } from './browser.ts';
import { setUpConsole } from './set-up.ts';

const ETHER = 10n ** 18n;
const PICTURE = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
/** More than two pages of tokens. */
const TOKENS = 120;

describe('the prices for a buyer', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole();
  const small = newCollection({ slug: 'small' });
  const large = newCollection({ slug: 'large' });
  /** The asks rise with the ids. Each third token has a total far above its ask. */
  const askOf = (id: number) => ETHER + BigInt(id) * (ETHER / 1_000n);
  const totalOf = (id: number) => (id % 3 === 0 ? askOf(id) * 2n : askOf(id));

  before(async () => {
    await app.service.load([
      small.collection({ royaltyBps: 500 }),
      small.token('1', { name: 'Evening', image: PICTURE }),
      small.order('1', 2n * ETHER),
      small.token('2'),
      small.listing('2', 2n * ETHER + 1n, { buyerTotalRaw: String(2n * ETHER + 2n) }),
      small.order('3', 3n * ETHER, { seller: SELLER }),
      small.order('3', 4n * ETHER, { seller: SELLER, createdAt: new Date(Date.now() - 3_600_000).toISOString() }),
      large.collection(),
      ...range(TOKENS).flatMap((id) => [
        large.token(String(id)),
        large.listing(String(id), askOf(id), { buyerTotalRaw: String(totalOf(id)) }),
      ]),
    ]);
  });

  test('a card shows what a buyer pays, with the ask beside it, and the cheapest for a buyer comes first', async () => {
    const { page } = await app.open('/c/small');
    const cards = await page.locator('.card').allTextContents();
    assert.match(cards[0] ?? '', /^#22 ETH/);
    // Ask, platform fee (2 %) and royalty (5 %).
    assert.match(cards[1] ?? '', /^Evening2\.14 ETHAsk 2 ETH · Mercat$/);
    await page.click('nav.segments >> text=Ask');
    await page.waitForURL('**/c/small?sort=price');
    assert.match((await page.textContent('.card >> nth=0')) ?? '', /^Evening/);
  });

  test('the order by the total of a buyer is right over all pages', async () => {
    const { page } = await app.open('/c/large');
    const titles = page.locator('.card-title');
    await page.mouse.move(600, 500);
    for (let count = 0; count < TOKENS; count = await titles.count()) {
      await page.mouse.wheel(0, 4_000);
      await page.waitForTimeout(50);
    }
    const sorted = range(TOKENS).sort((a, b) => (totalOf(a) < totalOf(b) ? -1 : 1));
    assert.deepEqual(
      await titles.allTextContents(),
      sorted.map((id) => `#${id}`),
    );
  });

  test('the orders of a collection and of a wallet have every order, also the more expensive one of the same seller', async () => {
    const { page } = await app.open('/c/small?tab=orders');
    const rows = page.locator('.table-body [role=row]');
    await rows.filter({ hasText: 'Evening' }).locator(`img[src="${PICTURE}"]`).waitFor();
    const own = rows.filter({ hasText: '#3' });
    assert.equal(await rows.count(), 4);
    assert.deepEqual(
      (await own.allTextContents()).map((text) => /#3(\d\.\d+) ETH/.exec(text)?.[1]),
      ['3.21', '4.28'],
    );
    assert.deepEqual(
      (await rows.allTextContents()).map((text) => /\+?\d+(\.\d)?%/.exec(text)?.[0]),
      ['0%', '+7%', '+60.5%', '+114%'],
    );
    await page.click('nav.segments >> text=Filled');
    await page.waitForSelector('text=No order was filled.');
    const { page: wallet } = await app.open(`/w/${SELLER}?tab=orders`);
    await wallet.waitForSelector('.table-body [role=row]:has-text("Name of small"):has-text("4.28 ETH")');
  });

  test('the depth has all listed tokens', async () => {
    const { page } = await app.open('/c/large?tab=depth');
    await page.waitForSelector(`figcaption:has-text("All ${TOKENS} listed tokens.")`);
    assert.match((await page.textContent('.plain-table tbody tr:last-child')) ?? '', new RegExp(`${TOKENS}`));
  });
});
