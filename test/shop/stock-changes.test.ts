// Tests POST /api/v1/inventory: what a change of stock does, which changes are rejected, and what concurrent changes do.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forEachStore, inParallel } from '../support/service/shop.ts';
import { changeStock, describeStockConcurrency, listLowEvents, readStock } from './stock-concurrency.suite.ts';

const STOCK_MAX = 2 ** 31 - 1;

forEachStore('changes of stock', (store) => {
  describe('a change', () => {
    test('a change has the id of its log entry, and neither the id nor a cursor reveals the sequence number of the entry', async () => {
      const [shop, other] = [await store.shop(), await store.shop()];
      const { id } = await shop.product({ inventory: 5 });
      const stranger = await other.product({ inventory: 5 });
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        ids.push((await changeStock(shop, id, { adjustment: 1 })).adjustmentId);
        for (let m = 0; m < n; m += 1) await changeStock(other, stranger.id, { adjustment: 1 });
      }
      assert.deepEqual(
        (await shop.walk('/inventory/adjustments?limit=2')).map((entry: any) => entry.id),
        ids.toReversed(),
      );
      for (const one of ids) assert.match(one, /^adj_[0-9a-f]{32}$/);
      const page = await shop.ok('GET', '/inventory/adjustments?limit=1');
      const cursor = Buffer.from(page.pagination.nextCursor, 'base64url').toString('latin1');
      const [row] = await store.query('select max(id)::text as id from main.adjustment where shop_id = $1', [shop.id]);
      const payload = Buffer.from(cursor.slice(16), 'base64url').toString('latin1');
      assert.ok(
        !cursor.slice(16).includes(row?.['id']) && !payload.includes(row?.['id']),
        'the cursor reveals the sequence number of the entry',
      );
    });

    test('a log entry without a public id gets an id from its sequence number', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      await changeStock(shop, id, { adjustment: 1 });
      const [row] = await store.query(
        'update main.adjustment set public_id = null where product_id = $1 returning id::text as sequence',
        [id],
      );
      assert.equal(
        (await shop.ok('GET', `/inventory/adjustments?product_id=${id}`)).data[0].id,
        `adj_${row?.['sequence']}`,
      );
    });

    test('a change that must not be limited is made in full or not at all', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      for (const [change, code, path] of [
        [{ adjustment: -6 }, 'insufficient_stock', 'adjustment'],
        [{ set: -1 }, 'insufficient_stock', 'set'],
        [{ adjustment: STOCK_MAX }, 'conflict', 'adjustment'],
        [{ adjustment: -6, expected: 4 }, 'conflict', 'expected'],
      ] as const) {
        const { status, body } = await shop.send('POST', '/inventory', {
          body: { product_id: id, clamp: false, ...change },
        });
        assert.deepEqual([status, body.error.code, body.error.details[0].path], [409, code, path]);
        assert.match(body.error.message, /stock is 5/);
      }
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
      assert.equal((await changeStock(shop, id, { adjustment: -5, clamp: false })).inventory, 0);
      assert.equal((await changeStock(shop, id, { adjustment: -1, clamp: true })).clamped, true);
      const { status, body } = await shop.send('POST', '/inventory', { body: { product_id: id, set: 1, clamp: 'no' } });
      assert.deepEqual([status, body.error.details], [400, [{ path: 'clamp', message: 'must be true or false' }]]);
    });

    test('a change names its product by SKU or external id, of its own shop only', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const { id } = await shop.product({ inventory: 5, sku: 'MUG', externalId: 'erp 1' });
      await stranger.product({ inventory: 5, sku: 'CUP' });
      const change = (body: object) => shop.send('POST', '/inventory', { body: { adjustment: -1, ...body } });
      for (const name of [{ sku: 'MUG' }, { externalId: 'erp 1' }]) {
        assert.equal((await change(name)).body.data.productId, id);
      }
      for (const name of [{ sku: 'CUP' }, { externalId: 'MUG' }, { sku: 'mug' }]) {
        const { status, body } = await change(name);
        assert.deepEqual([status, body.error.message], [404, 'Product not found']);
      }
      for (const [name, path] of [
        [{ sku: 'MUG', externalId: 'erp 1' }, 'externalId'],
        [{ sku: 7 }, 'sku'],
        [{ sku: '' }, 'sku'],
      ] as const) {
        const { status, body } = await change(name);
        assert.deepEqual([status, body.error.details[0].path], [400, path]);
      }
      assert.equal(await readStock(shop, id), 3);
    });

    test('the types that a webhook names are recorded for each change: the log entry, and when stock reaches or leaves 0', async () => {
      const shop = await store.shop();
      const events = ['inventory.changed', 'inventory.out', 'inventory.restocked', 'inventory.low'];
      await shop.ok('POST', '/webhooks', { url: 'https://shop.example/hook', events }, 201);
      const { id } = await shop.product({ inventory: 12, sku: 'MUG' });
      const untracked = await shop.product({ inventory: 1, trackInventory: false });
      const of = async (from: number) => (await shop.events()).slice(from);
      const made = (await shop.events()).length;
      const sold = await changeStock(shop, id, { adjustment: -20, reason: 'sold' });
      const [entry] = (await shop.ok('GET', '/inventory/adjustments')).data;
      const level = { productId: id, name: 'Mug', inventory: 0, previous: 12 };
      assert.deepEqual(await of(made), [
        { type: 'inventory.changed', data: entry },
        { type: 'inventory.low', data: { ...level, threshold: 10, adjustmentId: sold.adjustmentId } },
        { type: 'inventory.out', data: { ...level, adjustmentId: sold.adjustmentId } },
      ]);
      await changeStock(shop, id, { adjustment: -1 });
      await shop.ok('PUT', `/products/${id}`, { inventory: 2 });
      await shop.ok('POST', '/reservations', { items: [{ sku: 'MUG', quantity: 2 }] }, 201);
      await shop.ok('POST', '/inventory/batch', {
        changes: [
          { sku: 'MUG', set: 20 },
          { product_id: untracked.id, set: 0 },
        ],
      });
      const later = (await of(made + 3)).filter(({ type }) => type.startsWith('inventory.'));
      assert.deepEqual(
        later.map(({ type, data }) => [type, data.previous, data.next ?? data.inventory, data.source]),
        [
          ['inventory.changed', 0, 0, 'inventory'],
          ['inventory.changed', 0, 2, 'product'],
          ['inventory.restocked', 0, 2, undefined],
          ['inventory.changed', 2, 0, 'reservation'],
          ['inventory.out', 2, 0, undefined],
          ['inventory.changed', 0, 20, 'inventory'],
          ['inventory.restocked', 0, 20, undefined],
          ['inventory.changed', 1, 0, 'inventory'],
        ],
      );
      const log = await shop.walk('/inventory/adjustments');
      assert.deepEqual(
        (await shop.events()).filter(({ type }) => type === 'inventory.changed').map(({ data }) => data),
        log.toReversed(),
      );
      const ids = await store.query('select id from main.event where shop_id = $1 order by sequence', [shop.id]);
      for (const row of ids) assert.match(String(row['id']), /^evt_[0-9a-f]{32}$/);
    });

    test('a type that no webhook of the shop names is not recorded, also if one of another shop names it', async () => {
      const [shop, stranger] = [await store.shop(), await store.shop()];
      const url = 'https://shop.example/hook';
      await stranger.ok('POST', '/webhooks', { url, events: ['inventory.changed', 'inventory.out'] }, 201);
      await shop.ok('POST', '/webhooks', { url }, 201);
      const { id } = await shop.product({ inventory: 12 });
      await changeStock(shop, id, { set: 0 });
      assert.deepEqual(
        (await shop.events()).map(({ type }) => type),
        ['product.created', 'inventory.low'],
      );
      assert.deepEqual(await stranger.events(), []);
    });

    test('a change of an untracked product never reports low stock', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 20, trackInventory: false });
      for (const change of [{ adjustment: -15 }, { set: 0 }]) {
        const result = await changeStock(shop, id, change);
        assert.deepEqual([result.trackInventory, result.lowStock], [false, false]);
      }
    });

    test('the response to a change has the stock before and after the change, and the change that was applied', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ name: 'Mug', inventory: 15 });
      const result = await changeStock(shop, id, { adjustment: -3 });
      assert.match(result.adjustmentId, /^adj_[0-9a-f]{32}$/);
      const same = { productId: id, name: 'Mug', trackInventory: true };
      assert.deepEqual(result, {
        ...same,
        inventory: 12,
        lowStock: false,
        previous: 15,
        adjustment: -3,
        requested: -3,
        clamped: false,
        adjustmentId: result.adjustmentId,
      });
      const set = await changeStock(shop, id, { set: 7, reason: 'stocktake' });
      assert.deepEqual(set, {
        ...same,
        inventory: 7,
        lowStock: true,
        previous: 12,
        adjustment: -5,
        requested: 7,
        clamped: false,
        adjustmentId: set.adjustmentId,
      });
      const nothing = await changeStock(shop, id, { adjustment: 0 });
      assert.deepEqual([nothing.inventory, nothing.adjustment, nothing.clamped], [7, 0, false]);
      assert.equal(await readStock(shop, id), 7);
    });

    test('a change is clamped so that the stock stays between 0 and 2^31-1', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      const steps: [object, number, number, boolean][] = [
        [{ adjustment: -6 }, 0, -5, true],
        [{ adjustment: -STOCK_MAX }, 0, 0, true],
        [{ set: -1 }, 0, 0, true],
        [{ set: STOCK_MAX }, STOCK_MAX, STOCK_MAX, false],
        [{ adjustment: 1 }, STOCK_MAX, 0, true],
        [{ adjustment: STOCK_MAX }, STOCK_MAX, 0, true],
        [{ adjustment: -STOCK_MAX }, 0, -STOCK_MAX, false],
        [{ adjustment: STOCK_MAX }, STOCK_MAX, STOCK_MAX, false],
      ];
      for (const [body, inventory, adjustment, clamped] of steps) {
        const result = await changeStock(shop, id, body);
        assert.deepEqual(
          [result.inventory, result.adjustment, result.clamped],
          [inventory, adjustment, clamped],
          JSON.stringify(body),
        );
        assert.equal(result.requested, Object.values(body)[0]);
      }
    });

    test('a change with both or neither of `adjustment` and `set`, or without a product id, gets a 400', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      for (const body of [
        {},
        { reason: 'x' },
        { adjustment: 1, set: 1 },
        { adjustment: null, set: 1 },
        { adjustment: 1, set: null },
      ]) {
        assert.equal((await shop.send('POST', '/inventory', { body: { product_id: id, ...body } })).status, 400);
      }
      for (const body of [
        { adjustment: 1 },
        { product_id: '', adjustment: 1 },
        { product_id: null, set: 1 },
        { product_id: 5, set: 1 },
        { productId: id, set: 1 },
      ]) {
        const response = await shop.send('POST', '/inventory', { body });
        assert.deepEqual([response.status, response.body.error.details[0].path], [400, 'product_id']);
      }
      assert.equal(await readStock(shop, id), 5);
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('a change rejects numbers that are not integers within ±(2^31-1), and names the field', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      const literals = [
        '1.5',
        '"5"',
        'true',
        'null',
        '2147483648',
        '-2147483648',
        '9007199254740993',
        '1e400',
        '-1e400',
        '[]',
        '{}',
        '[1]',
      ];
      for (const field of ['adjustment', 'set', 'expected']) {
        const rest = field === 'expected' ? ',"set":1' : '';
        for (const literal of literals) {
          const { status, body } = await shop.send('POST', '/inventory', {
            body: `{"product_id":"${id}","${field}":${literal}${rest}}`,
          });
          assert.deepEqual([status, body.error.details[0].path], [400, field], literal);
        }
      }
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('a change with an unknown field, an unusable reason or an unreadable body gets a 400', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const valid = { product_id: id, adjustment: 1 };
      for (const [field, value] of [
        ['quantity', 1],
        ['reason', 1],
        ['reason', null],
        ['reason', 'r'.repeat(501)],
        ['reason', '\u0000'],
        ['reason', '\udc00'],
      ] as const) {
        const { status, body } = await shop.send('POST', '/inventory', { body: { ...valid, [field]: value } });
        assert.deepEqual([status, body.error.details[0].path], [400, field]);
      }
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      const proto = `{"product_id":"${id}","__proto__":{"adjustment":1}}`;
      for (const body of ['', '{', '[]', 'null', '"x"', '1', deep, proto, Buffer.from([0x22, 0xff, 0x22])]) {
        assert.equal((await shop.send('POST', '/inventory', { body })).status, 400, String(body).slice(0, 50));
      }
      const typed = { body: JSON.stringify(valid), headers: { 'content-type': 'text/plain' } };
      assert.equal((await shop.send('POST', '/inventory', typed)).status, 400);
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('a change of a missing product gets a 404', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      await shop.ok('DELETE', `/products/${id}`);
      for (const productId of [id, 'x', `prod_${'0'.repeat(32)}`, '\u0000', '\ud800']) {
        const { status, body } = await shop.send('POST', '/inventory', {
          body: { product_id: productId, adjustment: 1 },
        });
        assert.deepEqual([status, body.error.message], [404, 'Product not found']);
      }
    });

    test('a change with `expected` is made only if the stock equals this number', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 20 });
      assert.equal((await changeStock(shop, id, { adjustment: -1, expected: 20 })).inventory, 19);
      for (const body of [
        { adjustment: -15, expected: 20 },
        { set: 3, expected: 18 },
        { set: 19, expected: -1 },
      ]) {
        const response = await shop.send('POST', '/inventory', { body: { product_id: id, ...body } });
        assert.deepEqual([response.status, response.body.error.code], [409, 'conflict']);
        assert.match(response.body.error.message, /\b19\b/);
      }
      assert.equal(await readStock(shop, id), 19);
      assert.equal((await shop.walk('/inventory/adjustments')).length, 1);
      assert.deepEqual(await listLowEvents(shop), []);
      const responses = await inParallel(Array.from({ length: 10 }), 10, () =>
        shop.send('POST', '/inventory', { body: { product_id: id, adjustment: 1, expected: 19 } }),
      );
      assert.deepEqual(
        responses.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, ...Array.from({ length: 9 }, () => 409)],
      );
    });
  });

  describeStockConcurrency(store);
});
