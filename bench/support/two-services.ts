// Compares cached reads of two services that differ only in a setting: first under load, then one request at a time.

import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { SocketIntake } from '../../src/intake/socket-client.ts';
import { load, startServer } from '../reads/hot-listings.ts';
import { compare, median } from './measure.ts';
import { listedCollection, toAsync, toChunks } from './records.ts';
import { judge } from './verdict.ts';

const ROUNDS = 7;
const REQUESTS = 2_000;
const PAGE = '/v1/collections/bench/listings?limit=25';

export type Variant = { name: string; settings: Record<string, string> };

export async function compareServices(a: Variant, b: Variant): Promise<void> {
  const dirs = [0, 1].map(() => mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-')));
  const [dirA = '', dirB = ''] = dirs;
  const serviceA = await startServer(['service'], { DATA_DIR: dirA, PORT: '0', ...a.settings });
  const serviceB = await startServer(['service'], { DATA_DIR: dirB, PORT: '0', ...b.settings });
  try {
    for (const dir of dirs) await importListings(dir);
    const [urlA, urlB] = [serviceA.url + PAGE, serviceB.url + PAGE];
    for (const url of [urlA, urlB]) await load(url);
    const rates = await compare(
      ROUNDS,
      () => load(urlA),
      () => load(urlB),
    );
    judge({
      name: `hot listings, 25 rows, rate ${a.name} as a multiple of the rate ${b.name}`,
      figure: rates.ratio,
      unit: '',
      rounds: rates.ratios,
      aim: null,
      beside: `${rates.a.toFixed(0)} and ${rates.b.toFixed(0)} requests/s`,
    });
    const times = await compare(
      ROUNDS,
      () => timeOne(urlA),
      () => timeOne(urlB),
    );
    judge({
      name: `one hot request at a time, time ${a.name} as a multiple of the time ${b.name}`,
      figure: times.ratio,
      unit: '',
      rounds: times.ratios,
      aim: null,
      beside: `${times.a.toFixed(0)} and ${times.b.toFixed(0)} µs`,
    });
  } finally {
    await Promise.all([serviceA.stop(), serviceB.stop()]);
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  }
}

async function importListings(dir: string): Promise<void> {
  const connection = new SocketIntake(path.join(dir, 'mercat.sock'));
  await connection.import(toAsync(toChunks(listedCollection())), { format: 'ndjson' }, () => undefined);
}

/** The median time of consecutive requests on one connection, in microseconds. */
async function timeOne(url: string): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let count = 0; count < REQUESTS; count += 1) {
    const startedAt = performance.now();
    await get(url, agent);
    times.push((performance.now() - startedAt) * 1_000);
  }
  agent.destroy();
  return median(times);
}

function get(url: string, agent: http.Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { agent }, (response) => response.resume().on('end', resolve).on('error', reject))
      .on('error', reject);
  });
}
