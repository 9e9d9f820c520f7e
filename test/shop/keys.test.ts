// API keys: the scopes that each operation needs, requests without a valid key, and the precedence of errors.
// shop-isolation.suite.ts tests that a key has access to its own shop only.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { INTAKE_SCOPES, STORE_SCOPES } from '../../src/shop/keys/scopes.ts';
import { createApiKey } from '../../src/shop/keys/api-key.ts';
import { forOneStore } from '../support/service/shop.ts';
import { assertUnauthorized, fromNewAddress } from './key-requests.ts';
import { describeShopIsolation } from './shop-isolation.suite.ts';

type Operation = { scope: string; method: string; path: (id: string) => string; body?: (id: string) => unknown };

const ONE = (id: string) => `/products/${id}`;
/** The operations of the store API, each with a request that is valid for a given product id. */
const OPERATIONS: Record<string, Operation> = {
  listProducts: { scope: 'products:read', method: 'GET', path: () => '/products' },
  createProduct: {
    scope: 'products:write',
    method: 'POST',
    path: () => '/products',
    body: () => ({ name: 'New', price: 1 }),
  },
  storeProducts: {
    scope: 'products:write',
    method: 'POST',
    path: () => '/products/batch',
    body: (id) => ({ products: [{ id, price: 2 }] }),
  },
  getProduct: { scope: 'products:read', method: 'GET', path: ONE },
  updateProduct: { scope: 'products:write', method: 'PUT', path: ONE, body: () => ({ description: 'x' }) },
  listInventory: { scope: 'inventory:read', method: 'GET', path: () => '/inventory' },
  changeInventoryBatch: {
    scope: 'inventory:write',
    method: 'POST',
    path: () => '/inventory/batch',
    body: (id) => ({ changes: [{ product_id: id, adjustment: -1 }] }),
  },
  changeInventory: {
    scope: 'inventory:write',
    method: 'POST',
    path: () => '/inventory',
    body: (id) => ({ product_id: id, adjustment: 1 }),
  },
  listAdjustments: { scope: 'inventory:read', method: 'GET', path: () => '/inventory/adjustments' },
  deleteProduct: { scope: 'products:write', method: 'DELETE', path: ONE },
};

