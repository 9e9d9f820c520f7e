// Tests that a restored backup has every row of every table exactly as it was, whichever engines the source and the target use. A backup of
// one database can be restored into two databases, and a backup of two into one.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Database } from '../../../../src/platform/database/port.ts';
import { createDatabase } from '../../../../src/platform/database/port.ts';
import { isEmpty } from '../../../../src/platform/database/emptiness.ts';
import { listAppliedMigrations } from '../../../../src/platform/database/backup/catalogue.ts';
import { migrate } from '../../../../src/platform/database/migrate.ts';
import { openEmbedded } from '../../../../src/platform/database/embedded/embedded.ts';
import { assertSame, backUp, insertHardRows, insertSales, readEverything, restore } from './backups.ts';
import type { PostgresServer } from '../../../support/engines/postgres-server.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../../support/engines/postgres-server.ts';
import { copyDatabase } from '../../../support/engines/embedded-template.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

type Engine = 'embedded' | 'postgresql';
type Pair = { main: Database; indexer: Database };

const ENGINES: readonly Engine[] = canRunPostgres() ? ['embedded', 'postgresql'] : ['embedded'];

describe('a round trip', () => {
  const dir = temporaryDirectory();
  const opened: Database[] = [];
  let server: PostgresServer | null = null;
  let made = 0;

  before(async () => {
    if (canRunPostgres()) server = await startPostgres();
  });
  after(async () => {
    for (const database of opened) await database.close();
    await server?.discard();
  });

  /** A database without any migration applied. */
  const open = async (engine: Engine): Promise<Database> => {
    made += 1;
    const database =
      engine === 'embedded' ? await openEmbeddedAt(path.join(dir, `${made}`, 'db')) : await openOnServer();
    opened.push(database);
    return database;
  };
  const openOnServer = async () => {
    const pool = new pg.Pool({ connectionString: await createTestDatabase(server?.url ?? ''), max: 4 });
    pool.on('error', () => undefined);
    return createDatabase(pool, { engine: 'postgresql', name: 'main' });
  };
  const openOne = async (engine: Engine): Promise<Pair> => {
    const main = await open(engine);
    return { main, indexer: main };
  };
  const migrated = async (pair: Pair): Promise<Pair> => {
    await migrate(pair.main, 'main');
    await migrate(pair.indexer, 'indexer');
    return pair;
  };
  const newFile = () => path.join(dir, `backup-${(made += 1)}`);

  for (const engine of ENGINES) {
    test(`a backup from ${engine} restores every value exactly on every engine`, async () => {
      const source = await migrated(await openOne(engine));
      await insertHardRows(source);
      await insertSales(source.indexer, 600);
      const before = await readEverything(source);
      const file = newFile();
      const result = await backUp(source, file);
      assertSame(await readEverything(source), before, 'the backup changed the database that it reads');
      for (const [name, rows] of Object.entries(before).filter(([name]) => !name.endsWith('sequences'))) {
        assert.equal(result.tables[name], (rows as string[]).length, name);
      }
      for (const to of ENGINES) {
        const target = await openOne(to);
        await restore(target, file);
        assertSame(await readEverything(target), before, `from ${engine} to ${to}`);
        const [next] = await target.main.query(`insert into main.adjustment
          (shop_id, product_id, previous, next, requested, mode, reason, source, created_at)
          values ('shop_1', 'p', 0, 1, 1, 'set', 'r', 'import', now()) returning id`);
        assert.equal(next?.['id'], '11');
        assert.equal(await isEmpty(target.main), false);
      }
      if (!server) return;
      const two: Pair = { main: await open(engine), indexer: await open('postgresql') };
      await restore(two, file);
      assertSame(await readEverything(two), before, 'from one database to two');
      const [beside] = await two.main.query(`select to_regnamespace('indexer') as found`);
      assert.equal(beside?.['found'], null);
      const again = newFile();
      await backUp(two, again);
      const one = await openOne(engine);
      await restore(one, again);
      assertSame(await readEverything(one), before, 'from two databases to one');
    });
  }

  test('a task or a delivery that was leased during the backup has no lease after the restore', async () => {
    const source = await migrated(await openOne('embedded'));
    await insertHardRows(source);
    await source.main.query(
      `update main.sync_task set holder = 'gone', leased_until = now() + interval '1 day', progress = '{}' where name = 'one'`,
    );
    await source.main.query(`update main.delivery set leased_until = now() + interval '1 day'`);
    const file = newFile();
    await backUp(source, file);
    const target = await openOne('embedded');
    await restore(target, file);
    const tasks = await target.main.query(
      `select holder, leased_until, progress from main.sync_task where name = 'one'`,
    );
    assert.deepEqual(tasks, [{ holder: null, leased_until: null, progress: null }]);
    assert.deepEqual(await target.main.query(`select 1 from main.delivery where leased_until is not null`), []);
  });

  test('a restore is refused if a table of the backup has other columns than the migrations create', async () => {
    const source = await migrated(await openOne('embedded'));
    await source.main.query(`alter table main.shop add column added_by_hand text`);
    const file = newFile();
    await backUp(source, file);
    const target = await migrated(await openOne('embedded'));
    await insertHardRows(target);
    const before = await readEverything(target);
    await assert.rejects(
      restore(target, file, { replace: true }),
      /main\.shop of the backup does not have the columns that the backup's migrations create/,
    );
    assertSame(await readEverything(target), before, 'a refused restore');
  });

  test('a restore is refused if a view in the target depends on a table that would be replaced', async () => {
    const target = await migrated(await openOne(ENGINES.at(-1) ?? 'embedded'));
    await insertHardRows(target);
    const file = newFile();
    await backUp(target, file);
    await target.main.query(`create view public.shops as select * from main.shop`);
    const before = await readEverything(target);
    await assert.rejects(restore(target, file, { replace: true }), /the database is as it was: .*depend/);
    assertSame(await readEverything(target), before, 'a refused restore');
    assert.equal((await target.main.query(`select * from public.shops`)).length, 10);
  });

  test(
    'a restore that fails after the commit in the indexer reports that only the indexer holds the backup',
    { skip: ENGINES.length === 1 },
    async () => {
      const source = await migrated(await openOne('embedded'));
      await insertHardRows(source);
      const file = newFile();
      await backUp(source, file);
      const pair: Pair = { main: await open('postgresql'), indexer: await open('postgresql') };
      const main: Database = {
        ...pair.main,
        transaction: (work) =>
          pair.main.transaction(async (tx) => {
            const result = await work(tx);
            await tx.query(`select 1 / 0`);
            return result;
          }),
      };
      await assert.rejects(
        restore({ ...pair, main }, file),
        /the indexer database holds the backup now and the primary does not: restore again with --replace: division by zero/,
      );
      assert.equal(await listAppliedMigrations(pair.main, 'main'), null);
      await assert.rejects(restore(pair, file), /not empty .*indexer\./);
      const stopping = new AbortController();
      const stopped: Database = {
        ...main,
        transaction: (work) => main.transaction((tx) => work(tx).finally(() => stopping.abort())),
      };
      await assert.rejects(
        restore({ ...pair, main: stopped }, file, { replace: true, signal: stopping.signal }),
        /^OperatorError: stopped: the indexer database holds the backup now and the primary does not: restore again with --replace$/,
      );
      await restore(pair, file, { replace: true });
      assertSame(await readEverything(pair), await readEverything(source), 'restored again');
    },
  );
});

async function openEmbeddedAt(dir: string): Promise<Database> {
  await copyDatabase(dir, 'empty');
  const { pool, close } = await openEmbedded({ dir });
  return createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
}
