// Tests the reads of products that are served before the router. A client must not notice whether the router served a request.

import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { sendWithKey as send } from '../support/http/header-order.ts';
import { SECOND_MS } from '../support/service/market.ts';
import { forEachStore } from '../support/service/shop.ts';
import { until } from '../support/until.ts';

const WAIT_MS = 30_000;

/** Counts the requests that the router passes to a handler, while the test runs. */
function countRouted(t: TestContext): { count: number } {
  const routed = { count: 0 };
  const count = () => void (routed.count += 1);
  diagnostics.subscribe('tracing:fastify.request.handler:start', count);
  t.after(() => diagnostics.unsubscribe('tracing:fastify.request.handler:start', count));
  return routed;
}

forEachStore('reads before the router', (store) => {
  test('reads before the router have the responses of the router, for each method and coding', async (t) => {
    const shop = await store.shop();
    const { id } = await shop.product();
    // The list of twelve products is large enough to be encoded.
    for (let count = 1; count < 12; count += 1) await shop.product();
    const routed = countRouted(t);
    const paths = ['/products', '/products?limit=2', '/products?collection=none', `/products/${id}`];
    for (const path of paths) {
      const url = `${store.service.url}/api/v1${path}`;
      const first = await send(url, shop.key.secret);
      assert.equal(first.status, 200);
      // The stage before the router serves `known`. The router serves the same request with another spelling of the path.
      for (const method of ['GET', 'HEAD']) {
        for (const coding of ['identity', 'gzip', 'br']) {
          const before = routed.count;
          const known = await send(url, shop.key.secret, { method, coding });
          assert.equal(routed.count, before, `the router served a repeated ${method} ${path}`);
          const spelled = url.includes('?') ? url.replace('?', '/?') : `${url}/`;
          store.advance(4 * SECOND_MS);
          assert.deepEqual(known, await send(spelled, shop.key.secret, { method, coding }));
          assert.equal(routed.count, before + 1, 'the router did not serve the path with another spelling');
        }
      }
    }
  });

  test('reads before the router show each change of a product, and get a 404 after the product was deleted', async (t) => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 5 });
    await shop.ok('GET', `/products/${id}`);
    const routed = countRouted(t);
    for (const name of ['first', 'second']) {
      await store.query(`update main.product set name = $2, version = version + 1 where id = $1`, [id, name]);
      assert.equal((await shop.ok('GET', `/products/${id}`)).data.name, name);
    }
    await store.query(`delete from main.product where id = $1`, [id]);
    const { status, body, headers } = await shop.send('GET', `/products/${id}`);
    assert.deepEqual([status, body.error], [404, { code: 'not_found', message: 'Product not found' }]);
    assert.match(headers.get('x-request-id') ?? '', /./);
    const url = `${store.service.url}/api/v1/products/${id}`;
    const known = await send(url, shop.key.secret);
    assert.equal(routed.count, 0);
    assert.deepEqual(known, await send(`${url}/`, shop.key.secret));
    assert.equal(routed.count, 1);
  });

  test('reads before the router need a key that has the scope products:read and is not revoked, and a product of the shop of this key', async () => {
    const [shop, other] = [await store.shop(), await store.shop()];
    const { id } = await shop.product();
    const { id: keyId, secret } = await shop.newKey(['products:read']);
    const blind = await shop.newKey(['inventory:read']);
    for (const path of ['/products', `/products/${id}`]) {
      assert.equal((await shop.send('GET', path, { secret })).status, 200);
      for (let turn = 0; turn < 2; turn += 1) {
        assert.equal((await shop.send('GET', path, { secret: blind.secret })).status, 403);
        assert.equal((await shop.send('GET', path, { secret: null })).status, 401);
      }
    }
    for (let turn = 0; turn < 2; turn += 1) assert.equal((await other.send('GET', `/products/${id}`)).status, 404);
    assert.equal((await other.ok('GET', '/products')).data.length, 0);
    await store.operate('keys.revoke', { id: keyId });
    store.advance(3 * SECOND_MS);
    assert.equal((await shop.send('GET', `/products/${id}`, { secret })).status, 401);
  });

  test('a read with an invalid parameter gets the 400 of the router each time, even when the same list was read without this parameter', async (t) => {
    const shop = await store.shop();
    const url = `${store.service.url}/api/v1/products`;
    for (let turn = 0; turn < 2; turn += 1) assert.equal((await send(url, shop.key.secret)).status, 200);
    for (const query of ['limit=0', 'limit=1&limit=2', 'cursor=x', 'unknown=1']) {
      const ofRouter = await send(`${url}/?${query}`, shop.key.secret);
      assert.equal(ofRouter.status, 400, query);
      for (let turn = 0; turn < 2; turn += 1) {
        assert.deepEqual(await send(`${url}?${query}`, shop.key.secret), ofRouter, query);
      }
    }
    // Only the parameter `cursor` is rejected by the handler. The router rejects the others before it calls the handler.
    const routed = countRouted(t);
    for (let turn = 0; turn < 2; turn += 1) await send(`${url}?cursor=x`, shop.key.secret);
    assert.equal(routed.count, 2);
  });
});

forEachStore(
  'reads before the router, with an access log',
  (store) => {
    test('reads before the router are logged with their route like reads that the router serves', async (t) => {
      const shop = await store.shop();
      const { id } = await shop.product();
      await shop.ok('GET', `/products/${id}`);
      const routed = countRouted(t);
      store.service.logged.length = 0;
      const lines = () =>
        store.service.logged.map((line) => JSON.parse(line)).filter(({ message }) => message === 'request');
      for (const path of [`/products/${id}`, `/products/${id}/`]) await shop.ok('GET', path);
      await until(() => lines().length === 2, WAIT_MS, 'the reads are not logged');
      assert.equal(routed.count, 1);
      const [known, ordinary] = lines().map(({ route, status, method, client }) => ({ route, status, method, client }));
      assert.deepEqual([known?.route, known?.status], ['/api/v1/products/:productId', 200]);
      assert.deepEqual(known, ordinary);
    });
  },
  { ACCESS_LOG: 'true' },
);

/** The requests a minute of one key. */
const LIMIT = 20;

forEachStore(
  'reads before the router, with a low rate limit',
  (store) => {
    test('reads before the router count in the rate limit of their key', async (t) => {
      const shop = await store.shop();
      const { secret } = await shop.newKey(['products:read']);
      await shop.send('GET', '/products', { secret });
      const routed = countRouted(t);
      for (let sent = 1; sent < LIMIT; sent += 1) {
        assert.equal((await shop.send('GET', '/products', { secret })).status, 200);
      }
      const { status, headers, body } = await shop.send('GET', '/products', { secret });
      assert.deepEqual(
        [status, body.error.code, headers.get('x-ratelimit-limit')],
        [429, 'rate_limited', String(LIMIT)],
      );
      assert.match(headers.get('retry-after') ?? '', /^\d+$/);
      assert.equal(routed.count, 0);
      // The clock of the test stands still, so both responses have the same times.
      const url = `${store.service.url}/api/v1/products`;
      const known = await send(url, secret);
      assert.equal(routed.count, 0);
      assert.deepEqual(known, await send(`${url}/`, secret));
    });
  },
  { STORE_RATE_LIMIT: String(LIMIT) },
);
