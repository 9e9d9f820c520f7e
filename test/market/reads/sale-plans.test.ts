// A report of a sale is compared with the sales of its transaction that were read from a chain, and not with all sales that were read from it.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import type { NewSale } from '../../../src/market/index/queries/sales.ts';
import { listSalesToName, upsertSales } from '../../../src/market/index/queries/sales.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { explainStatement } from '../../support/engines/query-plans.ts';

const REPORTS = 300;
const CHAIN_SALES = 3_000;
const OTHER_SALES = 20_000;
const toTx = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;

/** A marketplace's report of a sale in transaction `number`. */
const report = (number: number): NewSale => ({
  key: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  source: 'opensea',
  chain: 'ethereum',
  collectionId: 'c',
  asset: '1' as NewSale['asset'],
  price: '5',
  priceRaw: 5n,
  seller: null,
  buyer: null,
  soldAt: 0,
  listingId: `l-${number}`,
  tx: toTx(number),
  logIndex: null,
  isPast: true,
});

forEachEngine('reports of sales', (engine) => {
  let db: Database;
  /** The table statistics count no sale that was read from a chain, as when the service has just begun to follow a chain. */
  before(async () => {
    db = await engine.open();
    await db.query(
      `insert into indexer.sale (key, source, chain, collection_id, asset, price, sold_at, tx)
       select gen_random_uuid(), 'opensea', 'ethereum', 'c', '1', '5', now(), '0xa' || lpad(to_hex(n), 63, '0')
       from generate_series(1, ${OTHER_SALES}) as n`,
    );
    await db.query('analyze indexer.sale');
    await db.query(
      `insert into indexer.sale (key, source, chain, collection_id, asset, price, sold_at, tx, log_index, block_number)
       select gen_random_uuid(), 'unknown', 'ethereum', 'c', '1', '5', now(), '0x' || lpad(to_hex(n), 64, '0'), 1, n
       from generate_series(1, ${CHAIN_SALES}) as n`,
    );
  });

  test('no step of a statement reads more rows than there are sales', async (t) => {
    if (engine.hasCitus) return t.skip('the plan of a Citus cluster does not show the steps of the nodes');
    const statements: { sql: string; params: readonly unknown[] }[] = [];
    const recorded: Queryable = {
      query: (sql, params = []) => {
        statements.push({ sql, params });
        return db.query<any>(sql, params);
      },
    };
    const sales = Array.from({ length: REPORTS }, (_, number) => report(number + 1));
    assert.equal((await listSalesToName(recorded, sales)).length, REPORTS);
    await upsertSales(recorded, sales);
    const [named] = await db.query(`select count(*)::int as sales from indexer.sale where listing_id like 'l-%'`);
    assert.equal(named?.['sales'], REPORTS);
    assert.equal(statements.length, 2);
    await db.query(`update indexer.sale set listing_id = null, source = 'unknown' where listing_id like 'l-%'`);
    for (const { sql, params } of statements) {
      for (const { type, rows } of await explainStatement(db, sql, params)) {
        assert.ok(rows <= CHAIN_SALES + OTHER_SALES, `${type} reads ${rows} rows: ${sql}`);
      }
    }
  });
});
