// Tests that what a user opens on a page is as complete and accessible as the page: dialogs, sheets, results of the search, empty lists and notes.

import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Look } from './browser.ts';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, visit } from './browser.ts';
import { PHONE, setUpConsole } from './set-up.ts';
import type { TestShop } from './shop-pages.ts';
import { button, newShop, signIn } from './shop-pages.ts';

/** A phone with a touch screen has other elements than a narrow window, such as no scroll bar. */
const ALL_LOOKS: readonly Look[] = [...LOOKS, PHONE, { ...PHONE, scheme: 'dark' }];
const nameOf = ({ width, scheme, isTouch = false }: Look) => `${width} px, ${scheme}${isTouch ? ', touch' : ''}`;

/** How a state is reached: the path of the page, and what the user does there. */
type State = readonly [path: string, open: (page: Page, look: Look) => Promise<unknown>];

const COLLECTION = '/c/harbour-lights';
const MARKET_STATES: Readonly<Record<string, State>> = {
  'not-found': [
    '/',
    async (page) => {
      await page.goto(new URL('/c/unknown', page.url()).href);
      await page.waitForSelector('.state');
    },
  ],
  search: [
    '/',
    async (page) => {
      await page.fill('[name=q]', 'harbour');
      await page.waitForSelector('.search-result');
    },
  ],
  'search-nothing': [
    '/',
    async (page) => {
      await page.fill('[name=q]', 'no such name');
      await page.waitForSelector('.search-note');
    },
  ],
  help: [
    '/',
    async (page) => {
      await page.keyboard.press('?');
      await page.waitForSelector('dialog[open] .keys');
    },
  ],
  sorted: ['/?sort=change&window=7d', (page) => page.waitForSelector('.table-body [data-row]')],
  figures: [
    COLLECTION,
    async (page, { width }) => {
      if (width < 500) await page.click('.figures-more');
      await page.click('.figure-name >> nth=0');
      await page.waitForSelector('.popover-row');
    },
  ],
  traits: [
    COLLECTION,
    async (page, { width }) => {
      if (width < 1_100) await page.click('.filter-open');
      await page.click('.trait-value >> nth=0');
      await page.waitForSelector('.filter-clear');
    },
  ],
  'orders-cancelled': [
    `${COLLECTION}?tab=orders&status=cancelled`,
    (page) => page.waitForSelector('.state, .table-body [data-row]'),
  ],
  'history-day': [`${COLLECTION}?tab=history&range=day`, (page) => page.waitForSelector('.chart, .state')],
  'history-table': [
    `${COLLECTION}?tab=history`,
    async (page) => {
      await page.click('.chart-table summary');
      await page.waitForSelector('.chart-table-scroll tbody tr');
    },
  ],
  'activity-sales': [`${COLLECTION}?tab=activity&kind=sales`, (page) => page.waitForSelector('.table-body [data-row]')],
};

describe('what is opened on a page of the market', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole({ sample: true });

  for (const look of ALL_LOOKS) {
    test(`every state is complete and accessible at ${nameOf(look)}`, async () => {
      const opened = await app.newPage(look);
      for (const [name, [path, open]] of Object.entries(MARKET_STATES)) {
        await visit(opened.page, app.service.url + path);
        await open(opened.page, look);
        // A page that does not exist has the status 404.
        await assertGoodPage(
          { ...opened, errors: opened.errors.filter((error) => !error.includes('404')) },
          `state-${name}`,
          look,
        );
      }
    });
  }
});

const click = (name: string) => (page: Page) => button(page, name).click();

const SHOP_STATES: Readonly<Record<string, State>> = {
  'new-webhook': ['/shop/webhooks', click('Add a webhook')],
  secret: [
    '/shop/webhooks',
    async (page) => {
      await click('Add a webhook')(page);
      await page.fill('[name=url]', 'https://shop.example/hooks');
      await click('Create the webhook')(page);
      await page.waitForSelector('.secret');
    },
  ],
  'bulk-price': [
    '/shop/products',
    async (page) => {
      await page.click('[aria-label="Select Mug"]');
      await page.click('.bulk-bar >> text=Price');
      await page.waitForSelector('dialog[open]');
    },
  ],
  'no-product': ['/shop/products?q=nothing', (page) => page.waitForSelector('.state')],
  leave: [
    '/shop/products/new',
    async (page) => {
      await page.fill('[name=name]', 'Cup');
      await page.click('.workplaces >> text=Market');
      await page.waitForSelector('dialog[open]');
    },
  ],
};

describe('what is opened on a page of the shop', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole();
  let shop: TestShop;

  before(async () => {
    shop = await newShop(app.service);
    await shop.client.createProduct({ name: 'Mug', slug: 'mug', price: '10', inventory: 3 });
  });

  for (const look of ALL_LOOKS) {
    test(`every state is complete and accessible at ${nameOf(look)}`, async () => {
      const opened = await app.newPage(look);
      await signIn(opened, app.service.url, shop.key);
      for (const [name, [path, open]] of Object.entries(SHOP_STATES)) {
        await visit(opened.page, app.service.url + path);
        await open(opened.page, look);
        await assertGoodPage(opened, `state-${name}`, look);
      }
    });
  }
});
