// A later version of the program migrates a database that this version has made. Tests what its start reports, which migrations wait for the
// operator, and that it brings a backup of this version up to date.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { lockTable } from '../../support/engines/postgres-locks.ts';
import { dumpSchema } from '../../support/engines/schema-dump.ts';
import { freePort } from '../../support/free-port.ts';
import { makeNextVersion } from '../../support/next-version.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import type { Settings } from './backup/backups.ts';
import { backUp, startMercat, withDatabases } from './backup/backups.ts';

const LIMIT_MS = 60_000;
const EXPANDING = ['0002-note.sql', '0003-label.sql'];
const CONTRACT = '0004-fewer.sql';

forEachEngine('the next version on a database of this version', (engine) => {
  const next = path.join(
    makeNextVersion({
      main: {
        '0002-note.sql': `-- A note; an example.\nalter table main.book_asset add column note text;\nupdate main.shop set name = name || ' 2';`,
        '0003-label.sql': `create table main.label (id int primary key, text text not null default 'it''s; a label');`,
        [CONTRACT]: `-- Contract: versions before 99.0.0 cannot use this schema.\nalter table main.book_asset drop column price_until;`,
      },
    }),
    'src/main.ts',
  );
  const runNext = async (settings: Settings, ...args: string[]) => {
    const { code, stdout, stderr } = await startMercat(settings, args, next).ended;
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const startNext = async (settings: Settings) => {
    const port = await freePort();
    const serving = { ...settings, PORT: `${port}`, LOG_LEVEL: 'info' };
    const { child, ended } = startMercat(serving, ['serve', '--no-sample', '--no-workers'], next);
    const reasonOf = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      if (response === null || response.status === 200) return response && 'ready';
      return ((await response.json()) as any).error.message;
    };
    const close = async () => {
      child.kill();
      return ended;
    };
    return { port, reasonOf, close };
  };
  const dump = (settings: Settings) => withDatabases(settings, ({ main }) => dumpSchema(main, 'main'));

  test('its start logs each migration with its time, and leaves the contract to the operator; the result is the same schema as that of a new database', async () => {
    const settings = await engine.settings('migrated');
    const service = await startNext(settings);
    await until(async () => (await service.reasonOf()) === 'ready', LIMIT_MS, 'the service is not ready');
    const { stdout, stderr } = await service.close();
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('{'));
    const applied = lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'a migration is applied');
    assert.deepEqual(
      applied.map(({ schema, migration, number, count }) => [schema, migration, number, count]),
      EXPANDING.map((name, index) => ['main', name, index + 1, EXPANDING.length]),
    );
    for (const { ms } of applied) assert.ok(ms >= 0);
    assert.deepEqual((await runNext(settings, 'migrate', '--json', '--contract')).main, [CONTRACT]);
    const fresh = await engine.settings('empty');
    assert.deepEqual((await runNext(fresh, 'migrate', '--json')).main, ['0001-schema.sql', ...EXPANDING, CONTRACT]);
    assert.equal(await dump(settings), await dump(fresh));
  });

  test('it restores a backup of this version and applies the migrations that the backup lacks', async () => {
    const settings = await engine.settings('migrated');
    const file = path.join(temporaryDirectory(), 'backup');
    await withDatabases(settings, async (databases) => {
      await databases.main.query(`insert into main.shop (id, name, created_at) values ('shop_1', 'Shop', now())`);
      await backUp(databases, file);
    });
    const target = await engine.settings('migrated');
    await runNext(target, 'restore', file, '--json');
    await withDatabases(target, async ({ main }) => {
      assert.deepEqual(await main.query(`select name from main.shop`), [{ name: 'Shop 2' }]);
      const migrations = await main.query<{ name: string }>(`select name from main.migration order by name`);
      assert.deepEqual(
        migrations.map(({ name }) => name),
        ['0001-schema.sql', ...EXPANDING],
      );
    });
  });

  if (engine.name === 'embedded') return;
  test('while a migration runs, the process is alive, and says at /readyz which migration it applies', async (t) => {
    const settings = await engine.settings('migrated');
    const release = await lockTable(t, settings['DATABASE_URL'], 'main.book_asset');
    const service = await startNext(settings);
    try {
      const reason = `The service is starting: migration 1 of ${EXPANDING.length} of the schema main`;
      await until(async () => (await service.reasonOf()) === reason, LIMIT_MS, 'the reason is missing');
      assert.equal((await fetch(`http://127.0.0.1:${service.port}/livez`)).status, 200);
      await release();
      await until(async () => (await service.reasonOf()) === 'ready', LIMIT_MS, 'the service is not ready');
    } finally {
      await service.close();
    }
  });
});
