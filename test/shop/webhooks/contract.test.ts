// /api/v1/webhooks by operation and status, held against the document that the service serves; and, through a whole service,
// from a change of a shop to a verified delivery.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../support/until.ts';
import { HOUR_MS, SECOND_MS } from '../../support/service/market.ts';
import type { TestShop, TestStore } from '../../support/service/shop.ts';
import { forEachStore, inParallel } from '../../support/service/shop.ts';
import type { Receiver } from './fixtures.ts';
import { answerWith, isSignedWith, startReceiver } from './fixtures.ts';

const LIMIT_MS = 15_000;
const URL_OF_NOBODY = 'https://hooks.example.com/mercat';
const UNKNOWN_ID = `whk_${'0'.repeat(32)}`;
/** No id at all, two of them nothing that a database takes as text. */
const NO_IDS = ['x', 'prod_1', '%00', `whk_%00${'0'.repeat(31)}`, '%F0%9F%A6%94'];

/** Every operation, with a body that is good. */
const OPERATIONS = [
  { method: 'GET', path: '', scope: 'webhooks:read' },
  { method: 'POST', path: '', scope: 'webhooks:write', body: { url: URL_OF_NOBODY } },
  { method: 'GET', path: '/:id', scope: 'webhooks:read' },
  { method: 'PUT', path: '/:id', scope: 'webhooks:write', body: { description: 'x' } },
  { method: 'POST', path: '/:id/rotate-secret', scope: 'webhooks:write' },
  { method: 'POST', path: '/:id/test', scope: 'webhooks:write' },
  { method: 'GET', path: '/:id/deliveries', scope: 'webhooks:read' },
  { method: 'POST', path: '/:id/deliveries/dlv_1/redeliver', scope: 'webhooks:write' },
  { method: 'POST', path: '/:id/recover', scope: 'webhooks:write', body: { since: '2026-01-01T00:00:00Z' } },
  { method: 'DELETE', path: '/:id', scope: 'webhooks:write' },
] as const;

const bodyOf = (operation: (typeof OPERATIONS)[number]) => ('body' in operation ? { body: operation.body } : {});

forEachStore('webhooks', suite, { WEBHOOK_ALLOW_PRIVATE: 'true', STORE_RATE_LIMIT: '1000000' });

