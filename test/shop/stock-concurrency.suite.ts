// Tests concurrent changes of stock, and the event `inventory.low`. stock-changes.test.ts runs this suite.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestShop, TestStore } from '../support/service/shop.ts';
import { inParallel } from '../support/service/shop.ts';

const CONCURRENCY = 32;

export const changeStock = async (shop: TestShop, id: string, body: object) =>
  (await shop.ok('POST', '/inventory', { product_id: id, ...body })).data;

export const readStock = async (shop: TestShop, id: string) => (await shop.ok('GET', `/products/${id}`)).data.inventory;

export const listLowEvents = async (shop: TestShop) =>
  (await shop.events()).filter(({ type }) => type === 'inventory.low');

/** Declares the tests that the stock, the adjustment log and the events are correct after concurrent changes. */
export function describeStockConcurrency(store: TestStore): void {
  describe('concurrent changes of stock', () => {
    test('200 adjustments result in exactly their sum', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 10_000 });
      const amounts = Array.from({ length: 200 }, (_, index) => ((index * 37) % 41) - 20);
      const results = await inParallel(amounts, CONCURRENCY, (adjustment) => changeStock(shop, id, { adjustment }));
      const expected = 10_000 + amounts.reduce((sum, amount) => sum + amount, 0);
      assert.equal(await readStock(shop, id), expected);
      const log = await shop.walk('/inventory/adjustments?limit=100');
      assertChain(log, 10_000, expected);
      assert.equal(log.length, 200);
      assert.deepEqual(new Set(log.map((entry) => entry.id)), new Set(results.map((result) => result.adjustmentId)));
    });

    test('20 adjustments by -1 to a stock of 5 never bring the stock below 0', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 5 });
      const results = await inParallel(Array.from({ length: 20 }), 20, () => changeStock(shop, id, { adjustment: -1 }));
      assert.equal(await readStock(shop, id), 0);
      assert.equal(results.filter(({ clamped }) => !clamped).length, 5);
      assertChain(await shop.walk('/inventory/adjustments'), 5, 0);
    });

    test('50 concurrent decrements send inventory.low exactly once', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ name: 'Mug', inventory: 40 });
      await inParallel(Array.from({ length: 50 }), CONCURRENCY, () => changeStock(shop, id, { adjustment: -1 }));
      const [event, ...more] = await listLowEvents(shop);
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

    test('after sets, adjustments and product updates, the log has no gap and ends at the current stock', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 30 });
      await inParallel(
        Array.from({ length: 60 }, (_, index) => index),
        CONCURRENCY,
        async (index) => {
          if (index % 3 === 0) return changeStock(shop, id, { adjustment: (index % 7) - 3 });
          if (index % 3 === 1) return changeStock(shop, id, { set: index % 23 });
          return shop.ok('PUT', `/products/${id}`, { inventory: index % 29, name: `n${index}` });
        },
      );
      const log = await shop.walk('/inventory/adjustments');
      assertChain(log, 30, await readStock(shop, id));
      const crossings = log.filter(({ previous, next }) => previous > 10 && next <= 10);
      assert.equal((await listLowEvents(shop)).length, crossings.length);
    });
  });

  describe('inventory.low', () => {
    test('inventory.low is sent only when the stock falls from above the low-stock level to this level or below', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 10 });
      const countEventsOf = async (body: object) => {
        const before = (await listLowEvents(shop)).length;
        await changeStock(shop, id, body);
        return (await listLowEvents(shop)).length - before;
      };
      assert.deepEqual(
        [
          await countEventsOf({ adjustment: -1 }),
          await countEventsOf({ adjustment: 1 }),
          await countEventsOf({ set: 0 }),
        ],
        [0, 0, 0],
      );
      assert.deepEqual(
        [
          await countEventsOf({ set: 11 }),
          await countEventsOf({ adjustment: -1 }),
          await countEventsOf({ adjustment: -1 }),
        ],
        [0, 1, 0],
      );
      assert.deepEqual([await countEventsOf({ adjustment: 100 }), await countEventsOf({ set: 3 })], [0, 1]);
      assert.deepEqual([await countEventsOf({ set: 11 }), await countEventsOf({ adjustment: -1_000 })], [0, 1]);
    });

    test('inventory.low is sent once by a PUT that crosses the low-stock level', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 11 });
      await shop.ok('PUT', `/products/${id}`, { inventory: 10 });
      await shop.ok('PUT', `/products/${id}`, { inventory: 9 });
      assert.equal((await listLowEvents(shop)).length, 1);
    });

    test('inventory.low is not sent for an untracked product', async () => {
      const shop = await store.shop();
      const { id } = await shop.product({ inventory: 20, trackInventory: false });
      const result = await changeStock(shop, id, { adjustment: -15 });
      assert.deepEqual([result.inventory, result.trackInventory], [5, false]);
      await shop.ok('PUT', `/products/${id}`, { inventory: 20 });
      await shop.ok('PUT', `/products/${id}`, { inventory: 2, trackInventory: false });
      assert.deepEqual(await listLowEvents(shop), []);
      assert.equal((await shop.walk('/inventory/adjustments')).length, 3);
      await shop.ok('PUT', `/products/${id}`, { trackInventory: true });
      assert.deepEqual(
        await listLowEvents(shop),
        [],
        'an event was sent although the stock did not cross the low-stock level',
      );
      await shop.ok('PUT', `/products/${id}`, { trackInventory: false, inventory: 50 });
      await shop.ok('PUT', `/products/${id}`, { trackInventory: true, inventory: 1 });
      assert.equal(
        (await listLowEvents(shop)).length,
        1,
        'a request that turns on tracking and crosses the low-stock level did not send one event',
      );
    });
  });
}

/** Fails unless the entries, newest first, lead from the stock `from` to the stock `to` without a gap. */
function assertChain(log: { previous: number; next: number; adjustment: number }[], from: number, to: number): void {
  let level = to;
  for (const { previous, next, adjustment } of log) {
    assert.deepEqual([next, next - previous], [level, adjustment]);
    level = previous;
  }
  assert.equal(level, from);
}
