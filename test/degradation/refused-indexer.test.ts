// Tests what a server and a worker do that could not reach the indexer database when they started, if they later find that they must not
// use it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { applyMigration } from '../../src/platform/database/migrate.ts';
import { startMercat, withMigrated } from '../platform/database/backup/backups.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../support/engines/postgres-server.ts';
import { startTcpProxy } from '../support/engines/tcp-proxy.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Ends a test that hangs. */
const LIMIT_MS = 240_000;
const CONTRACT = '-- Contract: versions before 99.0.0 cannot use this schema.\nselect';

forEachEngine('an indexer database that must not be used', (engine) => {
  test(
    'a server or worker ends when it reaches an indexer database that only a newer version can use',
    { timeout: LIMIT_MS, skip: !canRunPostgres() && 'PostgreSQL is not on this machine' },
    async () => {
      const server = await startPostgres();
      const newer = await createTestDatabase(server.url);
      const prepared = { DATA_DIR: temporaryDirectory(), DATABASE_URL: newer, INDEXER_DATABASE_URL: newer };
      await withMigrated(prepared, ({ indexer }) =>
        indexer.transaction((tx) => applyMigration(tx, 'indexer', { name: '9999-newer.sql', sql: CONTRACT })),
      );
      const proxy = await startTcpProxy(newer);
      await proxy.refuse();
      // Several processes need Redis, and serve while it is down.
      const redis = { REDIS_URL: 'redis://127.0.0.1:1' };
      const commands =
        engine.name === 'embedded' ? ['serve --port 0'] : ['serve --port 0', 'serve --port 0 --workers 2', 'work'];
      const started = await Promise.all(
        commands.map(async (command) =>
          startMercat({ ...(await engine.settings()), ...redis, INDEXER_DATABASE_URL: proxy.url }, command.split(' ')),
        ),
      );
      try {
        await Promise.all(
          started.map(({ child }) => untilPrinted(child.stdout, /Mercat serves on|The workers are running/)),
        );
        await proxy.heal();
        for (const { ended } of started) {
          const { code, stderr } = await ended;
          assert.equal(code, 1, stderr);
          assert.match(
            stderr,
            /^mercat: the database was made by a newer version: schema indexer has migration 9999-newer/m,
          );
        }
      } finally {
        for (const { child } of started) child.kill('SIGKILL');
        await proxy.close();
        await server.discard();
      }
    },
  );
});

async function untilPrinted(output: Readable, pattern: RegExp): Promise<void> {
  let printed = '';
  while (!pattern.test(printed)) printed += String((await once(output, 'data'))[0]);
}
