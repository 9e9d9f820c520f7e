// Reads GET /inventory of a shop with 200,000 products many times concurrently. Meanwhile measures the response times of another shop and
// of the marketplace, and the memory of the process. Its heap is limited to 256 MB.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../src/core/clock.ts';
import { createLog } from '../src/core/log.ts';
import { createDatabase } from '../src/database/port.ts';
import { migrate } from '../src/database/migrate.ts';
import { openPostgres } from '../src/database/postgres.ts';
import { createShopOperations } from '../src/shop/operations.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../test/support/engines/postgres-server.ts';
import { startServiceProcess } from '../test/support/service/service-process.ts';
import { say } from './measure.ts';
import { SecretKeys } from '../src/core/secret-keys.ts';

const PRODUCTS = 200_000;
const READS = 100;
/** The pause between two probes, long enough not to reach the rate limit of the marketplace. */
const PROBE_PERIOD_MS = 200;
const QUIET_MS = 5_000;

const INSERT = `insert into main.product (id, shop_id, name, slug, price, type, more_images, inventory, track_inventory, requires_shipping,
    weight_grams, collections, created_at, updated_at)
  select 'prod_' || lpad(n::text, 26, '0') || $3, $1, 'Product ' || n, 'product-' || n, '19.90', 'physical', '{}', 50, true, true, 0, '{}',
    now(), now()
  from generate_series(1, $2) as n`;

export async function benchLargeInventory(): Promise<void> {
  if (!canRunPostgres()) return say('inventory: not run, no PostgreSQL on this machine');
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const server = await startPostgres({ durable: true });
  const url = await createTestDatabase(server.url);
  const log = createLog('warn');
  const { pool, close } = openPostgres(url, log);
  const main = createDatabase(pool, { engine: 'postgresql', name: 'main', onClose: close });
  await migrate(main, 'main');
  const operations = createShopOperations({
    main,
    clock: systemClock,
    log,
    serviceName: 'mercat',
    secretKeys: new SecretKeys([]),
  });
  const openShop = async (name: string, products: number) => {
    const shop = (await operations['shops.create']?.({ name })) as { id: string };
    const key = await operations['keys.create']?.({ shop: name, scopes: ['inventory:read', 'products:read'] });
    await main.query(INSERT, [shop.id, products, name]);
    return { headers: { authorization: `Bearer ${(key as { secret: string }).secret}` } };
  };
  const [large, small] = [await openShop('large', PRODUCTS), await openShop('small', 10)];
  await main.query('vacuum analyze main.product');
  const settings = { DATA_DIR: dir, DATABASE_URL: url, STORE_RATE_LIMIT: '100000000' };
  const service = await startServiceProcess({ ...settings, NODE_OPTIONS: '--max-old-space-size=256' });
  try {
    const store = { url: `${service.url}/api/v1/products`, init: small };
    const market = { url: `${service.url}/v1/collections/none`, init: {} };
    const quiet = await Promise.all([probe(store, delay(QUIET_MS)), probe(market, delay(QUIET_MS))]);
    const before = residentBytes(service.pid);
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, residentBytes(service.pid))), 100);
    const startedAt = performance.now();
    const reads = Promise.all(Array.from({ length: READS }, () => readAll(`${service.url}/api/v1/inventory`, large)));
    const busy = await Promise.all([probe(store, reads), probe(market, reads)]);
    clearInterval(watch);
    const statuses = await reads;
    const complete = statuses.filter((status) => status === 200).length;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    say(
      `inventory of ${PRODUCTS} products, read ${READS} times at once: ${complete} complete, ${READS - complete} rejected, ${seconds} s`,
    );
    for (const [index, name] of ['another shop', 'the marketplace'].entries()) {
      say(`  p99 of ${name}: ${p99(quiet[index] ?? [])} ms alone, ${p99(busy[index] ?? [])} ms meanwhile`);
    }
    say(`  memory: ${Math.round((peak - before) / 2 ** 20)} MB more`);
  } finally {
    await service.stop();
    await main.close();
    await server.discard();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function readAll(url: string, init: RequestInit): Promise<number> {
  const response = await fetch(url, init);
  for await (const _ of response.body ?? []) continue;
  return response.status;
}

/** Sends requests one after another until `until` resolves. Returns the milliseconds of each request. */
async function probe({ url, init }: { url: string; init: RequestInit }, until: Promise<unknown>): Promise<number[]> {
  const done: true[] = [];
  void until.then(() => done.push(true));
  const times: number[] = [];
  while (done.length === 0) {
    const startedAt = performance.now();
    await readAll(url, init);
    times.push(performance.now() - startedAt);
    await delay(PROBE_PERIOD_MS);
  }
  return times;
}

function p99(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}

/** The resident memory of a process on Linux. */
function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;
}
