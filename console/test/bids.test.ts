// Tests that the pages of the market show the bids of the service: those of a collection, of a token and of a wallet, and one bid with its state.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createChains } from '../../src/platform/core/chains.ts';
import type { AssetId } from '../../src/platform/core/address.ts';
import { toTokenRoot } from '../../src/market/orders/seaport/token-tree.ts';
import type { BidOptions } from '../../test/support/chain/signed-orders.ts';
import { accountOf, toBid } from '../../test/support/chain/signed-orders.ts';
import { submissionOf } from '../../test/support/service/intake-client.ts';
import { newCollection } from '../../test/support/service/market.ts';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit } from './browser.ts';
import { setUpConsole } from './set-up.ts';

const ETHER = 10n ** 18n;
const HOUR_S = 3_600;
const BIDDER = accountOf(1).lower;
const FEE = accountOf(9).lower;
const GALES = ['2', '3', '5'] as AssetId[];
const WETH = createChains().get('ethereum')?.wrappedNative ?? '';
const PICTURE = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

describe('bids', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole({ settings: { PRICE_SOURCES: 'fixed', FIXED_PRICES: 'ETH=3000' } });
  const subject = newCollection({ slug: 'subject' });
  /** The ids of the bids, by name. */
  const ids: Record<string, string> = {};
  const keys: Record<string, string> = {};

  const post = async (path: string, scope: string, body: object) => {
    keys[scope] ??= (await app.service.operate('keys.create', { scopes: [scope] })).body.result.secret;
    const response = await fetch(`${app.service.url}/intake/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[scope]}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const received: any = await response.json();
    assert.ok(response.ok, JSON.stringify(received));
    return received.data;
  };
  const submit = async (name: string, more: Partial<BidOptions>, criteria?: object) => {
    const start = Math.floor(Date.now() / 1_000) - 60;
    const order = toBid({
      offerer: BIDDER,
      contract: subject.address,
      wanted: 'any',
      currency: WETH,
      price: ETHER,
      start,
      end: start + 5 * HOUR_S,
      ...more,
    });
    const { orderId } = await post('/orders', 'orders:write', await submissionOf(order, criteria && { criteria }));
    ids[name] = orderId;
  };
  const cancel = (name: string) => post(`/orders/${ids[name]}/cancel`, 'intake:write', {});

  const wind = (value: string) => ({ traits: [{ name: 'Wind', value }] });

  before(async () => {
    await app.service.load([
      subject.collection(),
      subject.token('1', { ...wind('Calm'), name: 'Morning' }),
      subject.token('2', { ...wind('Gale'), name: 'Evening', image: PICTURE }),
      ...['3', '5'].map((id) => subject.token(id, wind('Gale'))),
      subject.order('2', 9n * ETHER),
    ]);
    await submit('item', { wanted: { tokenId: 2n }, price: 4n * ETHER });
    await submit('any', { quantity: 2n, price: 10n * ETHER, fees: [{ recipient: FEE, amount: ETHER / 2n }] });
    await submit('gales', { wanted: { root: toTokenRoot(GALES) }, price: 3n * ETHER }, wind('Gale'));
    const some = ['1', '3'] as AssetId[];
    await submit('some', { wanted: { root: toTokenRoot(some) }, price: 2n * ETHER }, { tokenIds: some });
    const later = Math.floor(Date.now() / 1_000) + HOUR_S;
    await submit('later', { price: 6n * ETHER, start: later, end: later + HOUR_S });
  });

  const BIDS = '/c/subject?tab=orders&side=bid';

  test('the orders of a collection are asks or bids, and each bid says what it is for, the highest proceeds first', async () => {
    const { page } = await app.open('/c/subject?tab=orders');
    // The names of tokens are read after the rows.
    await page.waitForSelector('.table-body:has-text("Evening")');
    await page.click('nav.segments >> text=Bids');
    await page.waitForURL(`**${BIDS}`);
    const rows = page.locator('[aria-label=Bids] .table-body [role=row]');
    await rows.first().waitFor();
    const bids =
      await page.evaluate(`Array.from(document.querySelectorAll('[aria-label=Bids] .table-body [role=row]'), (row) =>
      [row.querySelector('[data-row]').textContent, ...Array.from(row.querySelectorAll('data'), ({ value }) => value)])`);
    assert.deepEqual(bids, [
      ['Any token', '4.75 ETH', '5 ETH'],
      ['Evening', '4 ETH', '4 ETH'],
      ['Wind: Gale', '3 ETH', '3 ETH'],
      ['1 of 2 chosen tokens', '2 ETH', '2 ETH'],
    ]);
    assert.match((await rows.first().textContent()) ?? '', /ETH20x7e5f…5bdfin \d h/);
    await rows.filter({ hasText: 'Evening' }).locator(`img[src="${PICTURE}"]`).waitFor();
    await page.click('nav.segments >> text=Not fillable');
    await page.waitForSelector('.table-body [role=row]:has-text("Any token"):has-text("later")');
  });

  test('a bid is read again by the lists of bids only', async () => {
    const { page } = await app.open('/c/subject?tab=orders');
    const sides: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/orders')) sides.push(searchParams.get('side'));
    });
    await submit('other', { wanted: 'any', price: 7n * ETHER });
    await page.locator('.figure:has-text("Top bid") >> text=/^7 ETH/').waitFor();
    await cancel('other');
    await page.locator('.figure:has-text("Top bid") >> text=/^4.75 ETH/').waitFor();
    // The list of the page has asks.
    assert.deepEqual(sides, []);
  });

  test('the top bid of a collection follows the stream, and so does the list of bids', async () => {
    const { page } = await app.open(BIDS);
    const top = page.locator('.figure:has-text("Top bid")');
    const first = page.locator('[aria-label=Bids] .table-body [role=row]').first();
    await top.locator('text=/^4.75 ETH/').waitFor();
    await submit('best', { wanted: { tokenId: 1n }, price: 7n * ETHER });
    await first.filter({ hasText: 'Morning' }).waitFor();
    await submit('dear', { wanted: 'any', price: 6n * ETHER });
    // The bid for one token is not for any token of the collection.
    await top.locator('text=/^6 ETH/').waitFor();
    await cancel('dear');
    await cancel('best');
    await top.locator('text=/^4.75 ETH/').waitFor();
    await first.filter({ hasText: 'Any token' }).waitFor();
    await page.click('nav.tabs >> text=Activity');
    await page.click('nav.segments >> text=Bids');
    await page.waitForSelector('.table-body .table-row:has-text("Morning"):has-text("Bid cancelled")');
    await page.waitForSelector('.table-body .table-row:has-text("Any of several tokens")');
  });

  test('the figures say how far the top bid is below the floor, and the depth has the bids beside the asks', async () => {
    const { page } = await app.open('/c/subject?tab=depth');
    await page.locator('.figure:has-text("Top bid") >> text=−47.2%').waitFor();
    const bids = page.locator('table[aria-label="Tokens bid for"] tbody tr');
    assert.deepEqual(await bids.allTextContents(), ['4.75 ETH14.75 ETH$14,250', '4.75 ETH29.5 ETH$28,500']);
    assert.equal(await page.locator('table[aria-label=Tokens] tbody tr').count(), 1);
    await submit('deep', { quantity: 3n, price: 12n * ETHER });
    await bids.filter({ hasText: /^4 ETH521.5 ETH/ }).waitFor();
    await page.locator('figcaption:has-text("All 2 bids for any token of the collection")').waitFor();
    await page.locator('.u-over').scrollIntoViewIfNeeded();
    await page.hover('.u-over', { position: { x: 20, y: 60 } });
    assert.match((await page.textContent('.chart-tooltip:not([hidden])')) ?? '', /^4 ETHTokens bid for: 5$/);
    await cancel('deep');
    await bids.filter({ hasText: /^4.75 ETH29.5 ETH/ }).waitFor();
  });

  test('a trait has its top bid if this is above the one for any token, and the table of tokens has the top bid of each', async () => {
    await submit('gale', { wanted: { root: toTokenRoot(GALES) }, price: 6n * ETHER }, wind('Gale'));
    const { page } = await app.open('/c/subject?view=table&show=all');
    await page.locator('.trait-value:has-text("Gale") >> text=bid 6 ETH').waitFor();
    assert.equal(await page.locator('.trait-value:has-text("Calm") .trait-bid').count(), 0);
    const rows = page.locator('[aria-label="Tokens of the collection"] .table-body [role=row]');
    await rows.filter({ hasText: 'Evening' }).filter({ hasText: '6 ETH' }).waitFor();
    await rows.filter({ hasText: 'Morning' }).filter({ hasText: '4.75 ETH' }).waitFor();
    await visit(page, `${app.service.url}/t/ethereum/${subject.address}/3`);
    await page.locator('.trait:has-text("Gale") >> text=bid 6 ETH').waitFor();
    await cancel('gale');
  });

  test('the page of a bid has its proceeds, what it is for, and why it cannot be accepted', async () => {
    const { page } = await app.open(BIDS);
    await page.click('[data-row]:has-text("Wind: Gale")');
    await page.waitForURL(`**/o/${ids['gales']}`);
    assert.match((await page.textContent('h1')) ?? '', /^Bid: Wind: Gale$/);
    assert.match((await page.textContent('.token-listing')) ?? '', /^Proceeds3 ETH.*Active.*3 tokens meet the bid/);
    await page.click('.token-listing >> text=Wind: Gale');
    await page.waitForSelector('.card-title >> nth=2');
    assert.deepEqual((await page.locator('.card-title').allTextContents()).toSorted(), ['#3', '#5', 'Evening']);
    await visit(page, `${app.service.url}/o/${ids['later']}`);
    await page.waitForSelector('.note:has-text("The order can be filled later.")');
    await visit(page, `${app.service.url}/o/${ids['best']}`);
    await page.waitForSelector('.token-listing:has-text("Cancelled at the service")');
    const { data } = await app.service.ok(`/explore/v1/orders?collection=${subject.id}`);
    await visit(page, `${app.service.url}/o/${data[0].orderId}`);
    await page.waitForSelector('h1:has-text("Ask: Evening")');
  });

  test('the page of a token has the bids that its owner can accept, and the top bid, as they change', async () => {
    const { page } = await app.open(`/t/ethereum/${subject.address}/3`);
    const wanted = page.locator('[aria-label="Bids that the owner can accept"] .table-body [data-row]');
    await wanted.nth(2).waitFor();
    assert.deepEqual(await wanted.allTextContents(), ['Any token', 'Wind: Gale', '1 of 2 chosen tokens']);
    const top = page.locator('.token-last-sale:has-text("Top bid")');
    assert.match((await top.textContent()) ?? '', /^Top bid4.75 ETH.*Any token$/);
    await submit('rival', { wanted: { root: toTokenRoot(GALES) }, price: 8n * ETHER }, { tokenIds: GALES });
    await top.filter({ hasText: '8 ETH' }).waitFor();
    await cancel('rival');
    await top.filter({ hasText: '4.75 ETH' }).waitFor();
    await visit(page, `${app.service.url}/t/ethereum/${subject.address}/1`);
    await page.waitForSelector('.token-last-sale:has-text("Any token")');
    assert.deepEqual(await wanted.allTextContents(), ['Any token', '1 of 2 chosen tokens']);
  });

  test('the orders of a wallet have its bids', async () => {
    const { page } = await app.open(`/w/${BIDDER}?tab=orders&side=bid`);
    const rows = page.locator('[aria-label=Bids] .table-body [role=row]');
    await rows.first().waitFor();
    assert.equal(await rows.count(), 4);
    await rows.filter({ hasText: 'Name of subject: Wind: Gale' }).waitFor();
    await submit('new', { wanted: { tokenId: 3n }, price: ETHER });
    await rows.filter({ hasText: 'Name of subject: #3' }).waitFor();
    await cancel('new');
    await page.waitForFunction(`document.querySelectorAll('.table-body [role=row]').length === 4`);
  });

  for (const look of LOOKS) {
    test(`the pages with bids are complete, accessible and without errors at ${look.width} px, ${look.scheme}`, async () => {
      const opened = await app.newPage(look);
      for (const [name, path] of Object.entries({
        bids: BIDS,
        'bids-dormant': `${BIDS}&status=dormant`,
        'bid-any': `/o/${ids['any']}`,
        'bid-gales': `/o/${ids['gales']}`,
        'bid-later': `/o/${ids['later']}`,
        'bids-activity': '/c/subject?tab=activity',
        'bids-depth': '/c/subject?tab=depth',
        'token-bids': `/t/ethereum/${subject.address}/2`,
        'wallet-bids': `/w/${BIDDER}?tab=orders&side=bid`,
      })) {
        await visit(opened.page, app.service.url + path);
        await assertGoodPage(opened, name, look);
      }
    });
  }
});
