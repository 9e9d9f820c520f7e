// Runs the examples of the client against a service with the sample marketplace, and tests the store client that the examples use.
// market.test.ts runs this suite.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkOut } from '../../client/examples/checkout.ts';
import { listCollection } from '../../client/examples/list-collection.ts';
import { Replica } from '../../client/examples/local-replica.ts';
import type { ShopCopy } from '../../client/examples/sync-stock.ts';
import { sendStock } from '../../client/examples/sync-stock.ts';
import { createReceiver } from '../../client/examples/webhook-receiver.ts';
import { createMarketClient } from '../../client/src/market.ts';
import { MercatError, createStoreClient } from '../../client/src/store.ts';
import type { WebhookEvent } from '../../client/src/webhooks.ts';
import { programEnvironment } from '../support/program-environment.ts';
import { newCollection } from '../support/service/market.ts';
import type { TestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
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

async function createKey(service: TestService): Promise<string> {
  const shop = `shop ${crypto.randomUUID()}`;
  await service.operate('shops.create', { name: shop });
  const { body } = await service.operate('keys.create', { shop, scopes: SCOPES });
  return body.result.secret;
}

/** Runs an example as its first lines say, with `input` on standard input. Returns the lines that it prints. */
async function runExample(name: string, args: readonly string[], { key = '', input = '' }): Promise<string[]> {
  const file = fileURLToPath(new URL(`../../client/examples/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...programEnvironment(), MERCAT_KEY: key },
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: WAIT_MS,
  });
  child.stdin.end(input);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.equal(code, 0, output);
  return output.trimEnd().split('\n');
}

function directory(files: Readonly<Record<string, string>>): string {
  const dir = temporaryDirectory();
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(dir, name), content);
  return dir;
}

export function describeExamples(service: TestService): void {
  const openStore = async () => createStoreClient({ baseUrl: service.url, apiKey: await createKey(service) });
  const openProgram = async () => {
    const key = await createKey(service);
    const run = (name: string, args: readonly string[], input = '') =>
      runExample(name, [service.url, ...args], { key, input });
    return { store: createStoreClient({ baseUrl: service.url, apiKey: key }), run };
  };

  test('the example list-collection prints the cheapest listings with exact amounts', async () => {
    const lines: string[] = [];
    await listCollection(service.url, 'harbour-lights', (line) => lines.push(line));
    const { data } = await service.ok('/v1/collections/harbour-lights/listings?limit=10');
    assert.equal(lines.length, 11);
    assert.match(lines[0] ?? '', /^Harbour Lights: \d+ listed$/);
    const { tokenId, price, marketplace } = data[0];
    assert.equal(lines[1], `${tokenId}  ${price.decimal} ETH  ${marketplace}`);
  });

  test('the example webhook-receiver receives each event once', async (context) => {
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
    const { data: mug } = await store.createProduct({ name: 'Mug', price: '19.90', inventory: 12 });
    await store.changeInventory({ product_id: mug.id, set: 5 });

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

  test('the example sync-stock sets the stock, overwrites no change of others, and continues where its last run has ended', async () => {
    const { store, run } = await openProgram();
    const { data } = await store.storeProducts({
      products: Array.from({ length: 1_000 }, (_, index) => ({ sku: `S-${index}`, name: `P ${index}`, price: '1' })),
    });
    await store.storeProducts({ products: [{ sku: 'mug', name: 'Mug', price: '19.90', inventory: 12 }] });
    const first = data[0]?.product ?? assert.fail();
    const csv = ['sku,stock', ...data.map(({ product }) => `${product?.sku},7`), 'mug,5', 'scarf,1', 'S-3,many'];
    const files = directory({ 'stock.csv': csv.join('\n') });
    const [stock, copy] = [path.join(files, 'stock.csv'), path.join(files, 'copy.json')];
    assert.deepEqual(await run('sync-stock', [stock, copy]), [
      'scarf: Product not found',
      'S-3: Invalid inventory payload',
      '1003 stocks sent',
    ]);
    assert.equal((await store.listProducts({ sku: 'mug' }).take(1))[0]?.inventory, 5);

    await store.changeInventory({ product_id: first.id, adjustment: -2, reason: 'Sold' });
    await store.createProduct({ sku: 'scarf', name: 'Scarf', price: '9', inventory: 1 });
    const lists = (await store.listProducts({ limit: 1 }).page()).meta.sequence;
    assert.deepEqual(await run('sync-stock', [stock, copy]), [
      'S-0: 5 (Sold)',
      'S-3: Invalid inventory payload',
      '2 stocks sent',
    ]);
    assert.equal((await store.getProduct({ productId: first.id })).data.inventory, 7);
    assert.ok((JSON.parse(readFileSync(copy, 'utf8')) as { sequence: number }).sequence > lists);

    // Between the reading of the changes and the sending of the stock, somebody has bought a product.
    const known = JSON.parse(readFileSync(copy, 'utf8')) as ShopCopy;
    await store.changeInventory({ product_id: first.id, adjustment: -3 });
    const lines: string[] = [];
    assert.equal(await sendStock(store, known, 'sku,stock\nS-0,9\nS-1,9\n', (line) => lines.push(line)), 2);
    assert.deepEqual(lines, ['S-0: The stock is 4, not 5']);
  });

  test('the example checkout sells what it has reserved, once, and returns the stock of a cart that is not paid', async () => {
    const { store, run } = await openProgram();
    const { data: mug } = await store.createProduct({ sku: 'mug', name: 'Mug', price: '19.90', inventory: 5 });
    const stock = async () => {
      const { data } = await store.listInventory({ product_id: mug.id });
      return [data[0]?.inventory, data[0]?.reserved];
    };
    const buy = (cart: string, answer: string) => run('checkout', [cart, 'mug=2'], answer);
    assert.match((await buy('cart-1', 'n\n')).join(), /not paid$/);
    assert.deepEqual(await stock(), [5, 0]);
    assert.match((await buy('cart-2', 'y\n')).join(), /sold$/);
    assert.match((await buy('cart-2', 'y\n')).join(), /sold$/);
    assert.deepEqual(await stock(), [3, 0]);
    const cart = { id: 'cart-3', items: [{ sku: 'mug', quantity: 4 }] };
    const payment = { pay: () => Promise.resolve(true), refund: () => Promise.resolve() };
    assert.equal(await checkOut(store, cart, payment), 'sold out');
    const late = async () => {
      assert.deepEqual(await stock(), [0, 3]);
      const [held] = await store.listReservations({ reference: 'cart-4' }).take(1);
      await store.releaseReservation({ reservationId: held?.id ?? '' });
      return true;
    };
    let refunds = 0;
    const refund = async () => void (refunds += 1);
    const small = { id: 'cart-4', items: [{ sku: 'mug', quantity: 3 }] };
    assert.equal(await checkOut(store, small, { pay: late, refund }), 'refunded');
    assert.deepEqual([await stock(), refunds], [[3, 0], 1]);
  });

  test('the example pos sells what was scanned by barcode or SKU, all or nothing, with an exact total', async () => {
    const { store, run } = await openProgram();
    const mug = { name: 'Mug', price: '0.10', sku: 'mug', barcode: '4006381333931', inventory: 3 };
    const { data: counted } = await store.createProduct(mug);
    await store.createProduct({ name: 'Gift wrap', price: '0.2', sku: 'wrap', trackInventory: false });
    const lines = ['4006381333931', 'mug', 'wrap', '123', 'pay', 'mug', 'mug', 'pay'];
    assert.deepEqual(await run('pos', [], `${lines.join('\n')}\n`), [
      'Mug  0.10',
      'Mug  0.10',
      'Gift wrap  0.2',
      '123: unknown',
      'Total  0.4',
      'Mug  0.10',
      'Mug  0.10',
      'Mug: stock is 1, and must stay between 0 and 2147483647',
    ]);
    assert.equal((await store.getProduct({ productId: counted.id })).data.inventory, 1);
  });

  test('the example local-replica copies and follows, continues after a restart, begins anew after a restore, and deletes what is removed', async () => {
    const subject = newCollection();
    const listing = (id: string, price: bigint) => subject.listing(id, price, { id: `${subject.slug}-${id}` });
    await service.load([subject.collection(), subject.token('1'), listing('1', 5n)]);
    const file = path.join(temporaryDirectory(), 'replica.sqlite');
    /** Follows until the orders and the floors of the replica are these. Each call is a new start of the replica. */
    const followUntil = async (expected: string[], change: () => Promise<unknown> = async () => undefined) => {
      const replica = new Replica(createMarketClient({ baseUrl: service.url }), file);
      const stop = new AbortController();
      const following = replica.follow({ names: [subject.slug] }, stop.signal).catch((error: unknown) => {
        if (error !== stop.signal.reason) throw error;
      });
      const read = () =>
        replica
          .rows('select token, price from "order" union all select \'floor\', floor from collection order by 1')
          .map((row) => Object.values(row).join(' '));
      await until(() => replica.rows('select * from position').length > 0, WAIT_MS, 'no snapshot was read');
      await change();
      await Promise.race([
        until(() => read().join() === expected.join(), WAIT_MS, 'the replica does not follow'),
        following.then(() => assert.deepEqual(read(), expected)),
      ]);
      stop.abort();
      await following;
      replica.close();
    };
    await followUntil(['1 5', '2 4', 'floor 4'], () => service.load([listing('2', 4n)]));
    await service.load([listing('3', 3n)]);
    await followUntil(['1 5', '2 4', '3 3', 'floor 3']);
    const other = new DatabaseSync(file);
    other.exec(`update position set epoch_offset = '000000000000-0000000000000001'; update "order" set price = '9'`);
    other.close();
    await followUntil(['1 5', '2 4', '3 3', 'floor 3']);
    await followUntil([], () => service.operate('collections.remove', { id: subject.id, purge: true }));
  });

  test('the example local-replica copies the owner of a token that is listed while the pages of tokens are read', async () => {
    const subject = newCollection();
    const owner = `0x${'7'.repeat(40)}`;
    const ids = Array.from({ length: 101 }, (_, index) => String(100 + index));
    await service.load([subject.collection(), ...ids.map((id) => subject.token(id, { owner }))]);
    let pages = 0;
    const listLastToken = async (...[input, init]: Parameters<typeof fetch>) => {
      const response = await fetch(input, init);
      const isPage = new URL(input instanceof Request ? input.url : input).pathname.endsWith('/tokens');
      if (isPage) pages += 1;
      if (isPage && pages === 1) await service.load([subject.listing('200', 5n, { seller: owner })]);
      return response;
    };
    const market = createMarketClient({ baseUrl: service.url, fetch: listLastToken });
    const replica = new Replica(market, path.join(temporaryDirectory(), 'replica.sqlite'));
    const stop = new AbortController();
    const following = replica.follow({ names: [subject.slug] }, stop.signal).catch((error: unknown) => {
      if (error !== stop.signal.reason) throw error;
    });
    await until(() => replica.rows('select * from position').length > 0, WAIT_MS, 'no snapshot was read');
    const copied = replica.rows('select token from owner order by token').map(({ token }) => token);
    stop.abort();
    await following;
    replica.close();
    assert.deepEqual([copied, pages], [ids, 2]);
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
