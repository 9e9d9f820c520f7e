// Starts what the tests of one suite need: the service with its console, and a browser.

import { after, afterEach, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import type { TestService } from '../../test/support/service/service.ts';
import { startTestService } from '../../test/support/service/service.ts';
import type { Look, WatchedPage } from './browser.ts';
import { PATIENT, launchBrowser, openPage, visit } from './browser.ts';

export const DESKTOP: Look = { width: 1_280, scheme: 'light' };
export const PHONE: Look = { width: 390, scheme: 'light', isTouch: true };

export type TestConsole = {
  readonly service: TestService;
  readonly browser: Browser;
  /** Opens an empty page. Each page is closed after the test that has opened it. */
  newPage: (look?: Look) => Promise<WatchedPage>;
  /** Opens the page of a path, and waits until nothing on it is loading. */
  open: (path: string, look?: Look) => Promise<WatchedPage>;
  /** Stops the service. `start` starts it again, with the same data and at the same port. */
  stop: () => Promise<void>;
  start: () => Promise<void>;
};

type SetUp = { settings?: Readonly<Record<string, string>>; sample?: boolean };

/** Call it in the body of a `describe`. The hooks `before` of the suite that come after the call can use the service. */
export function setUpConsole({ settings = {}, sample = false }: SetUp = {}): TestConsole {
  let service: TestService;
  let browser: Browser;
  let started: Record<string, string>;
  const pages: WatchedPage[] = [];

  const start = async () => {
    service = await startTestService({ settings: started, sample });
    started['PORT'] = new URL(service.url).port;
  };
  const newPage = async (look = DESKTOP) => {
    const opened = await openPage(browser, look);
    pages.push(opened);
    return opened;
  };

  before(async () => {
    started = { DATA_DIR: await directoryWithDatabase(), ...PATIENT, ...settings };
    await start();
    browser = await launchBrowser();
  });
  afterEach(async () => {
    for (const { context } of pages.splice(0)) await context.close();
  });
  after(async () => {
    await browser.close();
    await service.close();
    await cleanUp();
  });

  return {
    get service() {
      return service;
    },
    get browser() {
      return browser;
    },
    newPage,
    open: async (path, look) => {
      const opened = await newPage(look);
      await visit(opened.page, service.url + path);
      return opened;
    },
    stop: () => service.close(),
    start,
  };
}
