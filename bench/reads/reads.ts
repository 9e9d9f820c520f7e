// Measures `/v1` on the embedded engine during a large import: the times of the reads, the number of failed reads, and how much the reads
// slow down the import. `BENCH_ROWS` (default 1,000,000) is the number of imported rows. The load is moderate: one reader requests lists, another
// reader requests details, and together they send at most ten uncached requests a second. If readers send requests without a pause, the import
// takes up to three times as long, because the database runs reads first.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SocketIntake } from '../../src/intake/socket-client.ts';
import { startServer } from './hot-listings.ts';
import { median, timeMs } from '../support/measure.ts';
import { importRows, listedCollection, toAsync, toChunks } from '../support/records.ts';
import { judge } from '../support/verdict.ts';

const ROWS = Number(process.env['BENCH_ROWS'] ?? 1_000_000);
/** The time between the starts of two requests of one reader. After a request that takes longer, the next request starts at once. */
const INTERVAL_MS = 200;
/** The aims: the median time of a read, and the duration of an import with reads as a multiple of its duration without reads. */
const MEDIAN_AIM_MS = 150;
const RATIO_AIM = 1.5;
const LIMIT_MAX = 100;

type Reads = { times: number[]; failures: number };

export async function benchReads(): Promise<void> {
  const alone = await importWhile(() => Promise.resolve());
  const reads: Record<string, Reads> = {};
  const meanwhile = await importWhile(async (url, signal) => {
    const paths = {
      list: (number: number) => `/v1/collections?limit=${1 + (number % LIMIT_MAX)}`,
      // Each spelling of the id is another URL, so that no response comes from the cache.
      detail: (number: number) => `/v1/collections/ethereum_0x${spell('5a'.repeat(20), number)}`,
    };
    const readers = Object.entries(paths).map(async ([name, pathOf]) => {
      reads[name] = await readUntil(signal, (number) => url + pathOf(number));
    });
    await Promise.all(readers);
  });
  judge({
    name: `import of ${ROWS} rows, embedded, time with reads as a multiple of the import alone`,
    figure: meanwhile / alone,
    unit: '',
    rounds: [],
    aim: { atMost: RATIO_AIM },
    beside: `${(meanwhile / 1_000).toFixed(1)} s, alone ${(alone / 1_000).toFixed(1)} s`,
  });
  for (const [name, { times, failures }] of Object.entries(reads)) {
    const sorted = times.toSorted((one, other) => one - other);
    const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
    judge({
      name: `${name} during an import of ${ROWS} rows, embedded`,
      figure: median(times),
      unit: 'ms',
      rounds: times,
      aim: { atMost: MEDIAN_AIM_MS },
      failures,
      beside: `${times.length} reads, p95 ${p95.toFixed(0)} ms`,
    });
  }
}

/** Imports into a new database, and runs `work` meanwhile. Returns the milliseconds of the import. */
async function importWhile(work: (url: string, signal: AbortSignal) => Promise<void>): Promise<number> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const service = await startServer(['service'], { DATA_DIR: dir, PORT: '0' });
  const load = (records: Iterable<Record<string, unknown>>) =>
    new SocketIntake(path.join(dir, 'mercat.sock')).import(
      toAsync(toChunks(records)),
      { format: 'ndjson' },
      () => undefined,
    );
  try {
    await load(listedCollection());
    const ended = new AbortController();
    const working = work(service.url, ended.signal);
    const ms = await timeMs(() => load(importRows('sale', ROWS, 0)));
    ended.abort();
    await working;
    return ms;
  } finally {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Sends one request after another until the signal aborts. A status other than 200 and incomplete data are failures. */
async function readUntil(signal: AbortSignal, urlOf: (number: number) => string): Promise<Reads> {
  const reads: Reads = { times: [], failures: 0 };
  for (let number = 0; !signal.aborted; number += 1) {
    const startedAt = performance.now();
    const response = await fetch(urlOf(number));
    const body = (await response.json()) as { meta?: unknown; data?: { stale?: boolean } };
    reads.times.push(performance.now() - startedAt);
    if (response.status !== 200 || body.data?.stale === true || (body.data && !Array.isArray(body.data) && body.meta))
      reads.failures += 1;
    await delay(Math.max(0, startedAt + INTERVAL_MS - performance.now()));
  }
  return reads;
}

/** Returns another spelling of the text for each number: the n-th letter `a` is in upper case if bit n of `number` is set. */
function spell(text: string, number: number): string {
  let bit = 0;
  return text.replaceAll('a', (letter) => ((number >> bit++) & 1 ? letter.toUpperCase() : letter));
}
