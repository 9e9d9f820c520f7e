// The sale that filled a listing is found by an index of transactions, however often its token was sold.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import type { ListingChange } from '../../../src/market/index/queries/judged-listings.ts';
import { updateListingStates } from '../../../src/market/index/queries/judged-listings.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { listPlanFaults } from '../../support/engines/query-plans.ts';

const SALES = 20_000;
const TX = `0x${'7'.padStart(64, '0')}`;

forOneEngine('a filled listing', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
    await db.query(
      `insert into indexer.sale (key, source, chain, collection_id, asset, price, sold_at, tx, log_index)
       select gen_random_uuid(), 's', 'ethereum', 'c', '1', '5', now(), '0x' || lpad(to_hex(n), 64, '0'), 1
       from generate_series(1, ${SALES}) as n`,
    );
    await db.query('analyze indexer.sale');
  });

  test('a filled listing gets its sale without a read of the other sales of the token', async () => {
    const listing = {
      key: '00000000-0000-4000-8000-000000000001',
      collectionId: 'c',
      asset: '1',
      version: '1',
      id: 'l',
    };
    const change = { listing, to: { status: 'filled', dormant: null, endedAt: 5, tx: TX } } as ListingChange;
    const statements: { sql: string; params: readonly unknown[] }[] = [];
    const recorded: Queryable = {
      query: (sql, params = []) => {
        statements.push({ sql, params });
        return db.query<any>(sql, params);
      },
    };
    await updateListingStates(recorded, [change], 0);
    const named = await db.query(`select tx from indexer.sale where listing_id = 'l'`);
    assert.deepEqual(named, [{ tx: TX }]);
    await db.query(`update indexer.sale set listing_id = null where listing_id = 'l'`);
    assert.deepEqual(await listPlanFaults(db, statements, { rowsMax: 10, sortMax: 10 }), []);
  });
});
