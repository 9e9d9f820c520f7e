// POST /api/v1/inventory/batch: many changes of stock in one request.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachStore, inParallel } from '../support/service/shop.ts';
import { readStock } from './stock-concurrency.suite.ts';

forEachStore('batches of changes of stock', (store) => {
  test('each change of a batch is made in its order, or rejected as a single request would be, without an effect on the others', async () => {
    const [shop, stranger] = [await store.shop(), await store.shop()];
    const mug = await shop.product({ inventory: 12, sku: 'MUG' });
    const cup = await shop.product({ inventory: 1, externalId: 'erp 2' });
    const theirs = await stranger.product({ inventory: 5, sku: 'THEIRS' });
    const changes = [
      { sku: 'MUG', adjustment: -3, reason: 'sold' },
      { product_id: mug.id, set: 4, expected: 12 },
      { product_id: mug.id, set: 4, expected: 9 },
      { externalId: 'erp 2', adjustment: -2, clamp: false },
      { externalId: 'erp 2', adjustment: -2 },
      { sku: 'MUG', adjustment: 1, colour: 'red' },
      { sku: 'THEIRS', adjustment: -1 },
      { product_id: theirs.id, adjustment: -1 },
      'x',
    ];
    const { data } = await shop.ok('POST', '/inventory/batch', { changes });
    assert.deepEqual(
      data.map(({ outcome, change, error }: any) => [outcome, change?.inventory ?? error.code]),
      [
        ['applied', 9],
        ['rejected', 'conflict'],
        ['applied', 4],
        ['rejected', 'insufficient_stock'],
        ['applied', 0],
        ['rejected', 'bad_request'],
        ['rejected', 'not_found'],
        ['rejected', 'not_found'],
        ['rejected', 'bad_request'],
      ],
    );
    for (const index of [1, 3, 5, 6, 7, 8]) {
      const single = await shop.send('POST', '/inventory', { body: changes[index] });
      assert.equal(single.body.error.code, data[index].error.code);
      assert.deepEqual(single.body.error.details?.[0]?.path, data[index].error.details?.[0]?.path);
    }
    assert.deepEqual([await readStock(shop, mug.id), await readStock(shop, cup.id)], [4, 0]);
    assert.equal(await readStock(stranger, theirs.id), 5);
    const log = await shop.walk('/inventory/adjustments');
    assert.deepEqual(
      log.map(({ id }) => id),
      [4, 2, 0].map((index) => data[index].change.adjustmentId),
    );
    assert.deepEqual(
      (await shop.events()).filter(({ type }) => type === 'inventory.low').map(({ data: low }) => low.previous),
      [12],
    );
  });

  test('with atomic=true nothing changes if a change is rejected, and the error names every rejected change', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 12 });
    const changes = [
      { product_id: id, adjustment: -2 },
      { product_id: id, adjustment: -11, clamp: false },
      { product_id: id, set: -1, reason: 7 },
    ];
    const request = { body: { changes }, headers: { 'idempotency-key': 'a' } };
    const { status, body } = await shop.send('POST', '/inventory/batch?atomic=true', request);
    assert.deepEqual([status, body.error.code], [409, 'insufficient_stock']);
    assert.deepEqual(
      body.error.details.map(({ path }: any) => path),
      ['changes.1.adjustment', 'changes.2.reason'],
    );
    assert.equal(await readStock(shop, id), 12);
    assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    // An error is not kept, so the corrected batch may have the same key.
    const corrected = { ...request, body: { changes: changes.slice(0, 1) } };
    const made = await shop.send('POST', '/inventory/batch?atomic=true', corrected);
    const again = await shop.send('POST', '/inventory/batch?atomic=true', corrected);
    assert.deepEqual([made.status, again.text, again.headers.get('idempotent-replayed')], [200, made.text, 'true']);
    assert.equal(await readStock(shop, id), 10);
  });

  test('concurrent batches, reservations and adjustments of the same products in different orders are all made', async () => {
    const shop = await store.shop();
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push((await shop.product({ inventory: 1_000 })).id);
    const rotated = (by: number) => [...ids.slice(by % 6), ...ids.slice(0, by % 6)];
    await inParallel([...Array.from({ length: 60 }).keys()], 20, async (index) => {
      const order = rotated(index * 5);
      if (index % 3 === 0) {
        const changes = order.map((product_id) => ({ product_id, adjustment: -1 }));
        await shop.ok('POST', '/inventory/batch', { changes });
      } else if (index % 3 === 1) {
        const items = order.map((product_id) => ({ product_id, quantity: 1 }));
        await shop.ok('POST', '/reservations', { items }, 201);
      } else {
        for (const product_id of order) await shop.ok('POST', '/inventory', { product_id, adjustment: -1 });
      }
    });
    for (const id of ids) assert.equal(await readStock(shop, id), 940);
  });

  test('a key may send 60 batches of 1,000 changes a minute, which are not counted as other requests', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 5, sku: 'MUG' });
    const changes = Array.from({ length: 1_000 }, () => ({ sku: 'MUG', adjustment: 1 }));
    const { data } = await shop.ok('POST', '/inventory/batch', { changes });
    assert.equal(data.at(-1).change.inventory, 1_005);
    const few = { changes: changes.slice(0, 1) };
    await inParallel(Array.from({ length: 59 }), 10, () => shop.ok('POST', '/inventory/batch', few));
    const excess = await shop.send('POST', '/inventory/batch', { body: few });
    assert.deepEqual([excess.status, excess.headers.get('x-ratelimit-limit')], [429, '60']);
    assert.equal(await readStock(shop, id), 1_064);
  });

  test('a batch may have 1,000 changes with every field and the longest reasons', async () => {
    const shop = await store.shop();
    const { id } = await shop.product({ inventory: 5, sku: 'MUG' });
    const change = { sku: 'MUG', adjustment: 1, clamp: false, reason: '😀'.repeat(500) };
    const changes = Array.from({ length: 1_000 }, (_, index) => ({ ...change, expected: 5 + index }));
    const { data } = await shop.ok('POST', '/inventory/batch', { changes });
    assert.equal(data.at(-1).change.inventory, 1_005);
    assert.equal(await readStock(shop, id), 1_005);
  });

  test('a body that is not a batch is rejected', async () => {
    const shop = await store.shop();
    const change = { sku: 'MUG', adjustment: 1 };
    for (const [body, path] of [
      [[], ''],
      [{}, 'changes'],
      [{ changes: [] }, 'changes'],
      [{ changes: Array.from({ length: 1_001 }, () => change) }, 'changes'],
      [{ changes: [change], atomic: true }, 'atomic'],
    ] as const) {
      const { status, body: answer } = await shop.send('POST', '/inventory/batch', { body });
      assert.deepEqual([status, answer.error.details[0].path], [400, path]);
    }
  });
});
