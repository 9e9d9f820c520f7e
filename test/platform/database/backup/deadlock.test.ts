// A restore beside a reader that holds one table and wants another: the database aborts the restore, which is then repeated.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { listTables, quotedTable } from '../../../../src/platform/database/backup/catalogue.ts';
import { forOneEngine } from '../../../support/engines/each-engine.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { until } from '../../../support/until.ts';
import { backUp, restore, withDatabases } from './backups.ts';

const WAIT_MS = 30_000;

forOneEngine('a restore beside a reader', (engine) => {
  const skip = engine.name === 'postgresql' && !engine.hasCitus ? false : 'the embedded database has one connection';

  test('succeeds after the database has aborted it because of a deadlock', { skip }, async () => {
    const settings = await engine.settings();
    const file = path.join(temporaryDirectory(), 'backup');
    await withDatabases(settings, async (databases) => {
      await backUp(databases, file);
      const tables = await listTables(databases.main, 'main');
      const [first, last] = [tables[0], tables.at(-1)].map((table) => quotedTable(table ?? assert.fail()));
      const reader = new pg.Client({ connectionString: settings['DATABASE_URL'] });
      await reader.connect();
      try {
        await reader.query(`begin; select from ${last}`);
        const restored = restore(databases, file, { replace: true });
        restored.catch(() => undefined);
        const isWaiting = async () =>
          (await databases.main.query('select from pg_locks where not granted and mode = $1', ['AccessExclusiveLock']))
            .length > 0;
        await until(isWaiting, WAIT_MS, 'the restore does not wait for the reader');
        // Both wait now. The database aborts the restore, because it has waited longer.
        await reader.query(`select from ${first}`);
        await reader.query('rollback');
        await restored;
      } finally {
        await reader.end();
      }
    });
  });
});
