// Measures the cost of counting requests in Redis. Cached listings are requested from two services that differ only in REDIS_URL: first
// under load, then one request at a time.

import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { SocketIntake } from '../src/intake/socket-client.ts';
import { canStartRedis, startRedis } from '../test/support/engines/redis-server.ts';
import { load, startServer } from './hot-listings.ts';
import { compare, median, say, spread } from './measure.ts';
import { listedCollection, toChunks } from './records.ts';

const ROUNDS = 7;
const REQUESTS = 2_000;
const PAGE = '/v1/collections/bench/listings?limit=25';

export async function benchSharedLimits(): Promise<void> {
  if (!canStartRedis()) {
    say('shared limits: no redis-server on this machine');
    return;
  }
  const redis = await startRedis();
  const dirs = [0, 1].map(() => mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-')));
  const [sharedDir = '', aloneDir = ''] = dirs;
  const shared = await startServer(['service'], { DATA_DIR: sharedDir, PORT: '0', REDIS_URL: redis.url });
  const alone = await startServer(['service'], { DATA_DIR: aloneDir, PORT: '0', REDIS_URL: '' });
  try {
    for (const dir of dirs) await importListings(dir);
    const [a, b] = [shared.url + PAGE, alone.url + PAGE];
    for (const url of [a, b]) await load(url);
    const rates = await compare(
      ROUNDS,
      () => load(a),
      () => load(b),
    );
    say(
      `hot listings, 25 rows, counted in Redis: ${rates.a.toFixed(0)} requests/s; in the process ${rates.b.toFixed(0)}; ratio ${rates.ratio.toFixed(2)} (${spread(rates.ratios)})`,
    );
    const times = await compare(
      ROUNDS,
      () => timeOne(a),
      () => timeOne(b),
    );
    say(
      `one request at a time: ${times.a.toFixed(0)} µs counted in Redis, ${times.b.toFixed(0)} µs in the process; ratio ${times.ratio.toFixed(2)} (${spread(times.ratios)})`,
    );
    const counted = await redis.ask('INFO', 'commandstats');
    say(`counted in Redis: ${/cmdstat_hincrby:calls=(\d+)/.exec(String(counted))?.[1] ?? 'no'} requests`);
  } finally {
    await Promise.all([shared.stop(), alone.stop()]);
    await redis.discard();
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

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
