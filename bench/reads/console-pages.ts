// Measures the pages of the market in Chromium: when the start page is painted, how long an interaction takes, and when the rows of a page can be used
// on a slow network, all with a main thread that is slowed down by a factor of four, and the longest task while a list of 1,000 collections is loaded and scrolled. The browser itself measures the
// times. Other work on the machine can make a time longer, but never shorter. Therefore each figure is the best of its rounds.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { WatchedPage } from '../../console/test/browser.ts';
import { WHY_NO_BROWSER, launchBrowser, openPage, visit, waitUntilLoaded } from '../../console/test/browser.ts';
import { generateSampleMarket } from '../../sample/market.ts';
import { SocketIntake } from '../../src/intake/socket-client.ts';
import { manyCollections, toAsync, toChunks } from '../support/records.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';
import { startServer } from './hot-listings.ts';

const ROUNDS = 5;
const SLOWDOWN = 4;
const COLLECTIONS = 1_000;
const PAINT_AIM_MS = 1_500;
const INTERACTION_AIM_MS = 200;
/** Browsers call a task of this duration or more a long task. */
const TASK_AIM_MS = 50;
const SCROLL_STEPS = 20;
const SCROLL_PAUSE_MS = 20;
/** 1.6 Mbit/s with 150 ms for a round trip, as on a phone. */
const SLOW_NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 };
const SLOW_PAGES = [
  { name: 'start page', path: '/', rows: '.market-collections [data-row]', aimMs: 1_500 },
  { name: 'page of a collection', path: '/c/harbour-lights', rows: '.card-title', aimMs: 1_800 },
] as const;
/** How long the browser may take to report the entries that it has recorded already. */
const ENTRIES_WITHIN_MS = 1_000;

export async function benchConsolePages(): Promise<void> {
  if (WHY_NO_BROWSER !== null) {
    recordUnmeasured('pages of the console', WHY_NO_BROWSER);
    return;
  }
  const browser = await launchBrowser();
  try {
    await withRecords(generateSampleMarket({ serviceName: 'bench', at: Date.now() }), async (url) => {
      await benchRounds('start page of the console, sample, largest contentful paint', PAINT_AIM_MS, () =>
        onPage(browser, (opened) => paintMs(opened, url)),
      );
      await benchRounds('start page of the console, sample, longest interaction', INTERACTION_AIM_MS, () =>
        onPage(browser, (opened) => interactionMs(opened, url)),
      );
      for (const { name, path, rows, aimMs } of SLOW_PAGES) {
        await benchRounds(`${name} of the console, sample, 1.6 Mbit/s, until the rows can be used`, aimMs, () =>
          onPage(browser, (opened) => usableMs(opened, url + path, rows)),
        );
      }
    });
    await withRecords(manyCollections(COLLECTIONS), (url) =>
      benchRounds(`start page of the console, ${COLLECTIONS} rows, longest task, CPU time`, TASK_AIM_MS, () =>
        onPage(browser, (opened) => longestTaskMs(opened, url)),
      ),
    );
  } finally {
    await browser.close();
  }
}

async function benchRounds(name: string, aimMs: number, measure: () => Promise<number>): Promise<void> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure());
  judge({ name, figure: Math.min(...rounds), unit: 'ms', rounds, aim: { atMost: aimMs } });
}

/** Runs `work` with a service that has only these records. */
async function withRecords(
  records: Iterable<Record<string, unknown>>,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const service = await startServer(['service'], { DATA_DIR: dir, PORT: '0', PRICE_SOURCES: 'none' });
  try {
    const intake = new SocketIntake(path.join(dir, 'mercat.sock'));
    await intake.import(toAsync(toChunks(records)), { format: 'ndjson' }, () => undefined);
    await work(service.url);
  } finally {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function onPage(browser: Browser, work: (opened: WatchedPage) => Promise<number>): Promise<number> {
  const opened = await openPage(browser, { width: 1_280, scheme: 'light' });
  try {
    return await work(opened);
  } finally {
    await opened.context.close();
  }
}

async function slowDown({ page, context }: WatchedPage): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
}

/** NaN if the browser has reported no paint. */
async function paintMs(opened: WatchedPage, url: string): Promise<number> {
  await slowDown(opened);
  await visit(opened.page, url);
  const times = await opened.page.evaluate<number[]>(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().map(({ startTime }) => startTime)))
      .observe({ type: 'largest-contentful-paint', buffered: true });
    setTimeout(() => resolve([]), ${ENTRIES_WITHIN_MS});
  })`);
  return times.at(-1) ?? Number.NaN;
}

/** How long it takes until the page has rows and its main thread can react to the user. */
async function usableMs(opened: WatchedPage, url: string, rows: string): Promise<number> {
  const { page, context } = opened;
  await slowDown(opened);
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', SLOW_NETWORK);
  // A task of its own after the frame with the rows runs when the main thread is free.
  await page.addInitScript(`globalThis.usable = new Promise((resolve) => {
    const find = () => {
      if (!document.querySelector('${rows}')) return requestAnimationFrame(find);
      setTimeout(() => resolve(performance.now()));
    };
    find();
  })`);
  await page.goto(url);
  return page.evaluate<number>('usable');
}

/** Sorts the list and opens a collection. */
async function interactionMs(opened: WatchedPage, url: string): Promise<number> {
  const { page } = opened;
  await slowDown(opened);
  await visit(page, url);
  await page.evaluate(`globalThis.interactions = [];
    new PerformanceObserver((list) => interactions.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'event', durationThreshold: 16 })`);
  await page.click('.sort-head:has-text("Floor")');
  await waitUntilLoaded(page);
  await page.click('.market-collections [data-row]');
  await page.waitForURL('**/c/*');
  await waitUntilLoaded(page);
  return Math.max(0, ...(await page.evaluate<number[]>('interactions')));
}

async function longestTaskMs({ page, context }: WatchedPage, url: string): Promise<number> {
  await visit(page, url);
  const endTrace = await traceTasks(await context.newCDPSession(page));
  await scrollToEnd(page);
  for (let step = 0; step < SCROLL_STEPS; step += 1) {
    await page.mouse.wheel(0, step < SCROLL_STEPS / 2 ? -3_000 : 3_000);
    await page.waitForTimeout(SCROLL_PAUSE_MS);
  }
  const longest = await endTrace();
  // Without a task, nothing was traced.
  return longest > 0 ? longest : Number.NaN;
}

async function scrollToEnd(page: Page): Promise<void> {
  const rows = page.locator('.market-collections [data-row]');
  await page.mouse.move(400, 500);
  for (let count = await rows.count(); count < COLLECTIONS; count = await rows.count()) {
    await page.mouse.wheel(0, 4_000);
    await page.waitForFunction(`document.querySelectorAll('.market-collections [data-row]').length > ${count}`);
  }
}

type TraceEvent = { name: string; pid: number; tid: number; tdur?: number; args: { name?: string } };

/**
 * Traces the tasks of the page's main thread. The returned function ends the trace and resolves with the longest task. The measured time is the
 * CPU time of the thread. The elapsed time would include the time in which other programs use the processor.
 */
async function traceTasks(session: CDPSession): Promise<() => Promise<number>> {
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline'] },
  });
  return async () => {
    const completed = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await completed;
    const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
    const mains = events
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(threadOf);
    const tasks = events.filter((event) => event.name === 'RunTask' && mains.includes(threadOf(event)));
    return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
  };
}
