// The statement that deletes emptied holdings finds them by their keys.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { updateHoldings } from '../../../src/market/chain-log/queries/holdings.ts';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { PlanStep } from '../../support/engines/query-plans.ts';
import { explainStatement } from '../../support/engines/query-plans.ts';

const HOLDINGS = 40_000;
const EMPTIED = 500;

forEachEngine('holdings', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
    await db.query(
      `insert into main.holding (collection_id, token_id, holder, quantity)
       select 'c-' || n % 150, n::text, 'a-' || n % 900, 1 from generate_series(1, ${HOLDINGS}) as n`,
    );
    // No holding is zero now, so the planner will expect none when it plans the deletion.
    await db.query('analyze main.holding');
  });

  test('no step of the deletion reads more rows than there are holdings', async () => {
    const steps: PlanStep[] = [];
    await db.transaction(async (tx) => {
      const explained: Queryable = {
        query: async (sql, params = []) => {
          if (!sql.startsWith('delete')) return tx.query<any>(sql, params);
          steps.push(...(await explainStatement(tx, sql, params)));
          return [];
        },
      };
      const changes = Array.from({ length: EMPTIED }, (_, number) => ({
        collectionId: `c-${(number + 1) % 150}`,
        tokenId: String(number + 1),
        holder: `a-${(number + 1) % 900}`,
        quantity: -1n,
      }));
      await updateHoldings(explained, changes);
    });
    const [left] = await db.query(`select count(*)::int as holdings from main.holding`);
    assert.equal(left?.['holdings'], HOLDINGS - EMPTIED);
    assert.ok(steps.length > 1);
    for (const { type, rows } of steps) assert.ok(rows <= HOLDINGS, `${type} reads ${rows} rows`);
  });
});
