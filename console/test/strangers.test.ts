// Opens the pages of the market with data of strangers: names, traits, prices and pictures that nobody has checked.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import { newCollection } from '../../test/support/service/market.ts';
import type { TestService } from '../../test/support/service/service.ts';
import { startTestService } from '../../test/support/service/service.ts';
import { PATIENT, WHY_NO_BROWSER, launchBrowser, openPage, visit } from './browser.ts';

const DESKTOP = { width: 1_280, scheme: 'light' } as const;
const ETHER = 10n ** 18n;
/** Names of properties that every object of JavaScript has. */
const PROPERTIES = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];

describe('data of strangers', { skip: WHY_NO_BROWSER ?? false }, () => {
  let service: TestService;
  let browser: Browser;
  const subject = newCollection({ slug: 'strange' });

  before(async () => {
    service = await startTestService({ settings: { DATA_DIR: await directoryWithDatabase(), ...PATIENT } });
    await service.load([
      subject.collection(),
      subject.listing('1', ETHER),
      subject.token('1', { traits: PROPERTIES.map((name) => ({ name, value: 'one' })) }),
      subject.token('2', { traits: PROPERTIES.map((name) => ({ name, value: 'two' })) }),
    ]);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await service.close();
    await cleanUp();
  });

  test('tokens can be filtered by traits with the names of properties of every object', async () => {
    const { page, context, errors } = await openPage(browser, DESKTOP);
    await visit(page, `${service.url}/c/strange?show=all`);
    for (const name of PROPERTIES) {
      await page.click(`.trait-values:has-text("${name}") >> text=two`);
      await page.waitForFunction(`document.querySelectorAll('.card-title').length === 1`);
      assert.equal(await page.textContent('.card-title'), '#2', name);
      await page.click(`.trait-values:has-text("${name}") >> text=one`);
      await page.waitForFunction(`document.querySelectorAll('.card-title').length === 2`);
      await page.click('.filter-clear');
    }
    assert.deepEqual(errors, []);
    await context.close();
  });

  test('an exception in one part of a page leaves the other parts as they are, and the user can try again', async () => {
    const { page, context } = await openPage(browser, DESKTOP);
    // Changes the response, because the service serves no such record.
    await page.route('**/collections/*/traits*', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      await route.fulfill({ response, json: { ...body, data: [{ name: 'Broken' }] } });
    });
    await visit(page, `${service.url}/c/strange`);
    await page.waitForSelector('.filtered .state-error');
    assert.equal(await page.textContent('h1'), 'Name of strange');
    assert.equal(await page.textContent('.card-title'), '#1');
    await page.unroute('**/collections/*/traits*');
    await page.click('text=Try again');
    await page.waitForSelector('.trait-values');
    await context.close();
  });
});
