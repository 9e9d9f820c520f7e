// Another client of the database keeps products locked. Changes of these products fail, and all other requests succeed.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { STORE_SCOPES } from '../../src/shop/keys/scopes.ts';
import { countWaiting, withClient } from '../support/engines/postgres-locks.ts';
import { until } from '../support/until.ts';
import { sendToSocket } from '../support/service/service-process.ts';
import type { TwoDatabaseService, TwoServers } from './two-databases.ts';
import { startOnTwoDatabases, withTwoServers } from './two-databases.ts';

/**
 * All changes of the locked product must be rejected within this time. If all ADJUSTMENTS changes waited for the lock, 2 s each and two at a
 * time, the rejections would take 40 s.
 */
const REJECTED_WITHIN_MS = 20_000;
const WAIT_MS = 60_000;
const ADJUSTMENTS = 40;
/** The most statements that change one product at the same time. */
const OF_PRODUCT_MAX = 2;
/** The most connections that one shop uses. Other shops can use the other two of the ten connections of the store. */
const OF_SHOP_MAX = 8;

type Sent = { status: number; headers: Headers; body: any };
type Send = (method: string, path: string, body?: object) => Promise<Sent>;

withTwoServers('a product that stays locked', (servers) => {
  test('changes of a locked product get a 503 with Retry-After, and nothing else is affected', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    const [send, sendOther] = [await openShop(service, 'one'), await openShop(service, 'other')];
    const [locked, free, others] = [await newProduct(send), await newProduct(send), await newProduct(sendOther)];

    await lockProducts(service, [locked], async (release) => {
      const startedAt = performance.now();
      const done: boolean[] = [];
      const waiting = Promise.all([
        ...Array.from({ length: ADJUSTMENTS }, () => adjust(send, locked)),
        send('PUT', `/products/${locked}`, { name: 'Cup' }),
        send('DELETE', `/products/${locked}`),
      ]).finally(() => done.push(true));
      // While the changes of the locked product wait, every other request is answered.
      let rounds = 0;
      while (done.length === 0) {
        assert.equal((await adjust(send, free)).status, 200);
        assert.equal((await adjust(sendOther, others)).status, 200);
        assert.equal((await send('GET', `/products/${locked}`)).status, 200);
        service.advance(2_000);
        assert.equal((await service.get('/v1/collections?limit=2')).status, 200);
        const statements = await countWaiting(servers.primary.url);
        assert.ok(statements <= OF_PRODUCT_MAX, `${statements} statements wait for the locked product`);
        rounds += 1;
      }
      assert.ok(rounds > 1, 'the requests did not wait');
      for (const { status, headers, body } of await waiting) {
        assert.deepEqual([status, body.error.code], [503, 'unavailable']);
        assert.ok(Number(headers.get('retry-after')) > 0);
      }
      const ms = performance.now() - startedAt;
      assert.ok(ms < REJECTED_WITHIN_MS, `the changes were rejected after ${ms} ms`);
      // The server ends abandoned statements before the row is free. None of them takes effect.
      await untilNoneWaits(servers);
      await release();
    });
    assert.equal((await adjust(send, locked)).status, 200);
    assert.equal((await send('GET', `/products/${locked}`)).body.data.inventory, 99);
  });

  test('a batch makes the changes of the other products, and rejects those of a product that stays locked', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    const send = await openShop(service, 'one');
    const [locked, free] = [await newProduct(send), await newProduct(send)];
    const changes = [locked, free, locked].map((product_id) => ({ product_id, adjustment: -1 }));
    await lockProducts(service, [locked], async (release) => {
      const { status, body } = await send('POST', '/inventory/batch', { changes });
      assert.equal(status, 200);
      assert.deepEqual(
        body.data.map(({ outcome, change, error }: any) => [outcome, change?.inventory ?? error.code]),
        [
          ['rejected', 'unavailable'],
          ['applied', 99],
          ['rejected', 'unavailable'],
        ],
      );
      const atomic = await send('POST', '/inventory/batch?atomic=true', { changes });
      assert.deepEqual([atomic.status, atomic.body.error.code], [503, 'unavailable']);
      assert.deepEqual(
        atomic.body.error.details.map(({ path }: any) => path),
        ['changes.0', 'changes.2'],
      );
      await release();
    });
    for (const id of [locked, free]) {
      const stock = (await send('GET', `/products/${id}`)).body.data.inventory;
      assert.equal(stock, id === locked ? 100 : 99);
    }
    assert.equal((await send('POST', '/inventory/batch?atomic=true', { changes })).status, 200);
  });

  test('a shop whose products are all locked leaves two connections to other shops', async (t: TestContext) => {
    const service = await startOnTwoDatabases(t, servers);
    const [send, sendOther] = [await openShop(service, 'one'), await openShop(service, 'other')];
    const locked: string[] = [];
    while (locked.length < OF_SHOP_MAX) locked.push(await newProduct(send));
    const others = await newProduct(sendOther);

    await lockProducts(service, locked, async (release) => {
      const done: boolean[] = [];
      const waiting = Promise.all([...locked, ...locked].map((id) => adjust(send, id))).finally(() => done.push(true));
      while (done.length === 0) {
        assert.equal((await adjust(sendOther, others)).status, 200);
        const statements = await countWaiting(servers.primary.url);
        assert.ok(statements <= OF_SHOP_MAX, `${statements} statements of the shop wait`);
      }
      for (const { status } of await waiting) assert.equal(status, 503);
      await untilNoneWaits(servers);
      await release();
    });
    for (const id of locked) assert.equal((await adjust(send, id)).status, 200);
  });
});

async function openShop(service: TwoDatabaseService, name: string): Promise<Send> {
  const operate = async (operation: string, input: object) =>
    (await sendToSocket(service.socketPath, 'POST', `/operator/v1/${operation}`, input)).body.result;
  await operate('shops.create', { name });
  const { secret } = await operate('keys.create', { shop: name, scopes: STORE_SCOPES });
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${service.url}/api/v1${path}`, init);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
}

async function newProduct(send: Send): Promise<string> {
  const { body } = await send('POST', '/products', { name: 'Mug', price: '1', inventory: 100 });
  return body.data.id as string;
}

function adjust(send: Send, id: string): Promise<Sent> {
  return send('POST', '/inventory', { product_id: id, adjustment: -1 });
}

/** Runs `work` while another client of the database holds locks on the products. */
function lockProducts(
  service: TwoDatabaseService,
  ids: readonly string[],
  work: (release: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  return withClient(service.settings['DATABASE_URL'] ?? '', async (client) => {
    await client.query('begin');
    await client.query('select 1 from main.product where id = any($1) order by id for update', [ids]);
    await work(() => client.query('rollback'));
  });
}

function untilNoneWaits(servers: TwoServers): Promise<void> {
  const isReached = async () => (await countWaiting(servers.primary.url)) === 0;
  return until(isReached, WAIT_MS, 'a statement still waits');
}
