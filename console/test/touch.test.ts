// Tests the console on a touch screen.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import type { TestService } from '../../test/support/service/service.ts';
import { startTestService } from '../../test/support/service/service.ts';
import { PATIENT, WHY_NO_BROWSER, launchBrowser, visit } from './browser.ts';

const COLLECTION = '/c/harbour-lights';

describe('the console on a phone', { skip: WHY_NO_BROWSER ?? false }, () => {
  let service: TestService;
  let browser: Browser;
  before(async () => {
    service = await startTestService({
      settings: { DATA_DIR: await directoryWithDatabase(), ...PATIENT },
      sample: true,
    });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await service.close();
    await cleanUp();
  });

  const openOnPhone = async (path: string): Promise<Page> => {
    const context = await browser.newContext({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      bypassCSP: true,
    });
    const page = await context.newPage();
    await visit(page, service.url + path);
    return page;
  };

  test('a tap on a price shows the exact amount, and a tap elsewhere hides it', async () => {
    const page = await openOnPhone(COLLECTION);
    await page.tap('.figure-list data >> nth=0');
    await page.waitForSelector('.tooltip >> text=0.42 ETH');
    await page.tap('h1');
    await page.waitForSelector('.tooltip', { state: 'detached' });
    await page.context().close();
  });

  test('a tap on a price shows the exact amount also while another element has the focus', async () => {
    const page = await openOnPhone(COLLECTION);
    await page.focus('[name=q]');
    await page.tap('.figure-list data >> nth=1');
    await page.waitForSelector('.tooltip >> text=0.424 ETH');
    assert.equal(await page.evaluate(`document.activeElement.getAttribute('name')`), null);
    await page.context().close();
  });
});
