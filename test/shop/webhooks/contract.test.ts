// Tests the operations of /api/v1/webhooks. Each response is checked against the OpenAPI document that the service serves.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestShop, TestStore } from '../../support/service/shop.ts';
import { forOneStore, inParallel } from '../../support/service/shop.ts';
import type { Receiver } from './fixtures.ts';
import { startReceiver } from './fixtures.ts';

const PUBLIC_URL = 'https://hooks.example.com/mercat';
const UNKNOWN_ID = `whk_${'0'.repeat(32)}`;
/** Texts that are not ids. The database would return an error for a text with a NUL character (%00). */
const INVALID_IDS = ['x', 'prod_1', '%00', `whk_%00${'0'.repeat(31)}`, '%F0%9F%A6%94'];

const OPERATIONS = [
  { method: 'GET', path: '', scope: 'webhooks:read' },
  { method: 'POST', path: '', scope: 'webhooks:write', body: { url: PUBLIC_URL } },
  { method: 'GET', path: '/:id', scope: 'webhooks:read' },
  { method: 'PUT', path: '/:id', scope: 'webhooks:write', body: { description: 'x' } },
  { method: 'POST', path: '/:id/rotate-secret', scope: 'webhooks:write' },
  { method: 'POST', path: '/:id/test', scope: 'webhooks:write' },
  { method: 'GET', path: '/:id/deliveries', scope: 'webhooks:read' },
  { method: 'GET', path: '/:id/deliveries/dlv_1', scope: 'webhooks:read' },
  { method: 'POST', path: '/:id/deliveries/dlv_1/redeliver', scope: 'webhooks:write' },
  { method: 'POST', path: '/:id/recover', scope: 'webhooks:write', body: { since: '2026-01-01T00:00:00Z' } },
  { method: 'DELETE', path: '/:id', scope: 'webhooks:write' },
] as const;

const bodyOf = (operation: (typeof OPERATIONS)[number]) => ('body' in operation ? { body: operation.body } : {});

forOneStore('webhooks', suite, { WEBHOOK_ALLOW_PRIVATE: 'true', STORE_RATE_LIMIT: '1000000' });

