// Runs the examples of the client against a service with the sample marketplace, and tests the store client that the examples use.
// market.test.ts runs this suite.

import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { listCollection } from '../../client/examples/list-collection.ts';
import { syncStock } from '../../client/examples/sync-stock.ts';
import { createReceiver } from '../../client/examples/webhook-receiver.ts';
import type { StoreClient } from '../../client/src/store.ts';
import { MercatError, createStoreClient } from '../../client/src/store.ts';
import type { WebhookEvent } from '../../client/src/webhooks.ts';
import type { TestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';

const WAIT_MS = 60_000;
const SCOPES = [
  'products:read',
  'products:write',
  'inventory:read',
  'inventory:write',
  'webhooks:read',
  'webhooks:write',
];

async function createStore(service: TestService): Promise<StoreClient> {
  const shop = `shop ${crypto.randomUUID()}`;
  await service.operate('shops.create', { name: shop });
  const { body } = await service.operate('keys.create', { shop, scopes: SCOPES });
  return createStoreClient({ baseUrl: service.url, apiKey: body.result.secret });
}

export function describeExamples(service: TestService): void {
  const openStore = () => createStore(service);

  test('the example list-collection prints the cheapest listings with exact amounts', async () => {
    const lines: string[] = [];
    await listCollection(service.url, 'harbour-lights', (line) => lines.push(line));
    const { data } = await service.ok('/v1/collections/harbour-lights/listings?limit=10');
    assert.equal(lines.length, 11);
    assert.match(lines[0] ?? '', /^Harbour Lights: \d+ listed$/);
    const { tokenId, price, marketplace } = data[0];
    assert.equal(lines[1], `${tokenId}  ${price.decimal} ETH  ${marketplace}`);
  });

  test('the example sync-stock sets the stock, and the example webhook-receiver receives the event once', async (context) => {
    const store = await openStore();
    const events: WebhookEvent[] = [];
    const { data: webhook } = await store.createWebhook({ url: 'http://127.0.0.1:9/', events: ['inventory.low'] });
    const receiver = createReceiver(webhook.secret, (event) => events.push(event)).listen(0, '127.0.0.1');
    let requests = 0;
    receiver.on('request', () => (requests += 1));
    context.after(() => receiver.close());
    await new Promise((resolve) => receiver.once('listening', resolve));
    const { port } = receiver.address() as AddressInfo;
    await store.updateWebhook({ webhookId: webhook.id, url: `http://127.0.0.1:${port}/` });
    for (const name of ['Mug', 'Cap']) await store.createProduct({ name, price: '19.90', inventory: 12 });

    const lines: string[] = [];
    const changed = await syncStock(store, 'sku,stock\nMUG,5\ncap,12\nscarf,1\nmug,many\n', (line) => lines.push(line));
    assert.equal(changed, 1);
    assert.deepEqual(lines, ['scarf: no such product', 'mug: not a number: many']);
    const { data: stock } = await store.listInventory();
    assert.deepEqual(stock.map(({ name, inventory }) => `${name} ${inventory}`).sort(), ['Cap 12', 'Mug 5']);

    await until(() => events.length > 0, WAIT_MS, 'no event was received');
    const [delivery] = await store.listDeliveries({ webhookId: webhook.id }).take(1);
    await store.redeliver({ webhookId: webhook.id, deliveryId: delivery?.id ?? '' });
    await until(() => requests > 1, WAIT_MS, 'the delivery was not repeated');
    assert.deepEqual(
      events.map(({ type }) => type),
      ['inventory.low'],
    );
    assert.equal(events[0]?.type === 'inventory.low' && events[0].data.inventory, 5);
  });

  test('a delivery that is not authentic gets a 400 from the example webhook-receiver', async (context) => {
    const receiver = createReceiver('whsec_AAAA', () => assert.fail()).listen(0, '127.0.0.1');
    context.after(() => receiver.close());
    await new Promise((resolve) => receiver.once('listening', resolve));
    const { port } = receiver.address() as AddressInfo;
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
    assert.equal(status, 400);
  });

  test('a change with the ETag of an earlier read fails after another change', async () => {
    const store = await openStore();
    const { data: product, etag } = await store.createProduct({ name: 'Mug', price: '1.00' });
    assert.ok(etag);
    await store.updateProduct({ productId: product.id, price: '2.00' }, { ifMatch: etag });
    await assert.rejects(store.updateProduct({ productId: product.id, price: '3.00' }, { ifMatch: etag }), (error) => {
      assert.ok(error instanceof MercatError);
      assert.deepEqual([error.code, error.status], ['precondition_failed', 412]);
      return true;
    });
  });

  test('a change with a repeated idempotency key is applied once', async () => {
    const store = await openStore();
    const { data: product } = await store.createProduct({ name: 'Mug', price: '1.00', inventory: 50 });
    const sell = () => store.changeInventory({ product_id: product.id, adjustment: -3 }, { idempotencyKey: 'order 7' });
    const results = [await sell(), await sell()];
    assert.deepEqual(
      results.map(({ data, isReplay }) => [data.inventory, isReplay]),
      [
        [47, false],
        [47, true],
      ],
    );
  });

  test('the details of a rejected field are in the error', async () => {
    const store = await openStore();
    await assert.rejects(store.createProduct({ name: 'Mug', price: 'free' }), (error) => {
      assert.ok(error instanceof MercatError);
      assert.deepEqual([error.status, error.details[0]?.path], [400, 'price']);
      return true;
    });
  });
}
