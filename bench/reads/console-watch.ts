// Watches pages of the console for twenty minutes on a local chain with up to four changes a second: how many requests a page sends in a minute, and
// whether its heap grows. All pages are visible at once, so each follows the stream.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser, CDPSession } from 'playwright-core';
import { createMarketClient } from '../../client/src/market.ts';
import { WHY_NO_BROWSER, launchBrowser, openPage, visit } from '../../console/test/browser.ts';
import { say } from '../support/measure.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const MINUTES = 20;
const MINUTE_MS = 60_000;
const REQUESTS_A_MINUTE_MAX = 60;
/** The heap is compared between two spans of so many minutes: one that begins when the caches of the page are full, and the last one. */
const SPAN_MINUTES = 5;
const WARM_UP_MINUTES = 3;
const GROWTH_MAX = 1.15;
const DEVNET = ['devnet', '--chains', 'ethereum', '--orders', '60', '--pace', '250'];
const STARTED = /^Stop: Ctrl-C/;
const URL_LINE = /^Mercat serves on (\S+)/;

export async function benchConsoleWatch(): Promise<void> {
  if (WHY_NO_BROWSER !== null) {
    recordUnmeasured('pages of the console on a busy market', WHY_NO_BROWSER);
    return;
  }
  const devnet = await startDevnet();
  try {
    const browser = await launchBrowser();
    try {
      const pages: Watched[] = [];
      for (const [name, path] of Object.entries(await choosePaths(devnet.url)))
        pages.push(await watch(browser, name, devnet.url + path));
      for (let minute = 1; minute <= MINUTES; minute += 1) await measureMinute(pages, minute);
      pages.forEach(judgePage);
    } finally {
      await browser.close();
    }
  } finally {
    await devnet.stop();
  }
}

async function startDevnet(): Promise<{ url: string; stop: () => Promise<void> }> {
  const program = fileURLToPath(new URL('../../bin/mercat.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, ...DEVNET], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let url = '';
  createInterface(child.stdout).on('line', (line) => {
    url = URL_LINE.exec(line)?.[1] ?? url;
    if (STARTED.test(line)) resolve(url);
  });
  void ended.then(() => reject(new Error('the local chain has stopped')));
  const stop = async () => {
    child.kill('SIGINT');
    await ended;
  };
  return { url: await promise, stop };
}

/** The pages of the collection with the most listings, and of the market. */
async function choosePaths(baseUrl: string): Promise<Record<string, string>> {
  const { data } = await createMarketClient({ baseUrl }).listMarketCollections({ sort: 'listed', limit: 1 }).page();
  const [collection] = data;
  if (!collection) throw new Error('the local chain has no collection');
  const path = `/c/${collection.id}`;
  return { market: '/', tokens: path, orders: `${path}?tab=orders`, activity: `${path}?tab=activity` };
}

type Watched = {
  name: string;
  session: CDPSession;
  errors: readonly string[];
  /** The requests since the last minute ended. */
  sent: number;
  /** By minute. */
  requests: number[];
  heaps: number[];
};

async function watch(browser: Browser, name: string, url: string): Promise<Watched> {
  const { page, context, errors } = await openPage(browser, { width: 1_280, scheme: 'light' });
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  await visit(page, url);
  const watched: Watched = { name, session, errors, sent: 0, requests: [], heaps: [] };
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) watched.sent += 1;
  });
  return watched;
}

async function measureMinute(pages: readonly Watched[], minute: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, MINUTE_MS));
  for (const watched of pages) {
    watched.requests.push(watched.sent);
    watched.sent = 0;
    watched.heaps.push(await readHeap(watched.session));
  }
  const figures = pages.map(
    ({ name, requests, heaps }) => `${name} ${requests.at(-1)} requests, ${toMegabytes(heaps.at(-1) ?? 0)} MB`,
  );
  say(`minute ${minute}: ${figures.join('; ')}`);
}

/** The bytes of the JavaScript heap after a garbage collection. */
async function readHeap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
}

function judgePage({ name, requests, heaps, errors }: Watched): void {
  judge({
    name: `${name} on a busy market, requests in a minute`,
    figure: Math.max(...requests),
    unit: '',
    rounds: requests,
    aim: { atMost: REQUESTS_A_MINUTE_MAX },
    failures: errors.length,
  });
  const first = mean(heaps.slice(WARM_UP_MINUTES, WARM_UP_MINUTES + SPAN_MINUTES));
  const last = mean(heaps.slice(-SPAN_MINUTES));
  judge({
    name: `${name} on a busy market, heap at the end as a multiple of the heap after ${WARM_UP_MINUTES} minutes`,
    figure: last / first,
    unit: '',
    rounds: [],
    aim: { atMost: GROWTH_MAX },
    beside: `${toMegabytes(first)} and ${toMegabytes(last)} MB${errors.length > 0 ? `; ${errors.slice(0, 3).join(' | ')}` : ''}`,
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function toMegabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(2);
}