function suite(store: TestStore): void {
  let receiver: Receiver;

  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  const create = async (shop: TestShop, fields: object = {}) =>
    (await shop.ok('POST', '/webhooks', { url: receiver.url, ...fields }, 201)).data;
  const readDeliveries = async (shop: TestShop, id: string, query = '') =>
    (await shop.ok('GET', `/webhooks/${id}/deliveries${query}`)).data as any[];

  test('a webhook is created, read, listed, changed and deleted; its secret is returned at creation only', async () => {
    const shop = await store.shop();
    const response = await shop.send('POST', '/webhooks', {
      body: { url: PUBLIC_URL, events: ['product.*', 'inventory.low', 'product.*'], description: 'mine' },
    });
    assert.equal(response.status, 201);
    const { secret, ...webhook } = response.body.data;
    assert.match(secret, /^whsec_/);
    const keyBytes = Buffer.from(secret.slice(6), 'base64').length;
    assert.ok(keyBytes >= 24 && keyBytes <= 64);
    assert.equal(response.headers.get('location'), `/api/v1/webhooks/${webhook.id}`);
    assert.deepEqual(webhook.events, ['product.*', 'inventory.low']);
    assert.deepEqual((await shop.ok('GET', `/webhooks/${webhook.id}`)).data, webhook);
    assert.deepEqual(await shop.ok('GET', '/webhooks'), { data: [webhook], count: 1 });

    const put = await shop.send('PUT', `/webhooks/${webhook.id}`, {
      body: { events: ['inventory.low'], description: null },
    });
    assert.deepEqual(put.body.data, { ...webhook, events: ['inventory.low'], description: null });
    assert.deepEqual(await shop.ok('DELETE', `/webhooks/${webhook.id}`), { data: { id: webhook.id, deleted: true } });
    assert.equal((await shop.send('DELETE', `/webhooks/${webhook.id}`)).status, 404);
    assert.deepEqual(await shop.ok('GET', '/webhooks'), { data: [], count: 0 });
  });

  test('every operation requires its scope and no other scope', async () => {
    const shop = await store.shop();
    for (const operation of OPERATIONS) {
      const { id } = await create(shop);
      const path = `/webhooks${operation.path.replace(':id', id)}`;
      const other = operation.scope === 'webhooks:read' ? 'webhooks:write' : 'webhooks:read';
      const lackingKey = await shop.newKey([
        other,
        'products:read',
        'products:write',
        'inventory:read',
        'inventory:write',
      ]);
      const forbidden = await shop.send(operation.method, path, { ...bodyOf(operation), secret: lackingKey.secret });
      assert.equal(forbidden.status, 403, `${operation.method} ${path}`);
      assert.equal((await shop.send(operation.method, path, { ...bodyOf(operation), secret: null })).status, 401);
      const scopedKey = await shop.newKey([operation.scope]);
      const response = await shop.send(operation.method, path, { ...bodyOf(operation), secret: scopedKey.secret });
      const expected = path.includes('dlv_1') ? 404 : operation.method === 'POST' && operation.path === '' ? 201 : 200;
      assert.equal(response.status, expected, `${operation.method} ${path}: ${response.text}`);
    }
  });

  test("every operation responds to the id of another shop's webhook with the same 404 as to an unknown id", async () => {
    const [shop, stranger] = [await store.shop(), await store.shop()];
    const { id } = await create(stranger);
    await stranger.ok('POST', `/webhooks/${id}/test`);
    const [delivery] = await readDeliveries(stranger, id);
    for (const operation of OPERATIONS.filter(({ path }) => path !== '')) {
      const pathOf = (one: string) => `/webhooks${operation.path.replace(':id', one).replace('dlv_1', delivery.id)}`;
      const foreign = await shop.send(operation.method, pathOf(id), bodyOf(operation));
      const unknown = await shop.send(operation.method, pathOf(UNKNOWN_ID), bodyOf(operation));
      assert.equal(foreign.status, 404, `${operation.method} ${operation.path}: ${foreign.text}`);
      assert.equal(foreign.text, unknown.text);
      for (const invalid of INVALID_IDS) {
        const response = await shop.send(operation.method, pathOf(invalid), bodyOf(operation));
        assert.deepEqual(
          [response.status, response.text],
          [404, unknown.text],
          `${operation.method} ${pathOf(invalid)}`,
        );
      }
    }
    const own = await create(shop);
    const crossed = await shop.send('POST', `/webhooks/${own.id}/deliveries/${delivery.id}/redeliver`);
    assert.equal(crossed.status, 404);
    assert.equal((await shop.send('GET', `/webhooks/${own.id}/deliveries/${delivery.id}`)).status, 404);
    assert.equal((await stranger.ok('GET', `/webhooks/${id}`)).data.id, id);
  });

  test('of 25 concurrent requests to create a webhook 20 succeed, because a shop has at most 20 webhooks', async () => {
    const shop = await store.shop();
    const statuses = await inParallel(Array.from({ length: 25 }), 25, async () => {
      return (await shop.send('POST', '/webhooks', { body: { url: PUBLIC_URL } })).status;
    });
    assert.equal(statuses.filter((status) => status === 201).length, 20);
    assert.equal(statuses.filter((status) => status === 400).length, 5);
    const webhooks = (await shop.ok('GET', '/webhooks')).data;
    await shop.ok('DELETE', `/webhooks/${webhooks[0].id}`);
    await create(shop);
  });

  test('a request with If-Match does not change a webhook that has changed since it was read, and a repeated idempotency key creates no second webhook', async () => {
    const shop = await store.shop();
    const { id } = await create(shop);
    const etag = (await shop.send('GET', `/webhooks/${id}`)).headers.get('etag') ?? '';
    const put = (description: string, tag: string) =>
      shop.send('PUT', `/webhooks/${id}`, { body: { description }, headers: { 'if-match': tag } });
    assert.equal((await put('a', etag)).status, 200);
    assert.equal((await put('b', etag)).status, 412);
    assert.equal((await shop.send('DELETE', `/webhooks/${id}`, { headers: { 'if-match': etag } })).status, 412);
    assert.equal((await put('b', '*')).status, 200);
    const request = { body: { url: PUBLIC_URL }, headers: { 'idempotency-key': 'once' } };
    const [first, second] = [
      await shop.send('POST', '/webhooks', request),
      await shop.send('POST', '/webhooks', request),
    ];
    assert.equal(second.text, first.text);
    assert.equal((await shop.ok('GET', '/webhooks')).count, 2);
  });
}

forOneStore('webhooks limited to public addresses', (store) => {
  test('a URL with http, or with an address that is not public, is rejected', async () => {
    const shop = await store.shop();
    for (const url of ['http://example.com/', 'https://127.0.0.1/', 'https://0x7f.1/', 'https://[::ffff:10.0.0.1]/']) {
      const response = await shop.send('POST', '/webhooks', { body: { url } });
      assert.equal(response.status, 400, url);
      assert.equal(response.body.error.details[0].path, 'url');
    }
    const { id } = (await shop.ok('POST', '/webhooks', { url: PUBLIC_URL }, 201)).data;
    assert.equal((await shop.send('PUT', `/webhooks/${id}`, { body: { url: 'https://10.1/' } })).status, 400);
  });
});
