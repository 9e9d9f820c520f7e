// /api/v1/inventory and /api/v1/inventory/adjustments: levels, changes of stock under any concurrency, and their log.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestShop } from '../support/shop.ts';
import { forEachStore, inParallel } from '../support/shop.ts';

const STOCK_MAX = 2 ** 31 - 1;
const WIDTH = 32;

forEachStore('inventory', (store) => {
  const change = async (shop: TestShop, id: string, body: object) =>
    (await shop.ok('POST', '/inventory', { product_id: id, ...body })).data;
  const stockOf = async (shop: TestShop, id: string) => (await shop.ok('GET', `/products/${id}`)).data.inventory;
  const lowEvents = async (shop: TestShop) => (await shop.events()).filter(({ type }) => type === 'inventory.low');

  describe('levels', () => {
    test('are those of every tracked product, newest first, with the fields of the specification', async () => {
      const shop = await store.shop();
      const mug = await shop.product({ name: 'Mug', inventory: 11 });
      await shop.product({ name: 'File', type: 'digital', inventory: 1 });
      const cup = await shop.product({ name: 'Cup', inventory: 10 });
      assert.deepEqual(await shop.ok('GET', '/inventory'), {
        data: [
          { productId: cup.id, name: 'Cup', inventory: 10, trackInventory: true, lowStock: true },
          { productId: mug.id, name: 'Mug', inventory: 11, trackInventory: true, lowStock: false },
        ],
        count: 2,
      });
      const one = await shop.ok('GET', `/inventory?product_id=${mug.id}`);
      assert.deepEqual([one.count, one.data[0].productId], [1, mug.id]);
    });

    test('are not paged', async () => {
      const shop = await store.shop();
      await inParallel(Array.from({ length: 120 }), 8, () => shop.product());
      const { data, count } = await shop.ok('GET', '/inventory?limit=1');
      assert.deepEqual([data.length, count], [120, 120]);
    });

    test('are low at the threshold of the request, which filters and marks but fires nothing', async () => {
      const shop = await store.shop();
      for (const inventory of [0, 5, 6, 10, 11]) await shop.product({ inventory });
      const levels = async (query: string) =>
        (await shop.ok('GET', `/inventory?${query}`)).data.map((item: any) => [item.inventory, item.lowStock]);
      assert.deepEqual(await levels('low_stock=true'), [
        [10, true],
        [6, true],
        [5, true],
        [0, true],
      ]);
      assert.deepEqual(await levels('low_stock=true&threshold=5'), [
        [5, true],
        [0, true],
      ]);
      assert.deepEqual(await levels('threshold=5'), [
        [11, false],
        [10, false],
        [6, false],
        [5, true],
        [0, true],
      ]);
      assert.deepEqual(await levels('low_stock=true&threshold=0'), [[0, true]]);
      assert.equal((await levels(`low_stock=false&threshold=${STOCK_MAX}`)).length, 5);
      assert.deepEqual(await lowEvents(shop), []);
    });

    test('are refused for parameters that are not of their kind', async () => {
      const shop = await store.shop();
      for (const query of [
        'low_stock=1',
        'low_stock=TRUE',
        'low_stock=',
        'threshold=-1',
        'threshold=1.5',
        'threshold=x',
        'threshold=2147483648',
        'threshold=',
        'product_id=',
        'product_id=a&product_id=b',
      ]) {
        const { status, body } = await shop.send('GET', `/inventory?${query}`);
        assert.deepEqual([status, body.error.message], [400, 'Invalid query parameters'], query);
        assert.equal(body.error.details[0].path, query.split('=')[0]);
      }
    });
  });

  describe('a change', () => {
    test('answers what it did', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ name: 'Mug', inventory: 15 });
      const taken = await change(shop, id, { adjustment: -3 });
      assert.match(taken.adjustmentId, /^adj_\d+$/);
      const same = { productId: id, name: 'Mug', trackInventory: true };
      assert.deepEqual(taken, {
        ...same,
        inventory: 12,
        lowStock: false,
        previous: 15,
        adjustment: -3,
        requested: -3,
        clamped: false,
        adjustmentId: taken.adjustmentId,
      });
      const set = await change(shop, id, { set: 7, reason: 'stocktake' });
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
      const nothing = await change(shop, id, { adjustment: 0 });
      assert.deepEqual([nothing.inventory, nothing.adjustment, nothing.clamped], [7, 0, false]);
      assert.equal(await stockOf(shop, id), 7);
    });

    test('stops at 0 and at 2^31-1, and says so', async () => {
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
        const result = await change(shop, id, body);
        assert.deepEqual(
          [result.inventory, result.adjustment, result.clamped],
          [inventory, adjustment, clamped],
          JSON.stringify(body),
        );
        assert.equal(result.requested, Object.values(body)[0]);
      }
    });

    test('with both adjustment and set, or neither, is 400 and changes nothing', async () => {
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
        const answer = await shop.send('POST', '/inventory', { body });
        assert.deepEqual([answer.status, answer.body.error.details[0].path], [400, 'product_id']);
      }
      assert.equal(await stockOf(shop, id), 5);
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('takes integers within ±(2^31-1) as they are written, and nothing that only looks like one', async () => {
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

    test('with an unknown field, an unusable reason or an unreadable body is 400 and changes nothing', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      const good = { product_id: id, adjustment: 1 };
      for (const [field, value] of [
        ['quantity', 1],
        ['reason', 1],
        ['reason', null],
        ['reason', 'r'.repeat(501)],
        ['reason', '\u0000'],
        ['reason', '\udc00'],
      ] as const) {
        const { status, body } = await shop.send('POST', '/inventory', { body: { ...good, [field]: value } });
        assert.deepEqual([status, body.error.details[0].path], [400, field]);
      }
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      const proto = `{"product_id":"${id}","__proto__":{"adjustment":1}}`;
      for (const body of ['', '{', '[]', 'null', '"x"', '1', deep, proto, Buffer.from([0x22, 0xff, 0x22])]) {
        assert.equal((await shop.send('POST', '/inventory', { body })).status, 400, String(body).slice(0, 50));
      }
      const typed = { body: JSON.stringify(good), headers: { 'content-type': 'text/plain' } };
      assert.equal((await shop.send('POST', '/inventory', typed)).status, 400);
      assert.deepEqual(await shop.walk('/inventory/adjustments'), []);
    });

    test('of a product that is not there is 404', async () => {
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

    test('with expected happens only while the stock is that; else 409 tells the stock, and nothing changes', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 20 });
      assert.equal((await change(shop, id, { adjustment: -1, expected: 20 })).inventory, 19);
      for (const body of [
        { adjustment: -15, expected: 20 },
        { set: 3, expected: 18 },
        { set: 19, expected: -1 },
      ]) {
        const answer = await shop.send('POST', '/inventory', { body: { product_id: id, ...body } });
        assert.deepEqual([answer.status, answer.body.error.code], [409, 'conflict']);
        assert.match(answer.body.error.message, /\b19\b/);
      }
      assert.equal(await stockOf(shop, id), 19);
      assert.equal((await shop.walk('/inventory/adjustments')).length, 1);
      assert.deepEqual(await lowEvents(shop), []);
      const answers = await inParallel(Array.from({ length: 10 }), 10, () =>
        shop.send('POST', '/inventory', { body: { product_id: id, adjustment: 1, expected: 19 } }),
      );
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, ...Array.from({ length: 9 }, () => 409)],
      );
    });
  });

  describe('under concurrency', () => {
    test('200 adjustments end exactly at their sum, and the log is one unbroken chain', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 10_000 });
      const amounts = Array.from({ length: 200 }, (_, index) => ((index * 37) % 41) - 20);
      const results = await inParallel(amounts, WIDTH, (adjustment) => change(shop, id, { adjustment }));
      const expected = 10_000 + amounts.reduce((sum, amount) => sum + amount, 0);
      assert.equal(await stockOf(shop, id), expected);
      const log = await shop.walk('/inventory/adjustments?limit=100');
      assertChain(log, 10_000, expected);
      assert.equal(log.length, 200);
      assert.deepEqual(new Set(log.map((entry) => entry.id)), new Set(results.map((result) => result.adjustmentId)));
    });

    test('20 times -1 on a stock of 5 ends at 0 with every answer 200, five of them unclamped', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      const results = await inParallel(Array.from({ length: 20 }), 20, () => change(shop, id, { adjustment: -1 }));
      assert.equal(await stockOf(shop, id), 0);
      assert.equal(results.filter(({ clamped }) => !clamped).length, 5);
      assertChain(await shop.walk('/inventory/adjustments'), 5, 0);
    });

    test('50 decrements through the level fire inventory.low exactly once, with the crossing in it', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ name: 'Mug', inventory: 40 });
      await inParallel(Array.from({ length: 50 }), WIDTH, () => change(shop, id, { adjustment: -1 }));
      const [event, ...more] = await lowEvents(shop);
      assert.deepEqual(more, []);
      const log = await shop.walk('/inventory/adjustments');
      const crossing = log.find(({ previous, next }) => previous > 10 && next <= 10);
      assert.deepEqual(event?.data, {
        productId: id,
        name: 'Mug',
        inventory: 10,
        previous: 11,
        threshold: 10,
        adjustmentId: crossing.id,
      });
    });

    test('sets, adjustments and updates of all kinds leave one chain that ends at the stock', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 30 });
      await inParallel(
        Array.from({ length: 60 }, (_, index) => index),
        WIDTH,
        async (index) => {
          if (index % 3 === 0) return change(shop, id, { adjustment: (index % 7) - 3 });
          if (index % 3 === 1) return change(shop, id, { set: index % 23 });
          return shop.ok('PUT', `/products/${id}`, { inventory: index % 29, name: `n${index}` });
        },
      );
      const log = await shop.walk('/inventory/adjustments');
      assertChain(log, 30, await stockOf(shop, id));
      const crossings = log.filter(({ previous, next }) => previous > 10 && next <= 10);
      assert.equal((await lowEvents(shop)).length, crossings.length);
    });
  });

  describe('inventory.low', () => {
    test('is not fired by a creation at or below the level, nor below it, and is armed again above it', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 10 });
      const fired = async (body: object) => {
        const before = (await lowEvents(shop)).length;
        await change(shop, id, body);
        return (await lowEvents(shop)).length - before;
      };
      assert.deepEqual(
        [await fired({ adjustment: -1 }), await fired({ adjustment: 1 }), await fired({ set: 0 })],
        [0, 0, 0],
      );
      assert.deepEqual(
        [await fired({ set: 11 }), await fired({ adjustment: -1 }), await fired({ adjustment: -1 })],
        [0, 1, 0],
      );
      assert.deepEqual([await fired({ adjustment: 100 }), await fired({ set: 3 })], [0, 1]);
      assert.deepEqual([await fired({ set: 11 }), await fired({ adjustment: -1_000 })], [0, 1]);
    });

    test('is fired by a PUT that crosses, once', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 11 });
      await shop.ok('PUT', `/products/${id}`, { inventory: 10 });
      await shop.ok('PUT', `/products/${id}`, { inventory: 9 });
      assert.equal((await lowEvents(shop)).length, 1);
    });

    test('is never fired for an untracked product, which is adjusted and logged all the same', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 20, trackInventory: false });
      const result = await change(shop, id, { adjustment: -15 });
      assert.deepEqual([result.inventory, result.trackInventory], [5, false]);
      await shop.ok('PUT', `/products/${id}`, { inventory: 20 });
      await shop.ok('PUT', `/products/${id}`, { inventory: 2, trackInventory: false });
      assert.deepEqual(await lowEvents(shop), []);
      assert.equal((await shop.walk('/inventory/adjustments')).length, 3);
      await shop.ok('PUT', `/products/${id}`, { trackInventory: true });
      assert.deepEqual(await lowEvents(shop), [], 'tracking that begins below the level crosses nothing');
      await shop.ok('PUT', `/products/${id}`, { trackInventory: false, inventory: 50 });
      await shop.ok('PUT', `/products/${id}`, { trackInventory: true, inventory: 1 });
      assert.equal((await lowEvents(shop)).length, 1, 'a request that tracks and crosses fires');
    });
  });

  describe('the adjustment log', () => {
    test('is newest first, says who, why and how, and is kept when its product is deleted', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      const other = await shop.newKey(['inventory:write']);
      const first = await change(shop, id, { adjustment: -9, reason: `sold ${'🦔'.repeat(495)}` });
      await shop.send('POST', '/inventory', { body: { product_id: id, set: 3 }, secret: other.secret });
      await shop.ok('DELETE', `/products/${id}`);
      const log = await shop.walk(`/inventory/adjustments?product_id=${id}&limit=1`);
      assert.deepEqual(
        log.map(({ reason, keyId }) => [reason, keyId]),
        [
          ['API adjustment', other.id],
          [`sold ${'🦔'.repeat(495)}`, shop.key.id],
        ],
      );
      assert.deepEqual(log[1], {
        id: first.adjustmentId,
        productId: id,
        previous: 5,
        next: 0,
        adjustment: -5,
        requested: -9,
        reason: log[1].reason,
        source: 'inventory',
        keyId: shop.key.id,
        createdAt: new Date(store.now()).toISOString(),
      });
    });

    test('of one product has its entries only, and its cursors are good for nothing else', async () => {
      const shop = await store.shop();
      const products = [await shop.product(), await shop.product()];
      for (const { id } of [...products, ...products, ...products]) await change(shop, id, { adjustment: 1 });
      const [one, two] = products.map(({ id }) => `/inventory/adjustments?product_id=${id}`);
      assert.deepEqual(
        (await shop.walk(`${one}&limit=2`)).map(({ next }) => next),
        [3, 2, 1],
      );
      assert.equal((await shop.walk('/inventory/adjustments?limit=4')).length, 6);
      assert.equal((await shop.ok('GET', `/inventory/adjustments`)).pagination.hasMore, false);
      const { nextCursor } = (await shop.ok('GET', `${one}&limit=1`)).pagination;
      const changed = `${nextCursor.slice(0, -1)}${nextCursor.endsWith('A') ? 'B' : 'A'}`;
      for (const path of [
        `${two}&cursor=${nextCursor}`,
        `/inventory/adjustments?cursor=${nextCursor}`,
        `${one}&cursor=${changed}`,
        `${one}&cursor=7`,
        `${one}&cursor=`,
        `${one}&limit=0`,
        `${one}&limit=101`,
        '/inventory/adjustments?product_id=',
      ]) {
        const { status, body } = await shop.send('GET', path);
        assert.deepEqual([status, body.error.message], [400, 'Invalid query parameters'], path);
      }
    });
  });
});

/** Newest first, from one level to another, without a gap. */
function assertChain(log: { previous: number; next: number; adjustment: number }[], from: number, to: number): void {
  let level = to;
  for (const { previous, next, adjustment } of log) {
    assert.deepEqual([next, next - previous], [level, adjustment]);
    level = previous;
  }
  assert.equal(level, from);
}
