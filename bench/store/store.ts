// Measures the store on PostgreSQL with durable commits. Changes of stock are compared with a loop that runs one statement for each change,
// without the service. Reads are compared with a bare node:http server that sends the same bytes and headers.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/platform/core/clock.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openPostgres } from '../../src/platform/database/postgres.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { createShopOperations } from '../../src/shop/operations.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../test/support/engines/postgres-server.ts';
import { load, startServer } from '../reads/hot-listings.ts';
import { compare } from '../support/measure.ts';
import { SecretKeys } from '../../src/platform/core/secret-keys.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const ROUNDS = 7;
const ROUND_S = 3;
const CONNECTIONS = 32;
const PRODUCTS = 1_000;
/** The number of products whose stock is changed, large enough that callers rarely wait for the same row. */
const CHANGED_PRODUCTS = 200;

/** The aims: the smallest ratio for reads, the smallest ratio for adjustments, and the fewest adjustments and reservations of one product per second. */
const AIMS = { reads: 0.5, adjustments: 1.2, hotAdjustments: 3_000, hotReservations: 3_000 };

type Shop = { url: string; id: string; keyId: string; authorization: string; productIds: string[] };

export async function benchStore(): Promise<void> {
  if (!canRunPostgres()) return recordUnmeasured('store', 'needs PostgreSQL on this machine');
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const server = await startPostgres({ durable: true });
  const url = await createTestDatabase(server.url);
  const log = createLog('warn');
  const { pool, close } = openPostgres(url, log);
  const database = createDatabase(pool, { engine: 'postgresql', name: 'main', onClose: close });
  await migrate(database, 'main');
  const env = { DATA_DIR: dir, DATABASE_URL: url, PORT: '0', STORE_RATE_LIMIT: '100000000' };
  const service = await startServer(['service'], env);
  try {
    const shop = await openShop(database, service.url);
    await benchAdjustments(database, shop);
    await benchHotProduct(database, shop);
    await benchReservations(database, shop);
    await benchRead('product list, 50 rows', shop, '/api/v1/products?limit=50', dir);
    await benchRead('one product', shop, `/api/v1/products/${shop.productIds[0]}`, dir);
    await benchUpdates(shop);
  } finally {
    await service.stop();
    await database.close();
    await server.discard();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Makes a shop with a key and `PRODUCTS` products. */
export async function openShop(main: Database, serviceUrl: string): Promise<Shop> {
  const context = {
    main,
    clock: systemClock,
    log: createLog('warn'),
    serviceName: 'mercat',
    secretKeys: new SecretKeys([]),
  };
  const operations = createShopOperations(context);
  const shop = (await operations['shops.create']?.({ name: 'bench' })) as { id: string };
  const scopes = ['products:read', 'products:write', 'inventory:write'];
  const key = (await operations['keys.create']?.({ shop: 'bench', scopes })) as { id: string; secret: string };
  const authorization = `Bearer ${key.secret}`;
  const productIds: string[] = [];
  for (let number = 0; number < PRODUCTS; number += 1) {
    const response = await fetch(`${serviceUrl}/api/v1/products`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Product ${number}`, price: '19.90', inventory: 1_000_000, collections: ['bench'] }),
    });
    productIds.push(((await response.json()) as { data: { id: string } }).data.id);
  }
  return { url: serviceUrl, id: shop.id, keyId: key.id, authorization, productIds };
}

async function benchAdjustments(database: Database, shop: Shop): Promise<void> {
  const changed = shop.productIds.slice(0, CHANGED_PRODUCTS);
  const throughService = () => loadAdjustments(shop, changed);
  const bare = () => loopAdjustments(database, shop, changed);
  await throughService();
  await bare();
  report(
    'stock adjustments',
    await compare(ROUNDS, throughService, bare),
    'statements without the service',
    AIMS.adjustments,
  );
}

/** Measures adjustments of one product. For comparison, measures the same adjustments as statements without the service. */
async function benchHotProduct(database: Database, shop: Shop): Promise<void> {
  const hot = shop.productIds.slice(0, 1);
  await loadAdjustments(shop, hot);
  const rates: number[] = [];
  const { a, b, ratio } = await compare(
    ROUNDS,
    async () => {
      const rate = await loadAdjustments(shop, hot);
      rates.push(rate);
      return rate;
    },
    () => loopAdjustments(database, shop, hot),
  );
  judge({
    name: 'store, adjustments of one product',
    figure: a,
    unit: 'a second',
    rounds: rates,
    aim: { atLeast: AIMS.hotAdjustments },
    beside: `statements without the service ${b.toFixed(0)}, ratio ${ratio.toFixed(2)}`,
  });
}

/** Measures reservations of one product, beside adjustments of the same product. */
async function benchReservations(database: Database, shop: Shop): Promise<void> {
  const [productId = ''] = shop.productIds;
  await database.query('update main.product set inventory = 2000000000 where id = $1', [productId]);
  const headers = { authorization: shop.authorization, 'content-type': 'application/json' };
  const requests = [{ body: JSON.stringify({ items: [{ product_id: productId, quantity: 1 }] }) }];
  const reserve = () => load(`${shop.url}/api/v1/reservations`, { method: 'POST', headers, requests, status: 201 });
  await reserve();
  const rates: number[] = [];
  const noted = async () => {
    const rate = await reserve();
    rates.push(rate);
    return rate;
  };
  const { a, b, ratio } = await compare(ROUNDS, noted, () => loadAdjustments(shop, [productId]));
  judge({
    name: 'store, reservations of one product',
    figure: a,
    unit: 'a second',
    rounds: rates,
    aim: { atLeast: AIMS.hotReservations },
    beside: `adjustments ${b.toFixed(0)}, ratio ${ratio.toFixed(2)}`,
  });
}

function loadAdjustments(shop: Shop, productIds: readonly string[]): Promise<number> {
  const headers = { authorization: shop.authorization, 'content-type': 'application/json' };
  const requests = productIds.map((id) => ({ body: JSON.stringify({ product_id: id, adjustment: -1 }) }));
  return load(`${shop.url}/api/v1/inventory`, { method: 'POST', headers, requests });
}

/** An adjustment as one statement of its own: the change, its log entry and the low-stock event. */
const ONE_ADJUSTMENT = `
  with target as (
    select id, shop_id, name, inventory as previous, track_inventory, greatest(inventory - 1, 0) as next
    from main.product where shop_id = $1 and id = $2 for update
  ), changed as (
    update main.product as product set inventory = next, version = product.version + 1, updated_at = now()
    from target where product.id = target.id returning target.*
  ), logged as (
    insert into main.adjustment (shop_id, product_id, previous, next, requested, mode, reason, source, key_id, created_at)
    select shop_id, id, previous, next, -1, 'adjustment', 'API adjustment', 'inventory', $3, now() from changed
    returning public_id
  ), low as (
    insert into main.event (id, shop_id, type, data, created_at)
    select 'evt_' || gen_random_uuid(), shop_id, 'inventory.low',
      json_build_object('productId', changed.id, 'name', name, 'inventory', next, 'adjustmentId', public_id)::text, now()
    from changed, logged where track_inventory and previous > 10 and next <= 10
  )
  select target.*, (select public_id from logged) as adjustment_id from target`;

/** Returns the changes per second that `CONNECTIONS` callers make if they run only the statement, without the service. */
async function loopAdjustments(database: Database, shop: Shop, productIds: readonly string[]): Promise<number> {
  const until = performance.now() + ROUND_S * 1_000;
  let changes = 0;
  const call = async (first: number) => {
    for (let turn = first; performance.now() < until; turn += 1) {
      await database.query(ONE_ADJUSTMENT, [shop.id, productIds[turn % productIds.length], shop.keyId]);
      changes += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => call(index * 7)));
  return changes / ROUND_S;
}

async function benchRead(what: string, shop: Shop, page: string, dir: string): Promise<void> {
  const headers = { authorization: shop.authorization };
  const response = await fetch(shop.url + page, { headers: { ...headers, 'accept-encoding': 'identity' } });
  const body = await response.text();
  const sent = [...response.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)).flat();
  const file = path.join(dir, 'same.json');
  writeFileSync(file, JSON.stringify({ status: 200, headers: sent, body: Buffer.from(body).toString('base64') }));
  const bare = await startServer(['bare', file], {});
  try {
    await load(shop.url + page, { headers });
    await load(bare.url + page, { headers });
    const result = await compare(
      ROUNDS,
      () => load(shop.url + page, { headers }),
      () => load(bare.url + page, { headers }),
    );
    report(`${what}, ${body.length} bytes`, result, 'bare node:http', AIMS.reads);
  } finally {
    await bare.stop();
  }
}

/** Measures product updates, without a ratio, because no bare server or statement does the same work. */
async function benchUpdates(shop: Shop): Promise<void> {
  const headers = { authorization: shop.authorization, 'content-type': 'application/json' };
  const url = `${shop.url}/api/v1/products`;
  const requests = shop.productIds
    .slice(0, CHANGED_PRODUCTS)
    .flatMap((id) =>
      [1, 2].map((turn) => ({ path: `/api/v1/products/${id}`, body: JSON.stringify({ description: `${turn}` }) })),
    );
  const rate = await load(url, { method: 'PUT', headers, requests });
  judge({ name: 'store, product updates', figure: rate, unit: 'requests/s', rounds: [], aim: null });
}

function report(what: string, result: Awaited<ReturnType<typeof compare>>, bare: string, aim: number): void {
  const { a, b, ratio, ratios } = result;
  judge({
    name: `store, ${what}, rate as a multiple of ${bare}`,
    figure: ratio,
    unit: '',
    rounds: ratios,
    aim: { atLeast: aim },
    beside: `${a.toFixed(0)} requests/s; ${bare} ${b.toFixed(0)}`,
  });
}
