// Many simultaneous changes of one product. The file also tests requests with two Authorization headers.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { forEachStore } from '../support/service/shop.ts';

const SIMULTANEOUS = 500;

forEachStore('simultaneous requests', (store) => {
  test('500 simultaneous adjustments of one product are all applied', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 10_000 });
    const change = { product_id: id, adjustment: -3 };
    const sent = Array.from({ length: SIMULTANEOUS }, () => shop.send('POST', '/inventory', { body: change }));
    const statuses = new Map<number, number>();
    for (const { status } of await Promise.all(sent)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    assert.deepEqual([...statuses], [[200, SIMULTANEOUS]]);
    const { data } = await shop.ok('GET', `/products/${id}`);
    assert.equal(data.inventory, 10_000 - 3 * SIMULTANEOUS);
  });

  test('a request with two Authorization headers gets a 401, whichever key is valid', async () => {
    const shop = await store.shop();
    const { secret } = await shop.newKey(['products:read']);
    const valid = `Bearer ${secret}`;
    const send = (authorization: string[]) =>
      new Promise<number>((resolve, reject) => {
        const url = `${store.service.url}/api/v1/products`;
        request(url, { headers: { authorization } as never }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
    assert.equal(await send([valid]), 200);
    for (const pair of [
      [valid, 'Bearer other'],
      ['Bearer other', valid],
      [valid, valid],
    ])
      assert.equal(await send(pair), 401, pair.join(' and '));
  });
});
