// Tests writers of orders that wait while the collection of the orders is removed. They leave no row of the removed collection.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expireOrders, startOrders } from '../../../src/market/orders/book.ts';
import { cancelOrder } from '../../../src/market/orders/cancel.ts';
import { removeCollections } from '../../../src/market/reads/remove-collections.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { NOW } from '../../support/service/intake.ts';
import { dumpEveryTable } from '../../support/service/every-table.ts';
import { ask, COLLECTION, HOUR, START, TestOrders } from './test-orders.ts';

forOneEngine('orders of a removed collection', (engine) => {
  const orders = new TestOrders(engine);
  const single = { skip: engine.name === 'embedded' && 'the embedded engine runs one transaction at a time' };

  /** A database that removes the collection after the first query of the first transaction. */
  function removing(): { main: Database; ended: () => Promise<Map<string, string[]>> } {
    const { db } = orders;
    let removal: Promise<unknown> | null = null;
    const main: Database = {
      ...db,
      transaction: (work) =>
        db.transaction((tx) =>
          work({
            ...tx,
            query: async (sql, params) => {
              const rows = await tx.query<never>(sql, params);
              removal ??= removeCollections({ main: db, indexer: db, clock: () => NOW, onChanged: () => undefined }, [
                { collectionId: COLLECTION, chain: 'ethereum' },
              ]);
              await removal;
              return rows;
            },
          }),
        ),
    };
    const ended = async () => {
      assert.ok(removal);
      const tables = await dumpEveryTable(db);
      return new Map([...tables].filter(([, rows]) => rows.some((row) => row.includes(COLLECTION))));
    };
    return { main, ended };
  }

  test('the sweep of expired orders', single, async () => {
    await orders.submitSigned(orders.offline);
    const { main, ended } = removing();
    await expireOrders(main, NOW + 2 * HOUR * 1_000, 10);
    assert.deepEqual(await ended(), new Map());
  });

  test('the sweep of orders whose start has come', single, async () => {
    await orders.submitSigned(
      orders.offline,
      ask({}, { startTime: BigInt(START + HOUR), endTime: BigInt(START + 9 * HOUR) }),
    );
    const { main, ended } = removing();
    assert.equal(await startOrders(main, NOW + 2 * HOUR * 1_000, 10), 1);
    assert.deepEqual(await ended(), new Map());
  });

  test('a cancel of the operator', single, async () => {
    const { orderId } = await orders.submitSigned(orders.offline);
    const { main, ended } = removing();
    assert.equal(await cancelOrder({ ...orders.offline, main }, orderId, { cancelledBy: 'operator' }), null);
    assert.deepEqual(await ended(), new Map());
  });
});
