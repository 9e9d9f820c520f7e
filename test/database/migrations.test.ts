// Migrations that move rows between tables keep every row.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/core/log.ts';
import { migrate, migrateWithin } from '../../src/database/migrate.ts';
import type { Databases } from '../../src/database/open.ts';
import { openDatabases } from '../../src/database/open.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';

const UP_TO_0009 = [
  '0001-marketplace.sql',
  '0002-store.sql',
  '0003-webhooks.sql',
  '0004-chains.sql',
  '0005-sync.sql',
  '0006-keys.sql',
  '0007-shown.sql',
  '0008-request-budgets.sql',
  '0009-follow-turns.sql',
];

async function openUnmigrated(settings: Record<string, string>): Promise<Databases & AsyncDisposable> {
  const databases = await openDatabases(readConfig(settings), createLog('silent'));
  return { ...databases, [Symbol.asyncDispose]: databases.close };
}

forEachEngine('migrations of followed collections', (engine) => {
  test('vendor names, recent views and last-run records are migrated, and the names and records are deleted with their collection', async () => {
    await using databases = await openUnmigrated(await engine.settings('empty'));
    const { main } = databases;
    await main.transaction((tx) => migrateWithin(tx, 'main', new Set(UP_TO_0009)));
    await main.query(
      `insert into main.follow (collection_id, chain, contract_address, opensea_slug, magiceden_symbol, created_at)
       values ('both', 'ethereum', '0x1', 'a-slug', 'a-symbol', now()), ('one', 'ethereum', '0x2', 'slug-2', null, now()),
         ('none', 'solana', 'm', null, null, now())`,
    );
    const at = new Date('2025-01-01T00:00:00Z');
    await main.query(
      `insert into main.shown (collection_id, asset, shown_at, looked_at) values ('both', '', $1, null), ('both', '7', $1, $1)`,
      [at],
    );
    await main.query(`insert into main.follow_turn values ('opensea-sales', 'both', $1, null)`, [at]);
    await migrate(main, 'main');
    const names = () => main.query(`select * from main.follow_name order by collection_id, vendor`);
    assert.deepEqual(await names(), [
      { collection_id: 'both', vendor: 'magic-eden', name: 'a-symbol' },
      { collection_id: 'both', vendor: 'opensea', name: 'a-slug' },
      { collection_id: 'one', vendor: 'opensea', name: 'slug-2' },
    ]);
    assert.deepEqual(await main.query(`select * from main.recent_view order by asset nulls first`), [
      { collection_id: 'both', asset: null, viewed_at: at, refreshed_at: null },
      { collection_id: 'both', asset: '7', viewed_at: at, refreshed_at: at },
    ]);
    const runs = () => main.query(`select * from main.follow_run`);
    assert.deepEqual(await runs(), [{ task: 'opensea-sales', collection_id: 'both', tried_at: at, done_at: null }]);
    await main.query(`delete from main.follow where collection_id = 'both'`);
    assert.deepEqual(await names(), [{ collection_id: 'one', vendor: 'opensea', name: 'slug-2' }]);
    assert.deepEqual(await runs(), []);
  });
});
