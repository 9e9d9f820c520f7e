// Tests what a start reports while it migrates a database that is in use: each migration with its time on the log, and the reason at `/readyz`.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/core/log.ts';
import { migrate, migrateWithin } from '../../src/database/migrate.ts';
import { openDatabases } from '../../src/database/open.ts';
import { dumpSchema } from '../../src/database/schema-dump.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { lockTable } from '../support/engines/postgres-locks.ts';
import { freePort } from '../support/free-port.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';

const FOLDER = new URL('../../src/database/migrations/main/', import.meta.url);
const NAMES = readdirSync(FOLDER).sort();
/** The first migration that an earlier version has not applied. It alters the table `main.book_asset`. */
const FIRST_PENDING = '0026-own-prices.sql';
const EXPANDING = NAMES.slice(NAMES.indexOf(FIRST_PENDING)).filter(
  (name) => !readFileSync(new URL(name, FOLDER), 'utf8').startsWith('-- Contract:'),
);
const LIMIT_MS = 60_000;

forEachEngine('the start on a database of an earlier version', (engine) => {
  const createEarlier = async () => {
    const settings = await engine.settings('empty');
    const databases = await openDatabases(readConfig(settings), createLog('silent'));
    const only = new Set(NAMES.slice(0, NAMES.indexOf(FIRST_PENDING)));
    await databases.main.transaction((tx) => migrateWithin(tx, 'main', { only }));
    await databases.close();
    return settings;
  };

  test('the log names each migration with its time, and the result is the same schema as that of a new database', async () => {
    const settings = await createEarlier();
    const service = await startTestService({ settings });
    await service.close();
    const lines = service.logged.map((line) => JSON.parse(line));
    const applied = lines.filter(({ message }) => message === 'a migration is applied');
    assert.deepEqual(
      applied.filter(({ schema }) => schema === 'main').map(({ migration }) => migration),
      EXPANDING,
    );
    for (const { ms, count } of applied) assert.ok(ms >= 0 && count >= applied.at(0).count);
    const dumps = await Promise.all(
      [settings, await engine.settings('empty')].map(async (one) => {
        const { main, close } = await openDatabases(readConfig(one), createLog('silent'));
        await migrate(main, 'main', { contracts: true });
        const dump = await dumpSchema(main, 'main');
        await close();
        return dump;
      }),
    );
    assert.equal(dumps[0], dumps[1]);
  });

  if (engine.name === 'embedded') return;
  test('while a migration runs, the process is alive, and says at /readyz which migration it applies', async (t) => {
    const settings = await createEarlier();
    const release = await lockTable(t, settings['DATABASE_URL'], 'main.book_asset');
    const port = await freePort();
    const starting = startTestService({ settings: { ...settings, PORT: String(port) } });
    const url = `http://127.0.0.1:${port}`;
    const reasonOf = async () => {
      const response = await fetch(`${url}/readyz`).catch(() => null);
      return response?.status === 503 ? ((await response.json()) as any).error.message : null;
    };
    const reason = `The service is starting: migration 1 of ${EXPANDING.length} of the schema main`;
    await until(async () => (await reasonOf()) === reason, LIMIT_MS, 'the reason is missing');
    assert.equal((await fetch(`${url}/livez`)).status, 200);
    await release();
    const service = await starting;
    try {
      assert.equal((await fetch(`${url}/readyz`)).status, 200);
    } finally {
      await service.close();
    }
  });
});
