// Tests that commands that only read apply no migrations without a running server. `mercat status` and `mercat doctor` read what there is, also
// in a database that accepts no writes, and say which migrations are missing. All others end with an error that says so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/service/config.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { migrate, SCHEMAS } from '../../src/platform/database/migrate.ts';
import type { Databases } from '../../src/platform/database/open.ts';
import { openDatabases } from '../../src/platform/database/open.ts';
import { defineAudit } from '../../src/cli/audit.ts';
import { defineCollections } from '../../src/cli/collections.ts';
import type { DefineCommand } from '../../src/cli/command.ts';
import { defineDoctor } from '../../src/cli/doctor/doctor.ts';
import { defineExport } from '../../src/cli/export/export.ts';
import { defineHistory } from '../../src/cli/history.ts';
import { defineImports } from '../../src/cli/imports.ts';
import { defineKeys } from '../../src/cli/keys.ts';
import { defineMigrate } from '../../src/cli/migrate.ts';
import { defineSecrets } from '../../src/cli/secrets.ts';
import { defineShops } from '../../src/cli/shops.ts';
import { defineStatus } from '../../src/cli/status.ts';
import { defineWebhooks } from '../../src/cli/webhooks.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { startTestService } from '../support/service/service.ts';
import { runCommand } from './run-command.ts';

type Settings = Record<string, string>;

async function withDatabases<T>(settings: Settings, work: (databases: Databases) => Promise<T>): Promise<T> {
  const databases = await openDatabases(readConfig(settings), createLog('silent'));
  try {
    return await work(databases);
  } finally {
    await databases.close();
  }
}

/** The names of the applied migrations of each schema, or null for a schema that does not exist. */
const readApplied = (settings: Settings) =>
  withDatabases(settings, async (databases) => {
    const applied: Record<string, number | null> = {};
    for (const schema of SCHEMAS) {
      const [found] = await databases[schema].query(`select to_regclass($1) is not null as found`, [
        `${schema}.migration`,
      ]);
      const rows =
        found?.['found'] === true ? await databases[schema].query(`select name from ${schema}.migration`) : null;
      applied[schema] = rows?.length ?? null;
    }
    return applied;
  });

/** Sets a PostgreSQL database so that it accepts no writes. */
const refuseWrites = (settings: Settings) =>
  withDatabases(settings, async (databases) => {
    for (const schema of SCHEMAS)
      await databases[schema].query(
        `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`,
      );
  });

const runMigrate = (env: Settings) => runCommand(defineMigrate, ['migrate'], { env });
const runStatus = (env: Settings, ...args: string[]) => runCommand(defineStatus, ['status', ...args], { env });
const runDoctor = (env: Settings) => runCommand(defineDoctor, ['doctor'], { env });

/** The commands that read the database and need all its migrations. */
const READERS: readonly (readonly [DefineCommand, ...string[]])[] = [
  [defineKeys, 'keys', 'list'],
  [defineKeys, 'keys', 'usage'],
  [defineShops, 'shops', 'list'],
  [defineWebhooks, 'webhooks', 'status'],
  [defineWebhooks, 'webhooks', 'list'],
  [defineCollections, 'collections', 'list'],
  [defineCollections, 'collections', 'add', 'ethereum', '0x5Af0D9827E0c53E4799BB226655A1de152A425a5', '--dry-run'],
  [defineImports, 'imports', 'list'],
  [defineImports, 'imports', 'undo', 'imp_1', '--dry-run'],
  [defineSecrets, 'secrets', 'list'],
  [defineHistory, 'history'],
  [defineExport, 'export', 'products', '--shop', 'Mugs'],
  [defineAudit, 'audit', '--replay'],
  [defineAudit, 'audit', '--fillable'],
];

