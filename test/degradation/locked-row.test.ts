// The store and the marketplace while another client of the database keeps one product locked. Only changes of this product fail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STORE_SCOPES } from '../../src/shop/keys/scopes.ts';
import { countWaiting, withClient } from '../support/engines/postgres-locks.ts';
import { until } from '../support/until.ts';
import { sendToSocket } from '../support/service/service-process.ts';
import { startOnTwoDatabases, withTwoServers } from './two-databases.ts';

/** Longer than the longest wait for a lock, but shorter than the deadline of a request. */
const REJECTED_WITHIN_MS = 20_000;
const WAIT_MS = 60_000;
const ADJUSTMENTS = 40;

withTwoServers('a product that stays locked', (servers) => {
  test('changes of a locked product get a 503 with Retry-After, and nothing else is affected', async (t) => {
    const service = await startOnTwoDatabases(t, servers);
    const newShop = async (name: string) => {
      const operate = async (operation: string, input: object) =>
        (await sendToSocket(service.socketPath, 'POST', `/operator/v1/${operation}`, input)).body.result;
      await operate('shops.create', { name });
      const { secret } = await operate('keys.create', { shop: name, scopes: STORE_SCOPES });
      return async (method: string, path: string, body?: object) => {
        const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
        const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
        const response = await fetch(`${service.url}/api/v1${path}`, init);
        return { status: response.status, headers: response.headers, body: (await response.json()) as any };
      };
    };
    const [send, sendOther] = [await newShop('one'), await newShop('other')];
    const newProduct = async (sendTo: typeof send) =>
      (await sendTo('POST', '/products', { name: 'Mug', price: '1', inventory: 100 })).body.data.id as string;
    const [locked, free, others] = [await newProduct(send), await newProduct(send), await newProduct(sendOther)];
    const adjust = (sendTo: typeof send, id: string) =>
      sendTo('POST', '/inventory', { product_id: id, adjustment: -1 });

    await withClient(service.settings['DATABASE_URL'] ?? '', async (client) => {
      await client.query('begin');
      await client.query('select 1 from main.product where id = $1 for update', [locked]);
      const startedAt = performance.now();
      const done: boolean[] = [];
      const waiting = Promise.all([
        ...Array.from({ length: ADJUSTMENTS }, () => adjust(send, locked)),
        send('PUT', `/products/${locked}`, { name: 'Cup' }),
        send('DELETE', `/products/${locked}`),
      ]).finally(() => done.push(true));
      // While the changes of the locked product wait, every other request is answered.
      let rounds = 0;
      while (done.length === 0) {
        assert.equal((await adjust(send, free)).status, 200);
        assert.equal((await adjust(sendOther, others)).status, 200);
        assert.equal((await send('GET', `/products/${locked}`)).status, 200);
        service.advance(2_000);
        assert.equal((await service.get('/v1/collections?limit=2')).status, 200);
        rounds += 1;
      }
      assert.ok(rounds > 1, 'the requests did not wait');
      for (const { status, headers, body } of await waiting) {
        assert.deepEqual([status, body.error.code], [503, 'unavailable']);
        assert.ok(Number(headers.get('retry-after')) > 0);
      }
      const ms = performance.now() - startedAt;
      assert.ok(ms < REJECTED_WITHIN_MS, `the changes were rejected after ${ms} ms`);
      // The server ends abandoned statements before the row is free. None of them takes effect.
      await until(async () => (await countWaiting(servers.primary.url)) === 0, WAIT_MS, 'a statement still waits');
      await client.query('rollback');
    });
    assert.equal((await adjust(send, locked)).status, 200);
    assert.equal((await send('GET', `/products/${locked}`)).body.data.inventory, 99);
  });
});
