// A request takes effect once for each Idempotency-Key. Every repetition within 24 hours gets the first response.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../support/service/market.ts';
import type { TestShop } from '../support/service/shop.ts';
import { forEachStore, inParallel } from '../support/service/shop.ts';

type StoreResponse = Awaited<ReturnType<TestShop['send']>>;

forEachStore('idempotency', (store) => {
  /** Requests that accept an Idempotency-Key: [name, method, path, body, another body]. Each changes the shop whenever it is executed. */
  const requestsFor = (id: string): [string, string, string, object, object][] => [
    ['create', 'POST', '/products', { name: 'New', price: '1.0' }, { name: 'Other', price: 1 }],
    ['update', 'PUT', `/products/${id}`, { description: 'new' }, { description: 'other' }],
    ['stock', 'POST', '/inventory', { product_id: id, adjustment: -1 }, { product_id: id, adjustment: -2 }],
  ];
  const withKey = (
    shop: TestShop,
    [, method, path, body]: [string, string, string, object, object],
    key: string,
    secret?: string,
  ) => shop.send(method, path, { body, headers: { 'idempotency-key': key }, ...(secret !== undefined && { secret }) });
  const footprint = async (shop: TestShop) => [
    (await shop.events()).length,
    (await shop.walk('/products')).length,
    (await shop.walk('/inventory/adjustments')).length,
  ];

  test('a repeated request gets the first response and has no second effect', async () => {
    const shop = await store.shop();
    for (const request of requestsFor((await shop.product({ inventory: 50 })).id)) {
      const first = await withKey(shop, request, `a ${request[0]}`);
      assert.ok(first.status < 300, first.text);
      assert.equal(first.headers.get('idempotent-replayed'), null);
      const after = await footprint(shop);
      store.advance(60_000);
      const again = await withKey(shop, request, `a ${request[0]}`);
      assertReplay(first, again);
      assert.deepEqual(await footprint(shop), after);
    }
  });

  test('the first response is repeated even when the product has changed or was deleted since', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 50 });
    const [, update, stock] = requestsFor(id);
    assert.ok(update && stock);
    const firsts = [await withKey(shop, update, 'u'), await withKey(shop, stock, 's')];
    await shop.ok('DELETE', `/products/${id}`);
    const agains = [await withKey(shop, update, 'u'), await withKey(shop, stock, 's')];
    for (const [index, first] of firsts.entries()) assertReplay(first, agains[index] as StoreResponse);
  });

  test('a request that repeats an Idempotency-Key with another query gets 422', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 50 });
    for (const [name, method, path, body, other] of requestsFor(id)) {
      const first = await withKey(shop, [name, method, `${path}?limit=1`, body, other], `q ${name}`);
      assert.ok(first.status < 300, first.text);
      assertReplay(first, await withKey(shop, [name, method, `${path}?limit=1`, body, other], `q ${name}`));
      for (const query of ['', '?limit=2']) {
        assert.equal((await withKey(shop, [name, method, path + query, body, other], `q ${name}`)).status, 422);
      }
    }
  });

  test('a request that repeats an Idempotency-Key with another body, method or path gets 422', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 50 });
    for (const request of requestsFor(id)) {
      const [name, method, path, , other] = request;
      const key = `b ${name}`;
      await withKey(shop, request, key);
      const before = await footprint(shop);
      const responses = [await withKey(shop, [name, method, path, other, {}], key)];
      for (const another of requestsFor(id)) if (another[0] !== name) responses.push(await withKey(shop, another, key));
      for (const { status, body } of responses) assert.deepEqual([status, body.error.code], [422, 'unprocessable']);
      assert.deepEqual(await footprint(shop), before);
    }
  });

  test('of twenty concurrent requests with one Idempotency-Key, exactly one has an effect', async () => {
    const shop = await store.shop();
    for (const request of requestsFor((await shop.product({ inventory: 50 })).id)) {
      const [events = 0, , adjustments = 0] = await footprint(shop);
      const responses = await inParallel(Array.from({ length: 20 }), 20, () =>
        withKey(shop, request, `c ${request[0]}`),
      );
      const done = responses.filter(({ status }) => status < 300);
      assert.ok(done.length > 0 && responses.every(({ status }) => status < 300 || status === 409));
      assert.equal(new Set(done.map(({ text }) => text)).size, 1);
      assert.equal(done.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1);
      const after = await footprint(shop);
      const isStock = request[0] === 'stock';
      assert.deepEqual([after[0], after[2]], [events + (isStock ? 0 : 1), adjustments + (isStock ? 1 : 0)]);
      assertReplay(done[0] as StoreResponse, await withKey(shop, request, `c ${request[0]}`));
    }
  });

  test('an error response is not stored, so the corrected request can use the same Idempotency-Key', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 5 });
    const headers = { 'idempotency-key': 'd' };
    const rejected: [string, string, unknown, number][] = [
      ['POST', '/products', { name: '' }, 400],
      ['POST', '/products', '{', 400],
      ['POST', '/products', { name: 'a', price: 1, slug: 'mug' }, 400],
      ['PUT', '/products/nothing', { name: 'a' }, 404],
      ['POST', '/inventory', { product_id: 'nothing', set: 1 }, 404],
      ['POST', '/inventory', { product_id: id, set: 1, expected: 4 }, 409],
    ];
    for (const [method, path, body, status] of rejected) {
      const response = await shop.send(method, path, { body, headers });
      assert.equal(response.status, status, response.text);
    }
    const stale = await shop.send('PUT', `/products/${id}`, {
      body: { name: 'a' },
      headers: { ...headers, 'if-match': '"0"' },
    });
    assert.equal(stale.status, 412);
    const response = await shop.send('POST', '/inventory', { body: { product_id: id, set: 1, expected: 5 }, headers });
    assert.deepEqual([response.status, response.headers.get('idempotent-replayed')], [200, null]);
  });

  test('a response is repeated for 24 hours, not longer', async () => {
    const shop = await store.shop();
    const request = requestsFor((await shop.product({ inventory: 50 })).id)[2];
    assert.ok(request);
    const first = await withKey(shop, request, 'e');
    store.advance(DAY_MS);
    assertReplay(first, await withKey(shop, request, 'e'));
    store.advance(1);
    const anew = await withKey(shop, request, 'e');
    assert.deepEqual([anew.headers.get('idempotent-replayed'), anew.body.data.inventory], [null, 48]);
    store.advance(DAY_MS);
    assertReplay(anew, await withKey(shop, request, 'e'));
  });

  test('a request with the same Idempotency-Key but another API key is executed', async () => {
    const shop = await store.shop();
    const request = requestsFor((await shop.product({ inventory: 50 })).id)[2];
    assert.ok(request);
    const other = await shop.newKey(['inventory:write']);
    await withKey(shop, request, 'f');
    const response = await withKey(shop, request, 'f', other.secret);
    assert.deepEqual([response.headers.get('idempotent-replayed'), response.body.data.inventory], [null, 48]);
  });

  test('an Idempotency-Key must have 1 to 255 characters', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 50 });
    for (const request of requestsFor(id)) {
      for (const key of ['', 'k'.repeat(256)]) assert.equal((await withKey(shop, request, key)).status, 400);
      assert.ok((await withKey(shop, request, `${request[0]} é`.padEnd(255, 'k'))).status < 300);
    }
    assert.deepEqual((await shop.walk('/inventory/adjustments')).length, 1);
  });

  test('without an Idempotency-Key a request takes effect every time', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 50 });
    for (const inventory of [49, 48]) {
      assert.equal((await shop.ok('POST', '/inventory', { product_id: id, adjustment: -1 })).data.inventory, inventory);
    }
  });
});

function assertReplay(first: StoreResponse, again: StoreResponse): void {
  assert.deepEqual([again.status, again.text], [first.status, first.text]);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  for (const name of ['location', 'etag', 'content-type'])
    assert.equal(again.headers.get(name), first.headers.get(name));
}
