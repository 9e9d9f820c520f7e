// Tests how the holders of a collection are stored when its chain is followed.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import { replaceChainHolders } from '../../../src/market/index/queries/chain-holders.ts';
import { lockFigures } from '../../../src/market/index/queries/figures.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';

const COLLECTION = 'base_0x1';

forOneEngine('the holders of a followed collection', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  const replace = (tokensOf: Record<string, number>) =>
    db.transaction(async (tx) => {
      await lockFigures(tx, [COLLECTION]);
      const holders = Object.entries(tokensOf).map(([holder, tokens]) => ({ holder, tokens }));
      await replaceChainHolders(tx, COLLECTION, holders);
    });
  const stored = () =>
    db.query(`select owner, tokens::int, xmin::text as version from indexer.holder order by owner collate "C"`);

  test('replacing all holders writes only the rows that differ', async () => {
    await replace({ a: 1, b: 2, c: 3 });
    const [unchanged] = await stored();
    await replace({ a: 1, b: 5, d: 4, e: 0 });
    const after = await stored();
    assert.deepEqual(
      after.map(({ owner, tokens }) => [owner, tokens]),
      [
        ['a', 1],
        ['b', 5],
        ['d', 4],
      ],
    );
    assert.deepEqual(after[0], unchanged);
    const [figures] = await db.query(
      `select has_chain_holders, holders::int from indexer.collection_figures where collection_id = $1`,
      [COLLECTION],
    );
    assert.deepEqual(figures, { has_chain_holders: true, holders: 3 });
  });
});
