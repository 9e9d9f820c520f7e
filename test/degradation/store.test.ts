// The store while the primary database hangs. Every request gets a response in time, and no change is stored in part. Webhooks are
// delivered when the database is back.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { STORE_SCOPES } from '../../src/shop/keys/scopes.ts';
import { REQUEST_TIMEOUT_MS } from '../../src/shop/http/shares.ts';
import type { TwoDatabaseService, TwoServers } from './two-databases.ts';
import { startOnTwoDatabases, withTwoServers } from './two-databases.ts';
import { sendToSocket } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';
import { countConnections, countWaiting, lockTable, withClient } from '../support/engines/postgres-locks.ts';
import { startReceiver } from '../shop/webhooks/fixtures.ts';

/**
 * How much later than its deadline a response may arrive on a busy machine. A response without a deadline would not arrive at all.
 */
const SLACK_MS = 20_000;
const WAIT_MS = 60_000;
/** The pools that connect to the primary: one for the store, and one for all other work. */
const POOLS = 2;

withTwoServers('the store, while the primary hangs', (servers) => {
  test('while the primary is frozen, every request gets a 503 with Retry-After in time', async (t) => {
    const shop = await startShop(t, servers);
    const { id } = (await shop.send('POST', '/products', { name: 'Mug', price: '1', inventory: 20 })).body.data;
    const requests: [string, string, unknown?][] = [
      ['GET', '/products'],
      ['GET', `/products/${id}`],
      ['POST', '/products', { name: 'Cup', price: '1' }],
      ['PUT', `/products/${id}`, { name: 'Mug 2' }],
      ['GET', '/inventory'],
      ['POST', '/inventory', { product_id: id, adjustment: -1 }],
      ['GET', '/inventory/adjustments'],
      ['GET', '/webhooks'],
      ['DELETE', `/products/${id}`],
    ];
    servers.primary.freeze();
    try {
      for (const round of ['with a cached key', 'with a key that is not cached']) {
        const responses = await Promise.all(requests.map((request) => shop.send(...request)));
        for (const [index, { status, headers, body, ms }] of responses.entries()) {
          const what = `${requests[index]?.join(' ')}, ${round}`;
          assert.deepEqual([status, body.error.code], [503, 'unavailable'], what);
          assert.ok(Number(headers.get('retry-after')) > 0, what);
          assert.ok(ms < REQUEST_TIMEOUT_MS + SLACK_MS, `${what} took ${ms} ms`);
        }
        shop.service.advance(60_000);
      }
    } finally {
      servers.primary.thaw();
    }
    // A request that got a 503 may have deleted the first product, so a new product shows that the store works again.
    await until(
      async () => (await shop.send('GET', '/products')).status === 200,
      WAIT_MS,
      'the store does not respond again',
    );
    const created = await shop.send('POST', '/products', { name: 'Jug', price: '1' });
    assert.equal(created.status, 201);
    assert.equal((await shop.send('GET', `/products/${created.body.data.id}`)).status, 200);
  });

  test('a transaction that hangs half-way is rolled back completely', async (t) => {
    const shop = await startShop(t, servers);
    const { id } = (await shop.send('POST', '/products', { name: 'Mug', price: '1', inventory: 20 })).body.data;
    // The transaction changes the product, and then hangs when it writes the event.
    const release = await lockTable(t, shop.service.settings['DATABASE_URL'], 'main.event');
    const change = () =>
      shop.send('PUT', `/products/${id}`, { name: 'Mug 2', inventory: 15 }, { 'idempotency-key': 'k' });
    const rejected = await change();
    assert.deepEqual([rejected.status, rejected.body.error.code], [503, 'unavailable']);
    assert.ok(rejected.ms < REQUEST_TIMEOUT_MS + SLACK_MS, `the response took ${rejected.ms} ms`);
    // The statement of the transaction must end on the server while the lock is still held.
    const isFree = () =>
      withClient(shop.service.settings['DATABASE_URL'] ?? '', (client) =>
        client.query('select 1 from main.product for update nowait').then(
          () => true,
          () => false,
        ),
      );
    await until(isFree, WAIT_MS, 'the transaction is still open');
    const { body } = await shop.send('GET', `/products/${id}`);
    assert.deepEqual([body.data.name, body.data.inventory], ['Mug', 20]);
    await release();
    const [first, again] = [await change(), await change()];
    assert.deepEqual([first.status, again.status, again.headers.get('idempotent-replayed')], [200, 200, 'true']);
    assert.equal((await shop.send('GET', '/inventory/adjustments')).body.data.length, 1);
  });

  test('after a write failed because the primary is read-only, the connection of this write is not used again', async (t) => {
    const shop = await startShop(t, servers);
    const create = () => shop.send('POST', '/products', { name: 'Mug', price: '1' });
    assert.equal((await create()).status, 201);
    const configure = async (change: string) =>
      withClient(servers.primary.url, async (client) => {
        await client.query(`alter system ${change}`);
        await client.query('select pg_reload_conf()');
      });
    const listPids = async (): Promise<number[]> =>
      withClient(servers.primary.url, async (client) => {
        const { rows } = await client.query<{ pid: number }>(
          `select pid from pg_stat_activity where application_name = 'mercat'`,
        );
        return rows.map(({ pid }) => pid);
      });
    const before = await listPids();
    await configure('set default_transaction_read_only = on');
    try {
      await until(async () => (await create()).status !== 201, WAIT_MS, 'the server still writes');
      const { status, headers, body } = await create();
      assert.deepEqual([status, body.error.code], [503, 'unavailable']);
      assert.ok(Number(headers.get('retry-after')) > 0);
      // After a failover, only new connections reach the new primary, so the old ones have to be closed.
      const hasClosed = async () => {
        const now = await listPids();
        return before.some((pid) => !now.includes(pid));
      };
      await until(hasClosed, 20_000, 'the connection is used again');
    } finally {
      await configure('reset default_transaction_read_only');
    }
    await until(async () => (await create()).status === 201, WAIT_MS, 'the store does not write again');
  });

  test('while the primary is stopped, lost connections are logged once for each pool', async (t) => {
    const shop = await startShop(t, servers);
    // Concurrent requests, so that several idle connections stay in the pools of the store and of the marketplace.
    const reads = Array.from({ length: 12 }, (_, number) => `/v1/collections?limit=${number + 1}`);
    await Promise.all(reads.flatMap((path) => [shop.send('GET', '/products'), shop.service.get(path)]));
    const idle = await countConnections(servers.primary.url);
    assert.ok(idle > POOLS, `${idle} connections`);
    await servers.primary.stop();
    try {
      const order = await sendToSocket(shop.service.socketPath, 'GET', '/intake/v1/orders/none');
      const operation = await sendToSocket(shop.service.socketPath, 'POST', '/operator/v1/shops.list', {});
      for (const { status, body } of [order, operation])
        assert.deepEqual([status, body.error.code], [503, 'unavailable']);
    } finally {
      await servers.primary.start();
    }
    assert.ok(!shop.service.logged.some((line) => line.includes('a local request failed')));
    const lost = shop.service.logged.filter((line) => line.includes('connections were lost'));
    assert.ok(lost.length > 0 && lost.length <= POOLS, lost.join(''));
  });

  test('webhook events from before and after a freeze of the primary are delivered', async (t) => {
    const receiver = await startReceiver();
    t.after(receiver.close);
    const shop = await startShop(t, servers, { WEBHOOK_ALLOW_PRIVATE: 'true' });
    const subscribed = await shop.send('POST', '/webhooks', { url: receiver.url, events: ['product.*'] });
    assert.equal(subscribed.status, 201, subscribed.text);
    const release = await lockTable(t, shop.service.settings['DATABASE_URL'], 'main.delivery');
    assert.equal((await shop.send('POST', '/products', { name: 'Before', price: '1' })).status, 201);
    await until(
      async () => (await countWaiting(servers.primary.url)) > 0,
      WAIT_MS,
      'the worker did not query the database',
    );
    servers.primary.freeze();
    const failed = (line: string) => line.includes('webhooks cannot be delivered now');
    try {
      await until(() => shop.service.logged.some(failed), WAIT_MS, 'the worker did not log a failure');
    } finally {
      servers.primary.thaw();
    }
    await release();
    await until(
      async () => (await shop.send('GET', '/products')).status === 200,
      WAIT_MS,
      'the store does not respond again',
    );
    assert.equal((await shop.send('POST', '/products', { name: 'After', price: '1' })).status, 201);
    const names = () => receiver.received.map(({ body }) => (JSON.parse(body) as { data: { name: string } }).data.name);
    await until(() => names().includes('Before') && names().includes('After'), WAIT_MS, 'events are not delivered');
  });
});

type Sent = { status: number; headers: Headers; text: string; body: any; ms: number };

async function startShop(t: TestContext, servers: TwoServers, settings: Record<string, string> = {}) {
  const service: TwoDatabaseService = await startOnTwoDatabases(t, servers, { empty: true, settings });
  await service.operate('shops.create', { name: 'shop' });
  const { body } = await service.operate('keys.create', { shop: 'shop', scopes: STORE_SCOPES });
  const { secret } = body.result as { secret: string };
  const send = async (
    method: string,
    path: string,
    sent?: unknown,
    more: Record<string, string> = {},
  ): Promise<Sent> => {
    const startedAt = performance.now();
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...more },
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    });
    const text = await response.text();
    const ms = performance.now() - startedAt;
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text), ms };
  };
  return { service, send };
}
