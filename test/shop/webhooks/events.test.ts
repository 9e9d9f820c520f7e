// Tests that a running service sends each change in a shop as a signed event to the shop's webhooks. Also tests the delivery log, recovery,
// and the operator's operations on deliveries.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { until } from '../../support/until.ts';
import { HOUR_MS, SECOND_MS } from '../../support/service/market.ts';
import type { TestShop, TestStore } from '../../support/service/shop.ts';
import { forOneStore } from '../../support/service/shop.ts';
import type { Received, Receiver } from './fixtures.ts';
import { respondWith, isSignedWith, startReceiver } from './fixtures.ts';

const LIMIT_MS = 60_000;

forOneStore('events of a shop', suite, { WEBHOOK_ALLOW_PRIVATE: 'true', STORE_RATE_LIMIT: '1000000' });

function suite(store: TestStore): void {
  let receiver: Receiver;

  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  const create = async (shop: TestShop, fields: object = {}) =>
    (await shop.ok('POST', '/webhooks', { url: receiver.url, ...fields }, 201)).data;
  const receivedAt = (path: string) => receiver.received.filter((request) => request.path === path);
  const readDeliveries = async (shop: TestShop, id: string, query = '') =>
    (await shop.ok('GET', `/webhooks/${id}/deliveries${query}`)).data as any[];

  /** Fails unless the OpenAPI document has a webhook for this type of event, with this body and these headers. */
  const assertDocumented = ({ headers, body }: Received) => {
    const event = JSON.parse(body) as { type: string };
    const { post } = store.document.webhooks[event.type] ?? assert.fail(`${event.type} is not documented`);
    const sent = Object.keys(headers).filter((name) => name.startsWith('webhook-'));
    assert.deepEqual(sent.toSorted(), post.parameters.map(({ name }: { name: string }) => name).toSorted());
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(store.document, 'document');
    const { $ref } = post.requestBody.content['application/json'].schema;
    const validate = ajv.compile({ $ref: `document${$ref}` });
    assert.ok(validate(event), `${body}: ${ajv.errorsText(validate.errors)}`);
  };

  test('every change in a shop reaches the receiver of the shop as a signed event', async () => {
    const shop = await store.shop();
    const { secret } = await create(shop, { url: `${receiver.url}/events` });
    const product = await shop.product({ inventory: 12 });
    await shop.ok('PUT', `/products/${product.id}`, { price: '20.00' });
    await shop.ok('POST', '/inventory', { product_id: product.id, adjustment: -5 });
    await shop.ok('DELETE', `/products/${product.id}`);
    await until(() => receivedAt('/hook/events').length >= 4, LIMIT_MS, 'not every event has arrived');
    for (const request of receivedAt('/hook/events')) {
      assert.ok(isSignedWith(request, secret));
      assertDocumented(request);
    }
    const bodies = receivedAt('/hook/events')
      .map(({ body }) => JSON.parse(body))
      .toSorted((a, b) => a.sequence - b.sequence);
    assert.deepEqual(
      bodies.map(({ type }) => type),
      ['product.created', 'product.updated', 'inventory.low', 'product.deleted'],
    );
    const [created, updated, low, deleted] = bodies;
    assert.deepEqual(created.data, product);
    assert.deepEqual(
      { price: updated.data.price, changed: updated.data.changed },
      { price: '20.00', changed: ['price'] },
    );
    const { adjustmentId, ...level } = low.data;
    assert.deepEqual(level, { productId: product.id, name: 'Mug', inventory: 7, previous: 12, threshold: 10 });
    assert.match(adjustmentId, /^adj_/);
    assert.deepEqual(deleted.data, { id: product.id, slug: product.slug });
    for (const one of bodies) assert.equal(one.timestamp, new Date(store.now()).toISOString());
  });

  test('the events of stock and of reservations reach the webhooks that name them, and no others', async () => {
    const shop = await store.shop();
    const named = [
      'inventory.changed',
      'inventory.out',
      'inventory.restocked',
      'reservation.created',
      'reservation.consumed',
      'reservation.released',
    ];
    await create(shop, { url: `${receiver.url}/named`, events: named });
    await create(shop, { url: `${receiver.url}/usual` });
    const { id } = await shop.product({ inventory: 20 });
    const items = [{ product_id: id, quantity: 20 }];
    for (const end of ['release', 'consume']) {
      const { data } = await shop.ok('POST', '/reservations', { items }, 201);
      await shop.ok('POST', `/reservations/${data.id}/${end}`, end === 'consume' ? {} : undefined);
    }
    await until(() => receivedAt('/hook/named').length >= 10, LIMIT_MS, 'not every event has arrived');
    for (const request of receivedAt('/hook/named')) assertDocumented(request);
    assert.deepEqual(
      receivedAt('/hook/named')
        .map(({ body }) => JSON.parse(body))
        .toSorted((a, b) => a.sequence - b.sequence)
        .map(({ type, data }) => [type, data.next ?? data.inventory ?? data.status]),
      [
        ['inventory.changed', 0],
        ['inventory.out', 0],
        ['reservation.created', 'held'],
        ['inventory.changed', 20],
        ['inventory.restocked', 20],
        ['reservation.released', 'released'],
        ['inventory.changed', 0],
        ['inventory.out', 0],
        ['reservation.created', 'held'],
        ['reservation.consumed', 'consumed'],
      ],
    );
    await until(() => receivedAt('/hook/usual').length >= 3, LIMIT_MS, 'not every usual event has arrived');
    assert.deepEqual(
      new Set(receivedAt('/hook/usual').map(({ body }) => JSON.parse(body).type)),
      new Set(['product.created', 'inventory.low']),
    );
  });

  test('a test event is sent only to the tested webhook, even if this webhook does not subscribe to test events', async () => {
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
    assertDocumented(request);
    assert.equal(request.headers['webhook-id'], sent.eventId);
    assert.equal(receivedAt('/hook/untested').length, 0);
  });

  test('after rotations at the same time, deliveries are signed with every secret that was in use', async () => {
    const shop = await store.shop();
    const webhook = await create(shop, { url: `${receiver.url}/rotated` });
    const rotations = Array.from({ length: 6 }, () => shop.ok('POST', `/webhooks/${webhook.id}/rotate-secret`));
    const secrets: string[] = [webhook.secret, ...(await Promise.all(rotations)).map(({ data }) => data.secret)];
    assert.equal(new Set(secrets).size, 7);
    await shop.ok('POST', `/webhooks/${webhook.id}/test`);
    await until(() => receivedAt('/hook/rotated').length === 1, LIMIT_MS, 'the test event has not arrived');
    const [request] = receivedAt('/hook/rotated');
    assert.deepEqual(
      secrets.filter((secret) => !request || !isSignedWith(request, secret)),
      [],
    );
  });

  test('the delivery log lists every delivery in pages and can be filtered by state, and a delivery can be sent again', async () => {
    const shop = await store.shop();
    const webhook = await create(shop, { url: `${receiver.url}/logged` });
    for (let n = 0; n < 5; n += 1) await shop.product();
    const inState = async (state: string) => (await readDeliveries(shop, webhook.id, `?state=${state}`)).length;
    await until(async () => (await inState('delivered')) === 5, LIMIT_MS, 'not everything is delivered');
    const all = await readDeliveries(shop, webhook.id);
    assert.deepEqual(await shop.walk(`/webhooks/${webhook.id}/deliveries?limit=2`), all);
    assert.equal(await inState('dead'), 0);
    const { attempts, lastStatus, nextAttemptAt, eventId, id } = all[0];
    assert.deepEqual({ attempts, lastStatus, nextAttemptAt }, { attempts: 1, lastStatus: 204, nextAttemptAt: null });

    const { body, ...read } = (await shop.ok('GET', `/webhooks/${webhook.id}/deliveries/${id}`)).data;
    assert.deepEqual(read, all[0]);
    assert.equal(body, receivedAt('/hook/logged').find(({ headers }) => headers['webhook-id'] === eventId)?.body);

    const page = await shop.ok('GET', `/webhooks/${webhook.id}/deliveries?limit=2`);
    const other = await create(shop);
    const crossed = await shop.send('GET', `/webhooks/${other.id}/deliveries?cursor=${page.pagination.nextCursor}`);
    assert.equal(crossed.status, 400);

    assert.equal((await shop.ok('POST', `/webhooks/${webhook.id}/deliveries/${id}/redeliver`)).data.state, 'pending');
    await until(() => receivedAt('/hook/logged').length === 6, LIMIT_MS, 'the delivery was not sent again');
    assert.equal(receivedAt('/hook/logged').filter(({ headers }) => headers['webhook-id'] === eventId).length, 2);
    for (const unknown of ['dlv_0', 'dlv_999999999', `dlv_${'a'.repeat(32)}`, 'nonsense', '1']) {
      const path = `/webhooks/${webhook.id}/deliveries/${unknown}/redeliver`;
      assert.equal((await shop.send('POST', path)).status, 404);
      assert.equal((await shop.send('GET', path.replace('/redeliver', ''))).status, 404);
    }
  });

  test('the id of a delivery does not reveal its sequential number', async () => {
    const shop = await store.shop();
    const webhook = await create(shop, { url: `${receiver.url}/ids` });
    await shop.product();
    await shop.product();
    await until(
      async () => (await readDeliveries(shop, webhook.id)).length === 2,
      LIMIT_MS,
      'the log does not list two deliveries',
    );
    const [newer, older] = await readDeliveries(shop, webhook.id);
    for (const { id } of [newer, older]) assert.match(id, /^dlv_[0-9a-f]{32}$/);
    const [old] = await store.query(
      'update main.delivery set public_id = null where public_id = $1 returning id::text as number',
      [older.id],
    );
    const path = (id: string) => `/webhooks/${webhook.id}/deliveries/${id}/redeliver`;
    assert.equal((await readDeliveries(shop, webhook.id))[1].id, `dlv_${old?.['number']}`);
    assert.equal((await shop.ok('POST', path(`dlv_${old?.['number']}`))).data.id, `dlv_${old?.['number']}`);
    assert.equal((await shop.ok('POST', path(newer.id))).data.id, newer.id);
    const [hidden] = await store.query('select id::text as number from main.delivery where public_id = $1', [newer.id]);
    assert.equal((await shop.send('POST', path(`dlv_${hidden?.['number']}`))).status, 404);
  });

  test('a webhook that a 410 response disabled can recover all missed events after it is enabled again', async () => {
    const shop = await store.shop();
    const webhook = await create(shop, { url: `${receiver.url}/gone` });
    const read = async () => (await shop.ok('GET', `/webhooks/${webhook.id}`)).data;
    receiver.respond = respondWith(410);
    await shop.product();
    await until(async () => !(await read()).enabled, LIMIT_MS, 'the webhook was not disabled');
    receiver.respond = respondWith(204);
    const { disabledReason, disabledAt } = await read();
    assert.match(disabledReason, /410/);
    for (const action of ['test', 'recover']) {
      const body = { since: disabledAt };
      const response = await shop.send('POST', `/webhooks/${webhook.id}/${action}`, { body });
      assert.equal(response.status, 400, response.text);
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
    await until(() => arrived() === 2, LIMIT_MS, 'the events were not recovered');
    const states = async () => (await readDeliveries(shop, webhook.id)).map(({ state }) => state);
    await until(
      async () => (await states()).every((state) => state === 'delivered'),
      LIMIT_MS,
      'a recovered event was not delivered',
    );
  });

  test('the operator can list deliveries and retry dead deliveries', async () => {
    const shop = await store.shop();
    const webhook = await create(shop, { url: `${receiver.url}/operated` });
    await shop.product();
    await until(() => receivedAt('/hook/operated').length === 1, LIMIT_MS, 'nothing has arrived');
    // Sends an operation over the local socket, as the command does.
    const operate = async (operation: string, input: Record<string, unknown>) => {
      const { body } = await store.service.operate(operation, input);
      return body.result ?? body.mistake.message;
    };
    const listed = () => operate('webhooks.list', { shop: shop.name, state: 'dead' });
    assert.deepEqual(await listed(), []);
    await until(
      async () => (await readDeliveries(shop, webhook.id))[0].state === 'delivered',
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
    await until(() => receivedAt('/hook/operated').length === 2, LIMIT_MS, 'the delivery was not sent again');
    await until(
      async () => (await readDeliveries(shop, webhook.id))[0].state === 'delivered',
      LIMIT_MS,
      'the delivery is not recorded',
    );
    await store.query(`update main.delivery set state = 'dead' where webhook_id = $1`, [webhook.id]);
    const retried = await operate('webhooks.retry', { dead: true, shop: shop.name });
    assert.deepEqual(retried, { due: [id], skipped: [], hasMore: false });
    assert.match(await operate('webhooks.list', { state: 'lost' }), /must be one of/);
    assert.match(await operate('webhooks.retry', { ids: ['x'] }), /is not a delivery id/);
    assert.match(await operate('webhooks.list', { shop: 'nobody' }), /no shop named/);
  });
}