forOneStore('keys', (store) => {
  describe('scopes', () => {
    for (const [name, { scope, method, path, body }] of Object.entries(OPERATIONS)) {
      test(`${name} is allowed only for keys with ${scope}`, async () => {
        const shop = await store.shop();
        const { id } = await shop.product({ inventory: 50 });
        const request = { body: body?.(id) };
        const lackingKey = await shop.newKey(STORE_SCOPES.filter((one) => one !== scope));
        const rejected = await shop.send(method, path(id), { ...request, secret: lackingKey.secret });
        assert.deepEqual([rejected.status, rejected.body.error.code], [403, 'forbidden']);
        assert.match(rejected.body.error.message, new RegExp(scope));
        const scopedKey = await shop.newKey([scope]);
        const response = await shop.send(method, path(id), { ...request, secret: scopedKey.secret });
        assert.equal(response.status, name === 'createProduct' ? 201 : 200, response.text);
      });
    }

    test('this file tests the scope of every operation of the OpenAPI document except those on webhooks, reservations and changes, which their own files test', () => {
      const ids = Object.entries<any>(store.document.paths)
        .filter(([path]) => !/\/(?:webhooks|reservations|changes)/.test(path))
        .flatMap(([, item]) => Object.values<any>(item).map((operation) => operation.operationId));
      assert.deepEqual(new Set(ids), new Set(Object.keys(OPERATIONS)));
    });

    test('an intake key gets 403 from every operation of the store', async () => {
      const key = await store.operate('keys.create', { scopes: [...INTAKE_SCOPES] });
      assert.deepEqual([key.shop, key.scopes], [null, INTAKE_SCOPES]);
      const listed = (await store.operate('keys.list', {})).find((one: any) => one.id === key.id);
      assert.deepEqual([listed.shop, listed.scopes], [null, INTAKE_SCOPES]);
      const next = await store.operate('keys.rotate', { id: key.id });
      assert.deepEqual([next.shop, next.scopes], [null, INTAKE_SCOPES]);
      const shop = await store.shop();
      const { id } = await shop.product();
      for (const { method, path, body, scope } of Object.values(OPERATIONS)) {
        const { status, body: response } = await shop.send(method, path(id), { body: body?.(id), secret: key.secret });
        assert.deepEqual(
          [status, response.error],
          [403, { code: 'forbidden', message: `This key lacks the scope ${scope}` }],
        );
      }
    });
  });

  describe('a request without a valid key', () => {
    for (const [name, { method, path, body }] of Object.entries(OPERATIONS)) {
      test(`${name} without a valid key gets 401 before the id, the query and the body are checked`, async () => {
        const shop = await store.shop();
        const { id } = await shop.product();
        const good = fromNewAddress({ secret: null, body: body?.(id) });
        assertUnauthorized(await shop.send(method, path(id), good));
        const bad = fromNewAddress({ secret: null, ...(body && { body: '{"' }) });
        assertUnauthorized(await shop.send(method, `${path('no such id')}?limit=0`, bad));
        assert.equal((await shop.send('GET', `/products/${id}`)).body.data.inventory, 0);
      });
    }

    test('the 401 for an invalid key does not reveal what is wrong with the key', async () => {
      const shop = await store.shop();
      const { secret } = shop.key;
      const responses = new Set<string>();
      const unknown = createApiKey('mercat', (size) => new Uint8Array(size).fill(7));
      const last = secret.at(-1) === 'a' ? 'b' : 'a';
      const headers = [
        '',
        'Bearer',
        'Bearer ',
        secret,
        `Basic ${Buffer.from(`${secret}:`).toString('base64')}`,
        `Bearer ${secret}x`,
        `Bearer ${secret.slice(0, -1)}`,
        `Bearer ${secret.slice(0, -1)}${last}`,
        `Bearer ${secret} ${secret}`,
        `Bearer "${secret}"`,
        `Bearer ${secret.toUpperCase()}`,
        `Bearer ${unknown}`,
        `Bearer ${createApiKey('another', () => new Uint8Array(30).fill(9))}`,
        `Bearer ${'x'.repeat(5_000)}`,
      ];
      for (const authorization of headers) {
        const response = await shop.send(
          'GET',
          '/products',
          fromNewAddress({ secret: null, headers: { authorization } }),
        );
        assertUnauthorized(response);
        responses.add(response.text);
      }
      assert.equal(responses.size, 1);
      assert.equal(
        (await shop.send('GET', '/products', { headers: { authorization: `bearer  ${secret}` } })).status,
        200,
      );
    });

    test('a valid key in the query, a cookie, the body or another header is ignored, and the request gets 401', async () => {
      const shop = await store.shop();
      const { secret } = shop.key;
      for (const name of ['api_key', 'apiKey', 'key', 'token', 'access_token', 'authorization']) {
        assertUnauthorized(await shop.send('GET', `/products?${name}=${secret}`, fromNewAddress({ secret: null })));
        assertUnauthorized(
          await shop.send('GET', `/products?${name}=Bearer%20${secret}`, fromNewAddress({ secret: null })),
        );
      }
      const headers = { cookie: `key=${secret}`, 'x-api-key': secret, 'proxy-authorization': `Bearer ${secret}` };
      assertUnauthorized(await shop.send('GET', '/products', fromNewAddress({ secret: null, headers })));
      const body = { access_token: secret, name: 'a', price: 1 };
      assertUnauthorized(await shop.send('POST', '/products', fromNewAddress({ secret: null, body })));
    });

    test('a request with a malformed or mistyped key runs no SQL statement', async () => {
      const shop = await store.shop();
      const before = store.statements('main.api_key');
      for (const secret of ['x', `${shop.key.secret}0`, `mercat_live_${'0'.repeat(36)}`, 'mercat_live_']) {
        assertUnauthorized(await shop.send('GET', '/products', fromNewAddress({ secret })));
      }
      assert.equal(store.statements('main.api_key'), before);
      await shop.ok('GET', '/products');
      assert.ok(store.statements('main.api_key') > before, 'a request with a valid key ran no SQL statement');
    });
  });

  describe('wrong keys', () => {
    test('a wrong key that is sent again is looked up in the database at most once a second', async () => {
      const shop = await store.shop();
      const secret = createApiKey('mercat', randomBytes);
      const before = store.statements('main.api_key');
      for (let request = 0; request < 5; request += 1) {
        assertUnauthorized(await shop.send('GET', '/products', fromNewAddress({ secret })));
      }
      assert.equal(store.statements('main.api_key'), before + 1);
      store.advance(1_001);
      assertUnauthorized(await shop.send('GET', '/products', fromNewAddress({ secret })));
      assert.equal(store.statements('main.api_key'), before + 2);
    });
  });

  describe('the precedence of errors', () => {
    test('403 comes before 400 and 404', async () => {
      const shop = await store.shop();
      const { secret } = await shop.newKey(['webhooks:read']);
      const statuses = [
        await shop.send('GET', '/products?limit=0', { secret }),
        await shop.send('POST', '/products', { secret, body: '{' }),
        await shop.send('PUT', '/products/nothing', { secret, body: [] }),
        await shop.send('DELETE', '/products/nothing', { secret }),
        await shop.send('POST', '/inventory', { secret, body: 'x', headers: { 'content-type': 'text/plain' } }),
      ].map(({ status }) => status);
      assert.deepEqual(statuses, [403, 403, 403, 403, 403]);
    });

    test('400 comes before 404', async () => {
      const shop = await store.shop();
      assert.equal((await shop.send('PUT', '/products/nothing', { body: { nam: 'x' } })).status, 400);
      assert.equal((await shop.send('PUT', '/products/nothing', { body: { name: 'x' } })).status, 404);
      assert.equal((await shop.send('POST', '/inventory', { body: { product_id: 'nothing' } })).status, 400);
      assert.equal((await shop.send('POST', '/inventory', { body: { product_id: 'nothing', set: 1 } })).status, 404);
    });
  });
  describeShopIsolation(store);

  test('no response, not even to a preflight, allows requests from another origin', async () => {
    const shop = await store.shop();
    const headers = { origin: 'https://example.org', 'access-control-request-method': 'POST' };
    for (const method of ['GET', 'OPTIONS', 'PATCH']) {
      const response = await shop.send(method, '/products', { headers });
      assert.equal(response.status, { GET: 200, OPTIONS: 204, PATCH: 405 }[method]);
      assert.equal(response.headers.get('access-control-allow-origin'), null);
    }
  });
});
