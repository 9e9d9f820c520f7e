// Rate limits of the store API. Requests are limited by key, failed authentications by client address.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApiKey } from '../../src/shop/keys/api-key.ts';
import { MINUTE_MS, SECOND_MS } from '../support/service/market.ts';
import { forOneStore } from '../support/service/shop.ts';
import { assertUnauthorized } from './key-requests.ts';

forOneStore('rate limits of keys', (store) => {
  test('a key is limited to 600 requests in a minute, and failed requests count too', async () => {
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
    assert.equal((await shop.send('GET', '/products')).status, 200, 'another key of the shop was limited too');
    store.advance(MINUTE_MS);
    assert.equal((await get('/products')).status, 200);
  });

  test('after 60 failed authentications from one address in a minute, only requests with a valid key are accepted from this address', async () => {
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