forEachEngine('commands that only read', (engine) => {
  test('all other commands that only read apply no migrations either, and say what to do', async () => {
    const settings = await engine.settings('empty');
    const before = await readApplied(settings);
    for (const [define, ...args] of READERS) {
      const message = /^mercat: the schema main lacks migrations \(\d+\): run mercat migrate, or start the service\n$/;
      const { code, stderr } = await runCommand(define, args, { env: settings });
      assert.deepEqual([code, message.test(stderr)], [1, true], `${args.join(' ')}: ${stderr}`);
    }
    assert.deepEqual(await readApplied(settings), before);
  });

  test('status and doctor apply no migrations to a new database, and say which are missing', async () => {
    const settings = await engine.settings('empty');
    const before = await readApplied(settings);
    const status = await runStatus(settings);
    assert.deepEqual([status.code, status.stderr], [0, '']);
    assert.match(
      status.stdout,
      /^the schema main lacks migrations \(\d+\), .*: run mercat migrate, or start the service$/m,
    );
    assert.match(status.stdout, /^the schema indexer lacks migrations \(\d+\)/m);
    assert.match((await runDoctor(settings)).stdout, /^warn {2}primary database: schema: migrations to apply: \d+$/m);
    assert.deepEqual(await readApplied(settings), before);
  });

  test('status and doctor read what they can of a database of which one schema has no tables yet', async () => {
    const settings = await engine.settings('empty');
    await withDatabases(settings, async ({ main, indexer }) => {
      await migrate(main, 'main', { only: new Set() });
      await migrate(indexer, 'indexer');
    });
    const before = await readApplied(settings);
    const { code, stdout, stderr } = await runStatus(settings);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^main +\S+ +responds in \d+ ms$/m);
    assert.match(stdout, /^the schema main lacks migrations \(\d+\)/m);
    assert.doesNotMatch(stdout, /the schema indexer/);
    assert.match(stdout, /^cannot be read now: .*tasks/m);
    await runDoctor(settings);
    assert.deepEqual(await readApplied(settings), before);
  });

  test('status says that a newer version made the database', async () => {
    const settings = await engine.settings();
    await withDatabases(settings, ({ main }) =>
      main.query(`insert into main.migration (name, version_min) values ('9999-newer.sql', '99.0.0')`),
    );
    const { code, stdout } = await runStatus(settings);
    assert.equal(code, 0);
    assert.match(stdout, /^the schema main does not fit this program: the database was made by a newer version/m);
  });

  test(
    'status and doctor work on a database that accepts no writes',
    { skip: engine.name === 'embedded' && 'the embedded database has no such mode' },
    async () => {
      const settings = await engine.settings();
      await refuseWrites(settings);
      const status = await runStatus(settings, '--json');
      assert.deepEqual([status.code, status.stderr], [0, '']);
      const { unavailable, schemas } = JSON.parse(status.stdout);
      const upToDate = { pending: [], waiting: [], mistake: null };
      assert.deepEqual([unavailable, schemas], [[], { main: upToDate, indexer: upToDate }]);
      const doctor = await runDoctor(settings);
      assert.match(doctor.stdout, /^FAIL {2}primary database: writes: they fail: .*read-only transaction$/m);
      assert.match(doctor.stdout, /^ok {4}primary database: schema: up to date$/m);
    },
  );

  test(
    'on a database that accepts no writes, the service starts if no migration is missing, and otherwise says why it does not',
    { skip: engine.name === 'embedded' && 'the embedded database has no such mode' },
    async () => {
      const settings = await engine.settings();
      // The first start creates the secrets of the service.
      const first = await startTestService({ settings });
      await first.operate('shops.create', { name: 'Mugs' });
      const created = await first.operate('keys.create', { shop: 'Mugs', name: '', scopes: ['products:read'] });
      const headers = { authorization: `Bearer ${created.body.result.secret}` };
      await first.close();
      await refuseWrites(settings);
      assert.deepEqual(await runMigrate(settings), { code: 0, stdout: 'the database is up to date\n', stderr: '' });
      const service = await startTestService({ settings, logLevel: 'warn' });
      assert.equal((await fetch(`${service.url}/v1/collections`)).status, 200);
      assert.equal((await fetch(`${service.url}/api/v1/products`, { headers })).status, 200);
      // The uses of the key cannot be written. They are lost, and the service ends as usual.
      await service.close();
      assert.ok(service.logged.some((line) => line.includes('the uses of API keys could not be written')));
      const empty = await engine.settings('empty');
      await refuseWrites(empty);
      const { code, stderr } = await runMigrate(empty);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /^mercat: the database accepts no writes: cannot execute CREATE SCHEMA in a read-only transaction\n$/,
      );
    },
  );
});
