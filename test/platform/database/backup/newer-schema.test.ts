// A newer version has migrated the database. The program of this version can still use the database and back it up, but only the newer
// version can restore the backup. `mercat backup` and `mercat restore` say so.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { applyMigration } from '../../../../src/platform/database/migrate.ts';
import { readVersion } from '../../../../src/platform/version.ts';
import { forEachEngine } from '../../../support/engines/each-engine.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { mercat, withDatabases } from './backups.ts';

forEachEngine('a backup of a database that a newer version has migrated', (engine) => {
  test('`mercat backup` and `mercat restore` say that only a newer version can restore the backup', async () => {
    const settings = await engine.settings('migrated');
    const file = path.join(temporaryDirectory(), 'backup');
    await withDatabases(settings, ({ main }) =>
      main.transaction((tx) =>
        applyMigration(tx, 'main', { name: '9001-later.sql', sql: 'create table main.later (id int)' }),
      ),
    );
    const made = await mercat(settings, 'backup', file, '--json');
    assert.equal(made.code, 0, made.stderr);
    assert.match(
      made.stderr,
      /^mercat: only a newer version can restore this backup: .* migrations 9001-later\.sql of/m,
    );
    assert.deepEqual(JSON.parse(made.stdout).newerMigrations, ['9001-later.sql']);
    const restored = await mercat(settings, 'restore', file, '--replace');
    assert.equal(restored.code, 1);
    const version = readVersion().replaceAll('.', String.raw`\.`);
    assert.match(
      restored.stderr,
      new RegExp(`only a newer version can restore the backup: version ${version} wrote it from .* 9001-later`),
    );
  });
});
