// One signed order can have listings at several marketplaces, and of several collections. When a marketplace reports that the order has ended, the
// other listings of the order end, but only in the collections of the batch that contains the report. The transaction of the batch has locked
// the figures of only these collections.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../src/platform/database/port.ts';
import {
  updateListingsOfEndedOrders,
  updateTermsOfSharedOrders,
} from '../../src/market/index/queries/listing-writes.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { explainStatement } from '../support/engines/query-plans.ts';
import { emptyTables, ingest, listing, NOW } from '../support/service/intake.ts';

const addressOf = (collection: number) => `0x${String(collection).padStart(40, '0')}`;
/** A listing of token 1 of a collection. The listings of all collections belong to the same order. */
const listed = (collection: number, source: string, fields: object = {}) =>
  listing({
    contractAddress: addressOf(collection),
    source,
    id: `${source} ${collection}`,
    orderHash: '0xaa',
    ...fields,
  });
const TERMS = { protocolAddress: addressOf(9), counter: '0', operator: addressOf(8) };

forEachEngine('orders with several listings', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  const list = async (column: string) => {
    const rows = await db.query(
      `select id || ' ' || coalesce(${column}::text, 'unknown') as row from indexer.listing order by id collate "C"`,
    );
    return rows.map(({ row }) => row);
  };
  const insertAll = (fields: object = {}) =>
    ingest(db, ...[1, 2].flatMap((collection) => [listed(collection, 'a', fields), listed(collection, 'b')]));

  test('when one marketplace reports the end of an order for a collection, the listings of the order in this collection end at all marketplaces', async () => {
    await insertAll();
    await ingest(db, listed(1, 'a', { status: 'filled' }), listed(2, 'b', { status: 'cancelled' }));
    assert.deepEqual(await list('status'), ['a 1 filled', 'a 2 cancelled', 'b 1 filled', 'b 2 cancelled']);
  });

  test('in each collection, the listings of an order at all marketplaces get the terms that one marketplace has reported', async () => {
    await insertAll(TERMS);
    assert.deepEqual(await list('counter'), ['a 1 0', 'a 2 0', 'b 1 0', 'b 2 0']);
  });

  test('the listings of an order do not change in a collection if the batch has no listing of this collection', async () => {
    await insertAll();
    // An order has different assets in different collections, so the listings of collection 2 get another asset.
    await db.query(`update indexer.listing set asset = '2' where right(collection_id, 1) = '2'`);
    await db.query(
      `update indexer.listing set status = 'filled', counter = 0, operator = 'x' where right(collection_id, 1) = '2' and source = 'a'`,
    );
    await ingest(db, listed(1, 'a', { status: 'filled', ...TERMS }));
    assert.deepEqual(await list('status'), ['a 1 filled', 'a 2 filled', 'b 1 filled', 'b 2 active']);
    assert.deepEqual((await list('counter')).at(-1), 'b 2 unknown');
  });

  test('the listings of an order are found by the hash of the order, without reading the other listings of the collection', async (t) => {
    if (engine.hasCitus) return t.skip('the plan of a Citus cluster does not show the steps of the nodes');
    await db.query(
      `insert into indexer.listing (key, id, source, chain, collection_id, asset, price_raw, seller, order_hash, status, listed_at)
       select md5(n::text)::uuid, n::text, 'a', 'ethereum', 'c', n::text, 1, 'x', '0x' || n, 'active', now() from generate_series(1, 20000) as n`,
    );
    for (const isAnalyzed of [false, true]) {
      if (isAnalyzed) await db.query('analyze indexer.listing');
      const orders = { hashes: ['0x1', '0x2', '0x3'], collectionIds: ['c'] };
      const sent: { sql: string; params: readonly unknown[] }[] = [];
      const recorded = {
        query: (sql: string, params: readonly unknown[] = []) => (
          sent.push({ sql, params }),
          db.query<any>(sql, params)
        ),
      };
      await updateTermsOfSharedOrders(recorded, orders);
      await updateListingsOfEndedOrders(recorded, orders, { now: NOW });
      for (const { sql, params } of sent.filter(({ sql }) => sql.includes('order_hash'))) {
        const read = (await explainStatement(db, sql, params)).filter(({ table }) => table === 'listing');
        assert.ok(read.length > 0);
        for (const step of read) assert.ok(step.rows <= 9, `${step.type} reads ${step.rows} rows: ${sql}`);
      }
    }
  });
});
