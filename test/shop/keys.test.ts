// API keys: scopes, expiry, rotation, revocation, rate limits and the precedence of errors. shop-isolation.suite.ts tests that a key
// has access to its own shop only.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { INTAKE_SCOPES, STORE_SCOPES } from '../../src/shop/keys/scopes.ts';
import { createApiKey } from '../../src/shop/keys/api-key.ts';
import { MINUTE_MS, SECOND_MS, HOUR_MS, DAY_MS } from '../support/service/market.ts';
import { until } from '../support/until.ts';
import type { StoreRequest, TestShop } from '../support/service/shop.ts';
import { forEachStore } from '../support/service/shop.ts';
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
  getProduct: { scope: 'products:read', method: 'GET', path: ONE },
  updateProduct: { scope: 'products:write', method: 'PUT', path: ONE, body: () => ({ description: 'x' }) },
  listInventory: { scope: 'inventory:read', method: 'GET', path: () => '/inventory' },
  changeInventory: {
    scope: 'inventory:write',
    method: 'POST',
    path: () => '/inventory',
    body: (id) => ({ product_id: id, adjustment: 1 }),
  },
  listAdjustments: { scope: 'inventory:read', method: 'GET', path: () => '/inventory/adjustments' },
  deleteProduct: { scope: 'products:write', method: 'DELETE', path: ONE },
};

let clients = 0;
/** Gives each request a client address of its own, because failed authentications are counted by address. */
const fromNewAddress = (request: StoreRequest = {}): StoreRequest => {
  clients += 1;
  const address = `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`;
  return { ...request, headers: { 'x-forwarded-for': address, ...request.headers } };
};

