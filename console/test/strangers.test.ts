// Opens the pages of the market with data of strangers: names, traits, prices and pictures that nobody has checked.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { SELLER, UINT256_MAX, newCollection } from '../../test/support/service/market.ts';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit } from './browser.ts';
import { setUpConsole } from './set-up.ts';

const ETHER = 10n ** 18n;
/** Names of properties that every object of JavaScript has. */
const PROPERTIES = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
const LONG = 'W'.repeat(300);
const MARKUP = `<img src=x onerror="ran=1"><script>ran=1</script>\u007b{constructor}}`;
/** Names that strangers could give to tokens. */
const NAMES = [
  LONG,
  MARKUP,
  '\u202e12345',
  ' ',
  '\u200b',
  'שלום 7',
  'a\u0300'.repeat(100),
  '<svg onload=alert(1)>',
  '0',
];
/** The service limits the values of traits, and rejects blank ones. */
const toTrait = (name: string) => (name.trim() === '' ? 'blank' : name.slice(0, 100));

describe('data of strangers', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole();
  const subject = newCollection({ slug: 'strange' });
  const hostile = newCollection({ slug: 'hostile', name: LONG, description: `${MARKUP} ${LONG}` });

  before(async () => {
    await app.service.load([
      subject.collection(),
      subject.listing('1', ETHER),
      subject.token('1', { traits: PROPERTIES.map((name) => ({ name, value: 'one' })) }),
      subject.token('2', { traits: PROPERTIES.map((name) => ({ name, value: 'two' })) }),
      hostile.collection(),
      ...NAMES.flatMap((name, index) => [
        hostile.token(String(index), {
          name,
          owner: SELLER,
          traits: [{ name: LONG.slice(0, 100), value: toTrait(name) }],
        }),
        hostile.listing(String(index), UINT256_MAX - BigInt(index)),
        hostile.sale(String(index), UINT256_MAX, { tx: `0x${String(index).padStart(64, '0')}` }),
      ]),
    ]);
  });

  test('tokens can be filtered by traits with the names of properties of every object', async () => {
    const { page, errors } = await app.open('/c/strange?show=all');
    for (const name of PROPERTIES) {
      await page.click(`.trait-values:has-text("${name}") >> text=two`);
      await page.waitForFunction(`document.querySelectorAll('.card-title').length === 1`);
      assert.equal(await page.textContent('.card-title'), '#2', name);
      await page.click(`.trait-values:has-text("${name}") >> text=one`);
      await page.waitForFunction(`document.querySelectorAll('.card-title').length === 2`);
      await page.click('.filter-clear');
    }
    assert.deepEqual(errors, []);
  });

  for (const look of LOOKS.filter(({ width, scheme }) => width < 1_900 && scheme === 'light')) {
    test(`names, texts and amounts of any content keep the layout of each page at ${look.width} px`, async () => {
      const opened = await app.newPage(look);
      const paths = {
        market: '/',
        collection: '/c/hostile?show=all',
        'collection-table': '/c/hostile?view=table',
        sales: '/c/hostile?tab=sales',
        activity: '/c/hostile?tab=activity',
        depth: '/c/hostile?tab=depth',
        holders: '/c/hostile?tab=holders',
        ...Object.fromEntries(NAMES.map((_name, id) => [`token-${id}`, `/t/ethereum/${hostile.address}/${id}`])),
        wallet: `/w/${SELLER}`,
        orders: '/c/hostile?tab=orders',
        'wallet-orders': `/w/${SELLER}?tab=orders`,
      };
      for (const [name, path] of Object.entries(paths)) {
        await visit(opened.page, app.service.url + path);
        assert.equal(await opened.page.evaluate('typeof ran'), 'undefined', name);
        await assertGoodPage(opened, `strangers-${name}`, look);
      }
    });
  }

  test('no number is drawn over the number beside it, whatever its size', async () => {
    const { page } = await app.open('/');
    const wide = await page.evaluate(`Array.from(document.querySelectorAll('.table-body .cell-number data'))
      .filter((amount) => amount.getBoundingClientRect().left < amount.closest('.cell').getBoundingClientRect().left)
      .map(({ textContent }) => textContent)`);
    assert.deepEqual(wide, []);
  });

  test('no name is drawn over the text beside it, however long it is', async () => {
    const { page } = await app.newPage();
    for (const path of [
      '/',
      '/c/hostile?view=table',
      '/c/hostile?tab=orders',
      '/c/hostile?tab=activity',
      `/w/${SELLER}?tab=activity`,
    ]) {
      await visit(page, app.service.url + path);
      const wide = await page.evaluate(`Array.from(document.querySelectorAll('.table-body .row-link'))
        .filter((link) => link.scrollWidth > link.closest('.cell').clientWidth && !link.closest('.truncate'))
        .concat(Array.from(document.querySelectorAll('.table-body .truncate'))
          .filter((name) => name.getBoundingClientRect().right > name.closest('.cell').getBoundingClientRect().right))
        .map(({ textContent }) => textContent.slice(0, 40))`);
      assert.deepEqual(wide, [], path);
    }
  });

  test('an exception in one part of a page leaves the other parts as they are, and the user can try again', async () => {
    const { page } = await app.newPage();
    // Changes the response, because the service serves no such record.
    await page.route('**/collections/*/traits*', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      await route.fulfill({ response, json: { ...body, data: [{ name: 'Broken' }] } });
    });
    await visit(page, `${app.service.url}/c/strange`);
    await page.waitForSelector('.filtered .state-error');
    assert.equal(await page.textContent('h1'), 'Name of strange');
    assert.equal(await page.textContent('.card-title'), '#1');
    await page.unroute('**/collections/*/traits*');
    await page.click('text=Try again');
    await page.waitForSelector('.trait-values');
  });
});
