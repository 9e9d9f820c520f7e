// Measures the real program on the embedded database with the sample marketplace. The figures are the time of the first start, the time of
// later starts, and the resident memory after the start and after requests.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readServiceUrl, stopProgram } from '../support/child-program.ts';
import { median, residentMiB } from '../support/measure.ts';
import { judge } from '../support/verdict.ts';

const ROUNDS = 5;
const REQUESTS = 2_000;

export async function benchStart(): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  try {
    const first = await start(dir);
    await first.stop();
    const warm: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = await start(dir);
      warm.push(started.ms);
      await started.stop();
    }
    judge({ name: 'first start, sample loaded', figure: first.ms, unit: 'ms', rounds: [], aim: null });
    judge({ name: 'warm start', figure: median(warm), unit: 'ms', rounds: warm, aim: null });
    const started = await start(dir);
    const idle = residentMiB(started.pid);
    for (let request = 0; request < REQUESTS; request += 1) {
      await (
        await fetch(`${started.url}/v1/collections/harbour-lights/listings?limit=${1 + (request % 100)}`)
      ).arrayBuffer();
    }
    judge({
      name: `resident memory, embedded, after ${REQUESTS} requests`,
      figure: residentMiB(started.pid),
      unit: 'MiB',
      rounds: [],
      aim: null,
      beside: `${idle.toFixed(0)} MiB after the start`,
    });
    await started.stop();
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function start(dir: string) {
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const begin = performance.now();
  const child = spawn(process.execPath, [main, 'serve', '--port', '0'], {
    env: { PRICE_SOURCES: 'none', ...process.env, DATA_DIR: dir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await readServiceUrl(child);
  await (await fetch(`${url}/v1`)).arrayBuffer();
  const ms = performance.now() - begin;
  return { ms, url, pid: child.pid ?? 0, stop: () => stopProgram(child) };
}