function suite(store: TestStore): void {
  let receiver: Receiver;

  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  const create = async (shop: TestShop, fields: object = {}) =>
    (await shop.ok('POST', '/webhooks', { url: receiver.url, ...fields }, 201)).data;
  const receivedAt = (path: string) => receiver.received.filter((request) => request.path === path);
  const deliveries = async (shop: TestShop, id: string, query = '') =>
    (await shop.ok('GET', `/webhooks/${id}/deliveries${query}`)).data as any[];

  test('a webhook is created, read, listed, changed and deleted; its secret is seen at creation alone', async () => {
    const shop = await store.shop();
    const answer = await shop.send('POST', '/webhooks', {
      body: { url: URL_OF_NOBODY, events: ['product.*', 'inventory.low', 'product.*'], description: 'mine' },
    });
    assert.equal(answer.status, 201);
    const { secret, ...webhook } = answer.body.data;
    assert.match(secret, /^whsec_/);
    const keyBytes = Buffer.from(secret.slice(6), 'base64').length;
    assert.ok(keyBytes >= 24 && keyBytes <= 64);
    assert.equal(answer.headers.get('location'), `/api/v1/webhooks/${webhook.id}`);
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

  test('every operation needs its own scope and no other', async () => {
    const shop = await store.shop();
    for (const operation of OPERATIONS) {
      const { id } = await create(shop);
      const path = `/webhooks${operation.path.replace(':id', id)}`;
      const other = operation.scope === 'webhooks:read' ? 'webhooks:write' : 'webhooks:read';
      const lacking = await shop.newKey([
        other,
        'products:read',
        'products:write',
        'inventory:read',
        'inventory:write',
      ]);
      const refused = await shop.send(operation.method, path, { ...bodyOf(operation), secret: lacking.secret });
      assert.equal(refused.status, 403, `${operation.method} ${path}`);
      assert.equal((await shop.send(operation.method, path, { ...bodyOf(operation), secret: null })).status, 401);
      const fitting = await shop.newKey([operation.scope]);
      const answer = await shop.send(operation.method, path, { ...bodyOf(operation), secret: fitting.secret });
      const wanted = path.endsWith('redeliver')
        ? 404
        : operation.method === 'POST' && operation.path === ''
          ? 201
          : 200;
      assert.equal(answer.status, wanted, `${operation.method} ${path}: ${answer.text}`);
    }
  });

  test("another shop's webhook is missing by the same answer as one that never was, in every operation", async () => {
    const [shop, stranger] = [await store.shop(), await store.shop()];
    const { id } = await create(stranger);
    await stranger.ok('POST', `/webhooks/${id}/test`);
    const [delivery] = await deliveries(stranger, id);
    for (const operation of OPERATIONS.filter(({ path }) => path !== '')) {
      const at = (one: string) => `/webhooks${operation.path.replace(':id', one).replace('dlv_1', delivery.id)}`;
      const foreign = await shop.send(operation.method, at(id), bodyOf(operation));
      const unknown = await shop.send(operation.method, at(UNKNOWN_ID), bodyOf(operation));
      assert.equal(foreign.status, 404, `${operation.method} ${operation.path}: ${foreign.text}`);
      assert.equal(foreign.text, unknown.text);
      for (const none of NO_IDS) {
        const answer = await shop.send(operation.method, at(none), bodyOf(operation));
        assert.deepEqual([answer.status, answer.text], [404, unknown.text], `${operation.method} ${at(none)}`);
      }
    }
    const own = await create(shop);
    const crossed = await shop.send('POST', `/webhooks/${own.id}/deliveries/${delivery.id}/redeliver`);
    assert.equal(crossed.status, 404);
    assert.equal((await stranger.ok('GET', `/webhooks/${id}`)).data.id, id);
  });

  test('a bad body is 400, says which field is wrong, and stores nothing', async () => {
    const shop = await store.shop();
    const bad: [unknown, string][] = [
      [undefined, ''],
      [{}, 'url'],
      [{ url: null }, 'url'],
      [{ url: 'https://a:b@example.com/' }, 'url'],
      [{ url: `https://example.com/${'a'.repeat(2_048)}` }, 'url'],
      [{ url: URL_OF_NOBODY, events: [] }, 'events'],
      [{ url: URL_OF_NOBODY, events: ['*'] }, 'events'],
      [{ url: URL_OF_NOBODY, events: ['product.created', 'order.paid'] }, 'events'],
      [{ url: URL_OF_NOBODY, description: 'x'.repeat(501) }, 'description'],
      [{ url: URL_OF_NOBODY, enabled: true }, 'enabled'],
      [`{"url":"${URL_OF_NOBODY}","__proto__":{}}`, '__proto__'],
      ['{', ''],
    ];
    for (const [body, path] of bad) {
      const answer = await shop.send('POST', '/webhooks', body === undefined ? {} : { body });
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.body.error.message, 'Invalid webhook payload');
      assert.equal(answer.body.error.details[0].path, path, JSON.stringify(body));
    }
    assert.equal((await shop.ok('GET', '/webhooks')).count, 0);

    const { id } = await create(shop, { description: 'x'.repeat(500) });
    for (const body of [{ url: null }, { events: null }, { enabled: 'yes' }, { enabled: 0 }, { nonsense: 1 }]) {
      assert.equal((await shop.send('PUT', `/webhooks/${id}`, { body })).status, 400, JSON.stringify(body));
    }
    const unknownFields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]));
    for (const [method, path] of [
      ['POST', '/webhooks'],
      ['PUT', `/webhooks/${id}`],
      ['POST', `/webhooks/${id}/recover`],
    ] as const) {
      const answer = await shop.send(method, path, { body: unknownFields });
      assert.equal(answer.status, 400);
      assert.ok(answer.text.length < 10_000, 'thousands of mistakes are answered with the first of them');
      const unreadable = await shop.send(method, path, { body: '{' });
      assert.deepEqual([unreadable.status, unreadable.body.error.message], [400, 'Invalid webhook payload']);
    }
    for (const since of [
      undefined,
      null,
      5,
      '',
      'yesterday',
      '2026-01-01',
      '2026-01-01T00:00:00',
      '2026-13-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
    ]) {
      const answer = await shop.send('POST', `/webhooks/${id}/recover`, { body: { since } });
      assert.equal(answer.status, 400, String(since));
    }
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'state=lost',
      'cursor=',
      'cursor=abc',
      'state=dead&state=dead',
    ]) {
      assert.equal((await shop.send('GET', `/webhooks/${id}/deliveries?${query}`)).status, 400, query);
    }
  });

  test('a shop has at most 20 webhooks, however many are asked for at once', async () => {
    const shop = await store.shop();
    const statuses = await inParallel(Array.from({ length: 25 }), 25, async () => {
      return (await shop.send('POST', '/webhooks', { body: { url: URL_OF_NOBODY } })).status;
    });
    assert.equal(statuses.filter((status) => status === 201).length, 20);
    assert.equal(statuses.filter((status) => status === 400).length, 5);
    const webhooks = (await shop.ok('GET', '/webhooks')).data;
    await shop.ok('DELETE', `/webhooks/${webhooks[0].id}`);
    await create(shop);
  });

  test('If-Match changes only the version that was read, and an Idempotency-Key has its effect once', async () => {
    const shop = await store.shop();
    const { id } = await create(shop);
    const etag = (await shop.send('GET', `/webhooks/${id}`)).headers.get('etag') ?? '';
    const put = (description: string, tag: string) =>
      shop.send('PUT', `/webhooks/${id}`, { body: { description }, headers: { 'if-match': tag } });
    assert.equal((await put('a', etag)).status, 200);
    assert.equal((await put('b', etag)).status, 412);
    assert.equal((await shop.send('DELETE', `/webhooks/${id}`, { headers: { 'if-match': etag } })).status, 412);
    assert.equal((await put('b', '*')).status, 200);
    const request = { body: { url: URL_OF_NOBODY }, headers: { 'idempotency-key': 'once' } };
    const [first, second] = [
      await shop.send('POST', '/webhooks', request),
      await shop.send('POST', '/webhooks', request),
    ];
    assert.equal(second.text, first.text);
    assert.equal((await shop.ok('GET', '/webhooks')).count, 2);
  });

  test('what a shop does reaches its receiver, verified, in events that say what happened', async () => {
    const shop = await store.shop();
    const { secret } = await create(shop, { url: `${receiver.url}/told` });
    const product = await shop.product({ inventory: 12 });
    await shop.ok('PUT', `/products/${product.id}`, { price: '20.00' });
    await shop.ok('POST', '/inventory', { product_id: product.id, adjustment: -5 });
    await shop.ok('DELETE', `/products/${product.id}`);
    await until(() => receivedAt('/hook/told').length >= 4, LIMIT_MS, 'not every event has arrived');
    for (const request of receivedAt('/hook/told')) assert.ok(isSignedWith(request, secret));
    const told = receivedAt('/hook/told')
      .map(({ body }) => JSON.parse(body))
      .toSorted((a, b) => a.sequence - b.sequence);
    assert.deepEqual(
      told.map(({ type }) => type),
      ['product.created', 'product.updated', 'inventory.low', 'product.deleted'],
    );
    const [created, updated, low, deleted] = told;
    assert.deepEqual(created.data, product);
    assert.deepEqual(
      { price: updated.data.price, changed: updated.data.changed },
      { price: '20.00', changed: ['price'] },
    );
    const { adjustmentId, ...level } = low.data;
    assert.deepEqual(level, { productId: product.id, name: 'Mug', inventory: 7, previous: 12, threshold: 10 });
    assert.match(adjustmentId, /^adj_/);
    assert.deepEqual(deleted.data, { id: product.id, slug: product.slug });
    for (const one of told) assert.equal(one.timestamp, new Date(store.now()).toISOString());
  });

  test('a test event reaches this webhook alone, whatever it asks for, and rotation signs with both secrets', async () => {
    const shop = await store.shop();
    const webhook = await create(shop, { url: `${receiver.url}/tested`, events: ['product.deleted'] });
    await create(shop, { url: `${receiver.url}/untested` });
    const rotated = (await shop.ok('POST', `/webhooks/${webhook.id}/rotate-secret`)).data;
    assert.notEqual(rotated.secret, webhook.secret);
    assert.equal(Date.parse(rotated.previousSecretExpiresAt), store.now() + 24 * HOUR_MS);
    const sent = (await shop.ok('POST', `/webhooks/${webhook.id}/test`)).data;
    assert.equal(sent.type, 'webhook.test');
    await until(() => receivedAt('/hook/tested').length === 1, LIMIT_MS, 'the test event has not arrived');
    const [request] = receivedAt('/hook/tested');
    assert.ok(request && isSignedWith(request, webhook.secret) && isSignedWith(request, rotated.secret));
    assert.equal(request.headers['webhook-id'], sent.eventId);
    assert.equal(receivedAt('/hook/untested').length, 0);
  });

  test('the log shows every delivery, page by page and by state; one is sent again under its id', async () => {
    const shop = await store.shop();
    const webhook = await create(shop, { url: `${receiver.url}/logged` });
    for (let n = 0; n < 5; n += 1) await shop.product();
    const inState = async (state: string) => (await deliveries(shop, webhook.id, `?state=${state}`)).length;
    await until(async () => (await inState('delivered')) === 5, LIMIT_MS, 'not everything is delivered');
    const all = await deliveries(shop, webhook.id);
    assert.deepEqual(await shop.walk(`/webhooks/${webhook.id}/deliveries?limit=2`), all);
    assert.equal(await inState('dead'), 0);
    const { attempts, lastStatus, nextAttemptAt, eventId, id } = all[0];
    assert.deepEqual({ attempts, lastStatus, nextAttemptAt }, { attempts: 1, lastStatus: 204, nextAttemptAt: null });

    const page = await shop.ok('GET', `/webhooks/${webhook.id}/deliveries?limit=2`);
    const other = await create(shop);
    const crossed = await shop.send('GET', `/webhooks/${other.id}/deliveries?cursor=${page.pagination.nextCursor}`);
    assert.equal(crossed.status, 400);

    assert.equal((await shop.ok('POST', `/webhooks/${webhook.id}/deliveries/${id}/redeliver`)).data.state, 'pending');
    await until(() => receivedAt('/hook/logged').length === 6, LIMIT_MS, 'it was not sent again');
    assert.equal(receivedAt('/hook/logged').filter(({ headers }) => headers['webhook-id'] === eventId).length, 2);
    for (const unknown of ['dlv_0', 'dlv_999999999', 'nonsense', '1']) {
      const path = `/webhooks/${webhook.id}/deliveries/${unknown}/redeliver`;
      assert.equal((await shop.send('POST', path)).status, 404);
    }
  });

  test('a webhook that answers 410 is disabled with a reason, and enabled again recovers what it missed', async () => {
    const shop = await store.shop();
    const webhook = await create(shop, { url: `${receiver.url}/gone` });
    const read = async () => (await shop.ok('GET', `/webhooks/${webhook.id}`)).data;
    receiver.answer = answerWith(410);
    await shop.product();
    await until(async () => !(await read()).enabled, LIMIT_MS, 'it was not disabled');
    receiver.answer = answerWith(204);
    const { disabledReason, disabledAt } = await read();
    assert.match(disabledReason, /410/);
    for (const action of ['test', 'recover']) {
      const body = { since: disabledAt };
      const answer = await shop.send('POST', `/webhooks/${webhook.id}/${action}`, { body });
      assert.equal(answer.status, 400, answer.text);
    }
    store.advance(SECOND_MS);
    await shop.product();
    const { data } = await shop.ok('PUT', `/webhooks/${webhook.id}`, { enabled: true });
    assert.deepEqual(
      { enabled: data.enabled, reason: data.disabledReason, at: data.disabledAt, failing: data.failingSince },
      { enabled: true, reason: null, at: null, failing: null },
    );
    const recovered = await shop.ok('POST', `/webhooks/${webhook.id}/recover`, { since: disabledAt });
    assert.equal(recovered.data.hasMore, false);
    const arrived = () => new Set(receivedAt('/hook/gone').map(({ headers }) => headers['webhook-id'])).size;
    await until(() => arrived() === 2, LIMIT_MS, 'it was not recovered');
    const states = async () => (await deliveries(shop, webhook.id)).map(({ state }) => state);
    await until(async () => (await states()).every((state) => state === 'delivered'), LIMIT_MS, 'not all is delivered');
  });

  test('the operator lists deliveries and sends the dead ones again', async () => {
    const shop = await store.shop();
    const webhook = await create(shop, { url: `${receiver.url}/operated` });
    await shop.product();
    await until(() => receivedAt('/hook/operated').length === 1, LIMIT_MS, 'nothing has arrived');
    // Over the local socket, as the command does it.
    const operate = async (operation: string, input: Record<string, unknown>) => {
      const { body } = await store.service.operate(operation, input);
      return body.result ?? body.mistake.message;
    };
    const listed = () => operate('webhooks.list', { shop: shop.name, state: 'dead' });
    assert.deepEqual(await listed(), []);
    await until(
      async () => (await deliveries(shop, webhook.id))[0].state === 'delivered',
      LIMIT_MS,
      'the delivery is not recorded',
    );
    await store.query(`update main.delivery set state = 'dead' where webhook_id = $1`, [webhook.id]);
    const [{ id, url, state }] = await listed();
    assert.deepEqual({ url, state }, { url: `${receiver.url}/operated`, state: 'dead' });
    assert.deepEqual(await operate('webhooks.retry', { ids: [id, 'dlv_999999999'] }), {
      due: [id],
      skipped: ['dlv_999999999'],
      hasMore: false,
    });
    await until(() => receivedAt('/hook/operated').length === 2, LIMIT_MS, 'it was not sent again');
    await until(async () => (await deliveries(shop, webhook.id))[0].state === 'delivered', LIMIT_MS, 'not recorded');
    await store.query(`update main.delivery set state = 'dead' where webhook_id = $1`, [webhook.id]);
    const retried = await operate('webhooks.retry', { dead: true, shop: shop.name });
    assert.deepEqual(retried, { due: [id], skipped: [], hasMore: false });
    assert.match(await operate('webhooks.list', { state: 'lost' }), /must be one of/);
    assert.match(await operate('webhooks.retry', { ids: ['x'] }), /is not a delivery id/);
    assert.match(await operate('webhooks.list', { shop: 'nobody' }), /no shop named/);
  });
}

forEachStore('webhooks of a service that may only reach the internet', (store) => {
  test('plain http and addresses that are not public are refused when they are given', async () => {
    const shop = await store.shop();
    for (const url of ['http://example.com/', 'https://127.0.0.1/', 'https://0x7f.1/', 'https://[::ffff:10.0.0.1]/']) {
      const answer = await shop.send('POST', '/webhooks', { body: { url } });
      assert.equal(answer.status, 400, url);
      assert.equal(answer.body.error.details[0].path, 'url');
    }
    const { id } = (await shop.ok('POST', '/webhooks', { url: URL_OF_NOBODY }, 201)).data;
    assert.equal((await shop.send('PUT', `/webhooks/${id}`, { body: { url: 'https://10.1/' } })).status, 400);
  });
});
