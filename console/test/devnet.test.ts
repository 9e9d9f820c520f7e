// Tests that the console shows the trades of a local market as they happen.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import type { WatchedPage } from './browser.ts';
import { WHY_NO_BROWSER, assertGoodPage, launchBrowser, openPage, visit } from './browser.ts';
import type { DevnetMarket } from './devnet-market.ts';
import { startDevnetMarket } from './devnet-market.ts';

const DESKTOP = { width: 1_280, scheme: 'light' } as const;
/** A test that waits for a step of one kind fails after this many steps. The simulation chooses the kinds of its steps at random. */
const STEPS_MAX = 300;
/** This limit only ends a test that hangs. */
const SEEN_WITHIN_MS = 60_000;

describe('a local market', { skip: WHY_NO_BROWSER ?? false }, () => {
  let market: DevnetMarket;
  let browser: Browser;
  /** The activity page of each collection. */
  let activities: WatchedPage[];
  let overview: WatchedPage;

  before(async () => {
    market = await startDevnetMarket();
    browser = await launchBrowser();
    activities = [];
    for (const { address } of market.world.collections) {
      const opened = await openPage(browser, DESKTOP);
      await visit(opened.page, `${market.service.url}/c/ethereum_${address}?tab=activity`);
      activities.push(opened);
    }
    overview = await openPage(browser, DESKTOP);
    await visit(overview.page, `${market.service.url}/`);
  });
  after(async () => {
    await browser.close();
    await market[Symbol.asyncDispose]();
    await cleanUp();
  });

  /**
   * Waits until an element appears on the activity page of a collection, and returns this page. Returns undefined if no page has it in
   * time.
   */
  const waitForPage = async (selector: string): Promise<WatchedPage | undefined> => {
    const deadline = performance.now() + SEEN_WITHIN_MS;
    while (performance.now() < deadline) {
      for (const opened of activities) if ((await opened.page.locator(selector).count()) > 0) return opened;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return undefined;
  };

  /** Runs steps of the simulation until a page shows a step of this kind. Returns this page. */
  const stepUntilSeen = async (kind: RegExp, text: string): Promise<WatchedPage> => {
    for (let count = 0; count < STEPS_MAX; count += 1) {
      const { what } = await market.simulation.step();
      const opened = kind.test(what) ? await waitForPage(`.table-row.flash:has-text("${text}")`) : undefined;
      if (opened) return opened;
    }
    return assert.fail(`no step of the simulation was seen as "${text}"`);
  };

  test('sales, sweeps, cancels and transfers are visible as they happen', async () => {
    await stepUntilSeen(/^fulfillOrder|^fulfillBasicOrder/, 'Sold');
    await overview.page.waitForSelector('.ticker-sale.flash');
    await stepUntilSeen(/^cancel of/, 'Cancelled');
    await stepUntilSeen(/^transfer/, 'Transferred');
    const swept = await stepUntilSeen(/^fulfillAvailableOrders of/, 'sweep of');
    await assertGoodPage(swept, 'devnet-sweep', DESKTOP);
    await assertGoodPage(overview, 'devnet-latest-sales', DESKTOP);
  });

  test('after a reorganisation, the events that it took back are marked, and a note says that blocks were replaced', async () => {
    await stepUntilSeen(/^fulfillOrder|^fulfillBasicOrder/, 'Sold');
    await market.simulation.reorganise(market.simulation.reorgDepth());
    const note = '[role=status]:has-text("The chain has replaced blocks")';
    const opened = await waitForPage(`${note} + .table .table-row:has-text("Sold"):has-text("taken back")`);
    await assertGoodPage(opened ?? assert.fail('no page says what was taken back'), 'devnet-reorganisation', DESKTOP);
  });
});
