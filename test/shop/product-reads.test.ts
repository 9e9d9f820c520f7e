// Tests reads of products whose responses are cached: each is the response that the products have now, for each method and coding.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendWithKey as send } from '../support/http/header-order.ts';
import { SECOND_MS } from '../support/service/market.ts';
import { forOneStore } from '../support/service/shop.ts';
import { until } from '../support/until.ts';

const WAIT_MS = 30_000;

forOneStore('reads of products', (store) => {
  test('a repeated read has the same response with each method and coding, whether or not its path ends with a slash', async () => {
    const shop = await store.shop();
    const { id } = await shop.product();
    // The list of twelve products is large enough to be encoded.
    for (let count = 1; count < 12; count += 1) await shop.product();
    const paths = ['/products', '/products?limit=2', '/products?collection=none', `/products/${id}`];
    for (const path of paths) {
      const url = `${store.service.url}/api/v1${path}`;
      assert.equal((await send(url, shop.key.secret)).status, 200);
      for (const method of ['GET', 'HEAD']) {
        for (const coding of ['identity', 'gzip', 'br']) {
          const first = await send(url, shop.key.secret, { method, coding });
          const spelled = url.includes('?') ? url.replace('?', '/?') : `${url}/`;
          assert.deepEqual(await send(spelled, shop.key.secret, { method, coding }), first);
        }
      }
    }
  });

  test('a repeated read shows each change of the product, and gets a 404 after the product was deleted', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 5 });
    await shop.ok('GET', `/products/${id}`);
    for (const name of ['first', 'second']) {
      await store.query(`update main.product set name = $2, version = version + 1 where id = $1`, [id, name]);
      assert.equal((await shop.ok('GET', `/products/${id}`)).data.name, name);
    }
    await store.query(`delete from main.product where id = $1`, [id]);
    const { status, body, headers } = await shop.send('GET', `/products/${id}`);
    assert.deepEqual([status, body.error], [404, { code: 'not_found', message: 'Product not found' }]);
    assert.match(headers.get('x-request-id') ?? '', /./);
  });

  test('a repeated read needs a key that has the scope products:read and is not revoked, and a product of the shop of this key', async () => {
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

  test('a read with an invalid parameter gets a 400 each time, even when the same list was read without this parameter', async () => {
    const shop = await store.shop();
    const url = `${store.service.url}/api/v1/products`;
    for (let turn = 0; turn < 2; turn += 1) assert.equal((await send(url, shop.key.secret)).status, 200);
    for (const query of ['limit=0', 'limit=1&limit=2', 'cursor=x', 'unknown=1']) {
      for (let turn = 0; turn < 2; turn += 1)
        assert.equal((await send(`${url}?${query}`, shop.key.secret)).status, 400, query);
    }
  });
});

forOneStore(
  'reads of products, with an access log',
  (store) => {
    test('each read of a product is logged with its route', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      store.service.logged.length = 0;
      const lines = () =>
        store.service.logged.map((line) => JSON.parse(line)).filter(({ message }) => message === 'request');
      for (const path of [`/products/${id}`, `/products/${id}/`]) await shop.ok('GET', path);
      await until(() => lines().length === 2, WAIT_MS, 'the reads are not logged');
      for (const { route, status } of lines()) assert.deepEqual([route, status], ['/api/v1/products/:productId', 200]);
    });
  },
  { ACCESS_LOG: 'true' },
);

/** The requests a minute of one key. */
const LIMIT = 20;

forOneStore(
  'reads of products, with a low rate limit',
  (store) => {
    test('repeated reads count in the rate limit of their key', async () => {
      const shop = await store.shop();
      const { secret } = await shop.newKey(['products:read']);
      for (let sent = 0; sent < LIMIT; sent += 1) {
        assert.equal((await shop.send('GET', '/products', { secret })).status, 200);
      }
      const { status, headers, body } = await shop.send('GET', '/products', { secret });
      assert.deepEqual(
        [status, body.error.code, headers.get('x-ratelimit-limit')],
        [429, 'rate_limited', String(LIMIT)],
      );
      assert.match(headers.get('retry-after') ?? '', /^\d+$/);
    });
  },
  { STORE_RATE_LIMIT: String(LIMIT) },
);

forOneStore('updates that arrive together', (store) => {
  test('each of the updates that arrive together gets its own response, and a repetition with the same idempotency key gets this response again', async () => {
    const shop = await store.shop();
    const products = await Promise.all(Array.from({ length: 10 }, () => shop.product()));
    const update = ({ id }: { id: string }, key: string) =>
      shop.send('PUT', `/products/${id}`, { body: { description: key }, headers: { 'idempotency-key': key } });
    const first = await Promise.all(products.map((product, index) => update(product, `key ${index}`)));
    const again = await Promise.all(products.map((product, index) => update(product, `key ${index}`)));
    for (const [index, { id }] of products.entries()) {
      const response = first[index];
      assert.deepEqual(
        [response?.status, response?.body.data.id, response?.body.data.description, response?.headers.get('etag')],
        [200, id, `key ${index}`, '"2"'],
      );
      assert.equal(again[index]?.text, response?.text);
      assert.deepEqual(
        [again[index]?.headers.get('idempotent-replayed'), again[index]?.headers.get('etag')],
        ['true', '"2"'],
      );
    }
    assert.equal((await shop.events()).filter(({ type }) => type === 'product.updated').length, products.length);
  });
});
