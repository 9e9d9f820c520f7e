// Tests the pages of the console while the indexer database is unavailable. Each page says which data it could not read, and shows no wrong
// figure.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { MARKET, ethereum } from '../../test/degradation/small-market.ts';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import type { PostgresServer } from '../../test/support/engines/postgres-server.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../test/support/engines/postgres-server.ts';
import type { TcpProxy } from '../../test/support/engines/tcp-proxy.ts';
import { startTcpProxy } from '../../test/support/engines/tcp-proxy.ts';
import { SELLER, START } from '../../test/support/service/market.ts';
import type { TestService } from '../../test/support/service/service.ts';
import { startTestService } from '../../test/support/service/service.ts';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, launchBrowser, openPage, visit, waitUntilLoaded } from './browser.ts';

const SKIP = WHY_NO_BROWSER ?? (canRunPostgres() ? false : 'PostgreSQL is not on this machine');
const DESKTOP = { width: 1_280, scheme: 'light' } as const;
/** How the service reports that a source cannot be read. */
const EXPECTED_ERROR = /^50[23] |status of 50[23] /;
/** The elements with which a page says that it could not read data. */
const EXPLANATION = '.state-error, .stale, .unknown, .problem, .connection-text';
const COLLECTION = `/c/${ethereum.slug}`;
const PATHS: Readonly<Record<string, string>> = {
  market: '/',
  collection: COLLECTION,
  sales: `${COLLECTION}?tab=sales`,
  activity: `${COLLECTION}?tab=activity`,
  depth: `${COLLECTION}?tab=depth`,
  holders: `${COLLECTION}?tab=holders`,
  token: `/t/ethereum/${ethereum.address}/1`,
  wallet: `/w/${SELLER}`,
  shop: '/shop',
  service: '/service',
};

describe('the console while the indexer database is unavailable', { skip: SKIP }, () => {
  let browser: Browser;
  let service: TestService;
  let postgres: PostgresServer;
  let proxy: TcpProxy;
  /** The figures of the collection while everything works. */
  let figures: readonly string[];

  const readFigures = async (): Promise<readonly string[]> => {
    const { page, context } = await openPage(browser, DESKTOP);
    await visit(page, service.url + COLLECTION);
    const texts = await page.locator('.figure-list dd').allTextContents();
    await context.close();
    return texts;
  };

  before(async () => {
    postgres = await startPostgres();
    proxy = await startTcpProxy(await createTestDatabase(postgres.url));
    const startedAt = performance.now();
    service = await startTestService({
      settings: { DATA_DIR: await directoryWithDatabase(), INDEXER_DATABASE_URL: proxy.url },
      clock: () => START + Math.floor(performance.now() - startedAt),
    });
    await service.load(MARKET);
    browser = await launchBrowser();
    figures = await readFigures();
    await proxy.refuse();
  });
  after(async () => {
    await browser.close();
    await service.close();
    await proxy.close();
    await cleanUp();
    await postgres.discard();
  });

  for (const look of LOOKS) {
    test(`every page says which data it could not read (${look.width} px, ${look.scheme})`, async () => {
      const opened = await openPage(browser, look);
      for (const [name, path] of Object.entries(PATHS)) {
        await visit(opened.page, service.url + path);
        const failures = opened.errors.splice(0);
        assert.deepEqual(
          failures.filter((error) => !EXPECTED_ERROR.test(error)),
          [],
          name,
        );
        if (failures.length > 0) assert.ok(await opened.page.locator(EXPLANATION).count(), `${name} explains nothing`);
        await assertGoodPage({ ...opened, errors: [] }, `outage-${name}`, look);
      }
      await opened.context.close();
    });
  }

  test('a figure of a collection that cannot be read is not shown as zero', async () => {
    const present = await readFigures();
    assert.ok(figures.length > 0 && present.length === figures.length);
    const zeros = present.filter((text) => /^\$?0(\.0+)?\b/.test(text.trim()));
    assert.deepEqual(zeros, []);
  });

  test('the depth tab says that the listings of other marketplaces are missing', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    await visit(page, `${service.url}${COLLECTION}?tab=depth`);
    assert.match((await page.textContent('.tab .stale')) ?? '', /could not be read, so these are not all listings/);
    await context.close();
  });

  test('an open page shows its data again, without a reload, when the indexer database is available again', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    await visit(page, `${service.url}${COLLECTION}?tab=sales`);
    await proxy.heal();
    await page.waitForFunction(`!document.querySelector('.state-error')`);
    await waitUntilLoaded(page);
    await context.close();
    await proxy.refuse();
  });
});