forEachStore('keys', (store) => {
  describe('scopes', () => {
    for (const [name, { scope, method, path, body }] of Object.entries(OPERATIONS)) {
      test(`${name} is allowed for keys with ${scope}, and for no other keys`, async () => {
        const shop = await store.shop();
        const { id } = await shop.product({ inventory: 50 });
        const request = { body: body?.(id) };
        const others = await shop.newKey(STORE_SCOPES.filter((one) => one !== scope));
        const rejected = await shop.send(method, path(id), { ...request, secret: others.secret });
        assert.deepEqual([rejected.status, rejected.body.error.code], [403, 'forbidden']);
        assert.match(rejected.body.error.message, new RegExp(scope));
        const only = await shop.newKey([scope]);
        const response = await shop.send(method, path(id), { ...request, secret: only.secret });
        assert.equal(response.status, name === 'createProduct' ? 201 : 200, response.text);
      });
    }

    test('every operation of the document except those of webhooks is in the table above', () => {
      const ids = Object.entries<any>(store.document.paths)
        .filter(([path]) => !path.includes('/webhooks'))
        .flatMap(([, item]) => Object.values<any>(item).map((operation) => operation.operationId));
      assert.deepEqual(new Set(ids), new Set(Object.keys(OPERATIONS)));
    });
  });

  describe('a request without a valid key', () => {
    for (const [name, { method, path, body }] of Object.entries(OPERATIONS)) {
      test(`${name} is 401 before anything else in it is checked`, async () => {
        const shop = await store.shop();
        const { id } = await shop.product();
        const good = fromNewAddress({ secret: null, body: body?.(id) });
        assertUnauthorized(await shop.send(method, path(id), good));
        const bad = fromNewAddress({ secret: null, ...(body && { body: '{"' }) });
        assertUnauthorized(await shop.send(method, `${path('no such id')}?limit=0`, bad));
        assert.equal((await shop.send('GET', `/products/${id}`)).body.data.inventory, 0);
      });
    }

    test('is 401 for every misspelling of a key, and the response does not reveal the reason', async () => {
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

    test('is 401 when the key is in the query, a cookie, the body or another header', async () => {
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

    test('runs no SQL statement when the key is malformed or mistyped', async () => {
      const shop = await store.shop();
      const before = store.statements('main.api_key');
      for (const secret of ['x', `${shop.key.secret}0`, `mercat_live_${'0'.repeat(36)}`, 'mercat_live_']) {
        assertUnauthorized(await shop.send('GET', '/products', fromNewAddress({ secret })));
      }
      assert.equal(store.statements('main.api_key'), before);
      await shop.ok('GET', '/products');
      assert.ok(store.statements('main.api_key') > before, 'a valid key runs SQL statements');
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

  describe('the lifetime of a key', () => {
    const works = async (shop: TestShop, secret: string) => {
      const { status } = await shop.send('GET', '/products', fromNewAddress({ secret }));
      assert.ok(status === 200 || status === 401);
      return status === 200;
    };

    test('a revoked key stops working within seconds, even on a node that has just cached it', async () => {
      const shop = await store.shop();
      const { id, secret } = await shop.newKey(['products:read']);
      assert.ok(await works(shop, secret));
      await store.operate('keys.revoke', { id });
      store.advance(5 * SECOND_MS);
      assert.ok(!(await works(shop, secret)));
      await store.operate('keys.revoke', { id });
    });

    test('a key works until its expiry, to the millisecond', async () => {
      const shop = await store.shop();
      const expiresAt = new Date(store.now() + HOUR_MS).toISOString();
      const { secret } = await shop.newKey(['products:read'], { expiresAt });
      store.advance(HOUR_MS - 1);
      assert.ok(await works(shop, secret));
      store.advance(1);
      assert.ok(!(await works(shop, secret)));
    });

    test('a rotated key and its successor both work for a day, then only the successor', async () => {
      const shop = await store.shop();
      const old = await shop.newKey(['products:read']);
      const { secret, id, scopes, shop: shopId } = await store.operate('keys.rotate', { id: old.id });
      assert.notEqual(id, old.id);
      assert.deepEqual([scopes, shopId], [['products:read'], shop.id]);
      store.advance(DAY_MS - 5 * SECOND_MS);
      assert.deepEqual([await works(shop, old.secret), await works(shop, secret)], [true, true]);
      store.advance(5 * SECOND_MS);
      assert.deepEqual([await works(shop, old.secret), await works(shop, secret)], [false, true]);
      await assert.rejects(store.operate('keys.rotate', { id: old.id }), /has ended/);
    });

    test('a key that is rotated without an overlap stops working at once', async () => {
      const shop = await store.shop();
      const old = await shop.newKey(['products:read']);
      const { secret } = await store.operate('keys.rotate', { id: old.id, overlapMs: 0 });
      store.advance(5 * SECOND_MS);
      assert.deepEqual([await works(shop, old.secret), await works(shop, secret)], [false, true]);
    });

    test('rotation never lengthens the lifetime of a key that expires sooner', async () => {
      const shop = await store.shop();
      const expiresAt = new Date(store.now() + HOUR_MS).toISOString();
      const old = await shop.newKey(['products:read'], { expiresAt });
      assert.equal((await store.operate('keys.rotate', { id: old.id })).expiresAt, expiresAt);
      const [listed] = (await store.operate('keys.list', { shop: shop.id })).filter((key: any) => key.id === old.id);
      assert.equal(listed.expiresAt, expiresAt);
    });

    test('when a key is rotated again during its overlap, the new key gets the original expiry, and the overlap is not extended', async () => {
      const shop = await store.shop();
      const endOf = async (id: string) =>
        (await store.operate('keys.list', { shop: shop.id })).find((key: any) => key.id === id).expiresAt as string;
      const expiresAt = new Date(store.now() + 30 * DAY_MS).toISOString();
      for (const end of [null, expiresAt]) {
        const old = await shop.newKey(['products:read'], end === null ? {} : { expiresAt: end });
        const first = await store.operate('keys.rotate', { id: old.id, overlapMs: HOUR_MS });
        const overlapEnd = new Date(store.now() + HOUR_MS).toISOString();
        const second = await store.operate('keys.rotate', { id: old.id, overlapMs: DAY_MS });
        assert.deepEqual([first.expiresAt, second.expiresAt], [end, end]);
        assert.deepEqual([await endOf(old.id), await endOf(second.id)], [overlapEnd, end]);
        store.advance(HOUR_MS);
        const secrets = [old.secret, first.secret, second.secret];
        const working = await Promise.all(secrets.map((secret) => works(shop, secret)));
        assert.deepEqual(working, [false, true, true]);
      }
    });

    test('an intake key needs no shop, is listed without one, and gets 403 from every operation of the store', async () => {
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

    test('a key of a shop may also have intake scopes, but a key without a shop cannot have store scopes', async () => {
      const shop = await store.shop();
      const { secret } = await shop.newKey(['products:read', 'intake:write']);
      assert.ok(await works(shop, secret));
      for (const scope of STORE_SCOPES) {
        const mistake = store.operate('keys.create', { scopes: ['intake:write', scope] });
        await assert.rejects(mistake, (error: any) => error.exitCode === 2 && error.message.includes(scope));
      }
      const moved = store.query('update main.api_key set shop_id = null where shop_id = $1', [shop.id]);
      await assert.rejects(moved, /api_key_without_shop/);
    });

    test('the time of last use is written periodically, not for every request', async () => {
      const shop = await store.shop();
      const lastUsed = async () =>
        (await store.operate('keys.list', { shop: shop.name }))[0].lastUsedAt as string | null;
      assert.equal(await lastUsed(), null);
      store.advance(MINUTE_MS);
      await shop.ok('GET', '/products');
      const first = new Date(store.now()).toISOString();
      await until(async () => (await lastUsed()) === first, 5_000, 'the time of last use was not written');
      store.advance(SECOND_MS);
      const writes = store.statements('update main.api_key');
      for (let request = 0; request < 20; request += 1) await shop.ok('GET', '/products');
      assert.equal(store.statements('update main.api_key'), writes);
      assert.equal(await lastUsed(), first);
      store.advance(MINUTE_MS);
      await shop.ok('GET', '/products');
      const second = new Date(store.now()).toISOString();
      await until(async () => (await lastUsed()) === second, 5_000, 'the time of last use was not written');
    });

    test('secrets are not stored: a row has a prefix and a hash', async () => {
      const shop = await store.shop();
      const { secret, prefix } = shop.key;
      assert.match(secret, /^mercat_live_[0-9A-Za-z]{36}$/);
      assert.ok(secret.startsWith(prefix) && prefix.length <= 'mercat_live_'.length + 6);
      const rows = await store.query('select to_json(key)::text as text from main.api_key key where shop_id = $1', [
        shop.id,
      ]);
      assert.equal(rows.length, 1);
      assert.ok(!String(rows[0]?.['text']).includes(secret.slice(-30)));
      assert.ok(!JSON.stringify(await store.operate('keys.list', {})).includes(secret.slice(-30)));
    });
  });

  describeShopIsolation(store);

  test('no response allows another origin, preflights included', async () => {
    const shop = await store.shop();
    const headers = { origin: 'https://example.org', 'access-control-request-method': 'POST' };
    for (const method of ['GET', 'OPTIONS', 'PATCH']) {
      const response = await shop.send(method, '/products', { headers });
      assert.equal(response.status, { GET: 200, OPTIONS: 204, PATCH: 405 }[method]);
    }
  });
  test('a key may send 600 requests in a minute, successful or not; further requests are 429 until the minute is over', async () => {
    const shop = await store.shop();
    const start = store.now();
    const { secret } = await shop.newKey(['products:read']);
    const get = (path: string) => shop.send('GET', path, { secret });
    for (let round = 0; round < 150; round += 1) {
      const responses = await Promise.all(
        ['/products?limit=1', '/products?limit=0', '/inventory', '/products/x'].map(get),
      );
      assert.deepEqual(
        responses.map(({ status }) => status),
        [200, 400, 403, 404],
      );
      for (const { headers } of responses) assert.deepEqual(limitHeaders(headers), NO_HEADERS);
    }
    store.advance(15 * SECOND_MS + 1);
    const rejected = await get('/inventory');
    assert.deepEqual([rejected.status, rejected.body.error.code], [429, 'rate_limited']);
    const resetAt = new Date(start + MINUTE_MS).toISOString();
    assert.deepEqual(limitHeaders(rejected.headers), ['600', '0', resetAt, '45']);
    assert.equal((await shop.send('GET', '/products')).status, 200, 'another key of the shop has a limit of its own');
    store.advance(MINUTE_MS);
    assert.equal((await get('/products')).status, 200);
  });

  test('after 60 failed authentications in a minute an address gets 429; its requests with valid keys still succeed', async () => {
    const shop = await store.shop();
    const headers = { 'x-forwarded-for': '192.0.2.7' };
    const { secret } = shop.key;
    const mistyped = createApiKey('mercat', (size) => new Uint8Array(size).fill(1));
    for (let failures = 0; failures < 60; failures += 1) {
      const response = await shop.send('GET', '/products', { secret: failures % 2 === 0 ? mistyped : null, headers });
      assertUnauthorized(response);
      assert.deepEqual(limitHeaders(response.headers), NO_HEADERS);
    }
    const rejected = await shop.send('POST', '/products', { secret: null, headers, body: {} });
    assert.equal(rejected.status, 429);
    assert.deepEqual(limitHeaders(rejected.headers), [
      '60',
      '0',
      new Date(store.now() + MINUTE_MS).toISOString(),
      '60',
    ]);
    assert.equal((await shop.send('GET', '/products', { secret, headers })).status, 200);
    const elsewhere = { 'x-forwarded-for': '192.0.2.8' };
    assertUnauthorized(await shop.send('GET', '/products', { secret: null, headers: elsewhere }));
    store.advance(MINUTE_MS);
    assertUnauthorized(await shop.send('GET', '/products', { secret: null, headers }));
  });
});

const NO_HEADERS = [null, null, null, null];

function limitHeaders(headers: Headers): (string | null)[] {
  const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'];
  return names.map((name) => headers.get(name));
}

function assertUnauthorized({ status, body, headers }: Awaited<ReturnType<TestShop['send']>>): void {
  assert.deepEqual([status, body.error], [401, { code: 'unauthorized', message: 'Missing or invalid API key' }]);
  assert.equal(headers.get('www-authenticate'), 'Bearer');
}
