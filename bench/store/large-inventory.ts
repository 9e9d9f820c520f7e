// Reads GET /inventory of a shop with 200,000 products 100 times at once, on each engine. Meanwhile another shop and the marketplace send
// requests. Checks that the reads slow down these other requests by little, and that the service needs little memory for the reads. The heap
// of the service is limited to 256 MB.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/service/config.ts';
import { systemClock } from '../../src/platform/core/clock.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { SecretKeys } from '../../src/platform/core/secret-keys.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabases } from '../../src/platform/database/open.ts';
import type { Engine } from '../../src/platform/database/port.ts';
import { createShopOperations } from '../../src/shop/operations.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../test/support/engines/postgres-server.ts';
import { startServiceProcess } from '../../test/support/service/service-process.ts';
import { residentMiB } from '../support/measure.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const PRODUCTS = Number(process.env['BENCH_PRODUCTS'] ?? 200_000);
const READS = 100;
const HEAP_MB = 256;
/** The aim for the time that the reads add to the p99 of other requests. */
const MORE_AT_P99_MS = 50;
/** The aim for the memory that the reads add. */
const MORE_MEMORY_MIB = 150;

/** The pause between two probes, long enough not to reach the rate limit of the marketplace. */
const PROBE_PERIOD_MS = 200;
const QUIET_MS = 10_000;
const MEMORY_PERIOD_MS = 100;

const INSERT = `insert into main.product (id, shop_id, name, slug, price, type, more_images, inventory, track_inventory, requires_shipping,
    weight_grams, collections, created_at, updated_at)
  select 'prod_' || lpad(n::text, 26, '0') || $3, $1, 'Product ' || n, 'product-' || n, '19.90', 'physical', '{}', 50, true, true, 0, '{}',
    now(), now()
  from generate_series(1, $2) as n`;

type Settings = Record<string, string> & { DATA_DIR: string };

export async function benchLargeInventory(): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const settings = { DATA_DIR: dir, PRICE_SOURCES: 'none', STORE_RATE_LIMIT: '100000000' };
  try {
    await benchOn('embedded', { ...settings, DATA_DIR: path.join(dir, 'embedded') });
    if (!canRunPostgres()) return recordUnmeasured('inventory, postgresql', 'needs PostgreSQL on this machine');
    const server = await startPostgres({ durable: true });
    try {
      await benchOn('postgresql', { ...settings, DATABASE_URL: await createTestDatabase(server.url) });
    } finally {
      await server.discard();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function benchOn(engine: Engine, settings: Settings): Promise<void> {
  const { large, small } = await fillShops(settings);
  const service = await startServiceProcess({ ...settings, NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` });
  try {
    const others = [
      { name: 'another shop', url: `${service.url}/api/v1/products`, authorization: small },
      { name: 'the marketplace', url: `${service.url}/v1/collections/none`, authorization: '' },
    ];
    const probeAll = (until: Promise<unknown>) => Promise.all(others.map((other) => probe(other, until)));
    // The first read of a process also compiles the code and fills the caches of the database.
    await readConcurrently(service.url, large, 1);
    const quiet = await probeAll(delay(QUIET_MS));
    const before = residentMiB(service.pid);
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, residentMiB(service.pid))), MEMORY_PERIOD_MS);
    const startedAt = performance.now();
    const reads = readConcurrently(service.url, large, READS);
    const busy = await probeAll(reads);
    clearInterval(watch);
    const { complete, rejected, other } = await reads;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const what = `inventory of ${PRODUCTS} products, ${engine}, read ${READS} times at once`;
    judge({
      name: `${what}, failed reads`,
      figure: other,
      unit: '',
      rounds: [],
      aim: { atMost: 0 },
      beside: `${complete} complete, ${rejected} rejected with 503, ${seconds} s`,
    });
    for (const [index, { name }] of others.entries()) {
      const [alone, meanwhile] = [p99(quiet[index]), p99(busy[index])];
      judge({
        name: `${what}, time that these reads add to the p99 of ${name}`,
        figure: meanwhile - alone,
        unit: 'ms',
        rounds: [],
        aim: { atMost: MORE_AT_P99_MS },
        failures: busy[index]?.failed ?? 0,
        beside: `${meanwhile} ms, alone ${alone} ms, ${busy[index]?.times.length} requests`,
      });
    }
    judge({
      name: `${what}, memory that these reads add`,
      figure: peak - before,
      unit: 'MiB',
      rounds: [],
      aim: { atMost: MORE_MEMORY_MIB },
      beside: `${before.toFixed(0)} MiB before`,
    });
  } finally {
    await service.stop();
  }
}

/** Creates the tables, a shop with PRODUCTS products and a shop with ten. Returns the header `Authorization` of each. */
async function fillShops(settings: Settings): Promise<{ large: string; small: string }> {
  const log = createLog('warn');
  const { main, indexer, close } = await openDatabases(readConfig(settings, {}), log);
  try {
    await migrate(main, 'main');
    await migrate(indexer, 'indexer');
    const context = { main, clock: systemClock, log, serviceName: 'mercat', secretKeys: new SecretKeys([]) };
    const operations = createShopOperations(context);
    const openShop = async (name: string, products: number) => {
      const shop = (await operations['shops.create']?.({ name })) as { id: string };
      const key = await operations['keys.create']?.({ shop: name, scopes: ['inventory:read', 'products:read'] });
      await main.query(INSERT, [shop.id, products, name]);
      return `Bearer ${(key as { secret: string }).secret}`;
    };
    const shops = { large: await openShop('large', PRODUCTS), small: await openShop('small', 10) };
    await main.query('vacuum analyze main.product');
    return shops;
  } finally {
    await close();
  }
}

type ReadCounts = { complete: number; rejected: number; other: number };

/** Reads the inventory in a process of its own, so that the reading does not delay the probes of this process. */
async function readConcurrently(url: string, authorization: string, reads: number): Promise<ReadCounts> {
  const program = fileURLToPath(new URL('./inventory-readers.ts', import.meta.url));
  const args = [program, `${url}/api/v1/inventory`, authorization, String(reads), String(PRODUCTS)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(output) as ReadCounts;
}

type Probe = { times: number[]; failed: number };

/** Sends requests one after another until `until` resolves. A status of 500 or above counts as failed. */
async function probe(
  { url, authorization }: { url: string; authorization: string },
  until: Promise<unknown>,
): Promise<Probe> {
  const done: true[] = [];
  void until.then(() => done.push(true));
  const result: Probe = { times: [], failed: 0 };
  while (done.length === 0) {
    const startedAt = performance.now();
    const response = await fetch(url, { headers: { authorization } });
    await response.arrayBuffer();
    result.times.push(performance.now() - startedAt);
    if (response.status >= 500) result.failed += 1;
    await delay(PROBE_PERIOD_MS);
  }
  return result;
}

/** In milliseconds. */
function p99(result: Probe | undefined): number {
  const sorted = (result?.times ?? []).toSorted((one, other) => one - other);
  return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}
