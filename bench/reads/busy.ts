// Measures how long a health check takes that opens a connection, while 300 clients send requests to one path after the other, without rate limits.

import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import { SocketIntake } from '../../src/intake/socket-client.ts';
import { timeMs } from '../support/measure.ts';
import { LISTED_COLLECTION, listedCollection, toAsync, toChunks } from '../support/records.ts';
import { judge } from '../support/verdict.ts';
import { startServer } from './hot-listings.ts';

const CLIENTS = 300;
const ROUNDS = 3;
const ROUND_S = 3;
const CHECK_EVERY_MS = 20;
const AIM_MS = 100;

const { slug, chain, contractAddress } = LISTED_COLLECTION;
/** Pages, documents, lists and single rows, also those that are not found or have a wrong parameter. */
const PATHS = [
  '/',
  `/c/${slug}`,
  '/docs',
  '/status',
  '/nothing',
  '/v1/collections?limit=100',
  '/v1/collections?cursor=wrong',
  `/v1/collections/${slug}`,
  `/v1/collections/${slug}/floor`,
  `/v1/collections/${slug}/listings?limit=100`,
  `/v1/collections/${slug}/sales?limit=100`,
  `/v1/tokens/${chain}/${contractAddress}/999999`,
  '/explore/v1/collections?limit=100&sort=volume',
  `/explore/v1/collections/${slug}/tokens?limit=100`,
  `/explore/v1/collections/${slug}/tokens?limit=wrong`,
  `/explore/v1/orders?collection=${slug}`,
  '/explore/v1/activity?limit=100',
  '/explore/v1/search?q=bench',
  '/explore/v1/nothing',
  '/api/v1/products',
  '/intake/v1/orders',
];

export async function benchBusy(): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const service = await startServer(['service'], { DATA_DIR: dir, PORT: '0' });
  try {
    await new SocketIntake(path.join(dir, 'mercat.sock')).import(
      toAsync(toChunks(listedCollection())),
      { format: 'ndjson' },
      () => undefined,
    );
    for (const target of PATHS) {
      const longest: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) longest.push(await measureRound(service.url, target));
      judge({
        name: `health check while ${CLIENTS} clients read ${target}, the longest`,
        figure: Math.max(...longest),
        unit: 'ms',
        rounds: longest,
        aim: { atMost: AIM_MS },
      });
    }
  } finally {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The time of the longest health check of a round, in milliseconds. */
async function measureRound(url: string, target: string): Promise<number> {
  // In a thread of their own, so that the clients do not delay the measurement.
  const load = autocannon({ url: url + target, connections: CLIENTS, duration: ROUND_S, workers: 1 });
  const end = performance.now() + (ROUND_S - 1) * 1_000;
  const checks: Promise<number>[] = [];
  while (performance.now() < end) {
    checks.push(timeMs(() => check(url)));
    await delay(CHECK_EVERY_MS);
  }
  const times = await Promise.all(checks);
  await load;
  return Math.max(...times);
}

function check(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http
      .get(`${url}/livez`, { agent: false }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`a health check got ${response.statusCode}`));
        response.resume().once('end', resolve);
      })
      .once('error', reject);
  });
}
