// Measures how long a health check takes that opens a connection, while 300 clients send requests to one path after the other, without rate limits.

import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import type { Engine } from '../../src/platform/database/port.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../test/support/engines/postgres-server.ts';
import { timeMs } from '../support/measure.ts';
import { LISTED_COLLECTION } from '../support/records.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';
import { withListedService } from './hot-listings.ts';

const CLIENTS = 300;
const ROUNDS = 3;
const ROUND_S = 4;
/** All clients have connected after this time. */
const CONNECT_MS = 1_000;
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
  await withListedService((service) => measurePaths(service.url, 'embedded'));
  if (!canRunPostgres()) return recordUnmeasured('the same on PostgreSQL', 'needs PostgreSQL on this machine');
  const server = await startPostgres({ durable: true });
  try {
    const env = { DATABASE_URL: await createTestDatabase(server.url) };
    await withListedService((service) => measurePaths(service.url, 'postgresql'), env);
  } finally {
    await server.stop();
  }
}

async function measurePaths(url: string, engine: Engine): Promise<void> {
  for (const target of PATHS) {
    const rounds: Longest[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(url, target));
    for (const when of ['connect', 'read'] as const) {
      const longest = rounds.map((round) => round[when]);
      judge({
        name: `health check while ${CLIENTS} clients ${when === 'connect' ? 'connect for' : 'read'} ${target} [${engine}], the longest`,
        figure: Math.max(...longest),
        unit: 'ms',
        rounds: longest,
        aim: { atMost: AIM_MS },
      });
    }
  }
}

/** The times of the longest health checks, in milliseconds: of those that began while the clients connected, and of the later ones. */
type Longest = { connect: number; read: number };

async function measureRound(url: string, target: string): Promise<Longest> {
  // In a thread of their own, so that the clients do not delay the measurement.
  const load = autocannon({ url: url + target, connections: CLIENTS, duration: ROUND_S, workers: 1 });
  const start = performance.now();
  const checks = { connect: [] as Promise<number>[], read: [] as Promise<number>[] };
  for (let at = 0; at < ROUND_S * 1_000 - CONNECT_MS; at = performance.now() - start) {
    checks[at < CONNECT_MS ? 'connect' : 'read'].push(timeMs(() => check(url)));
    await delay(CHECK_EVERY_MS);
  }
  const [connect, read] = await Promise.all([Promise.all(checks.connect), Promise.all(checks.read)]);
  await load;
  return { connect: Math.max(...connect), read: Math.max(...read) };
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
