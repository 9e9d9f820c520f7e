// A backup or restore that is refused, fails, is stopped or is killed does not change the target database. It leaves no files in
// the directory of the backup file.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BackupJobs } from '../../../../src/platform/database/backup/jobs.ts';
import { writeBackup } from '../../../../src/platform/database/backup/write.ts';
import type { Databases } from '../../../../src/platform/database/open.ts';
import type { Settings } from './backups.ts';
import {
  assertSame,
  backUp,
  directoryOf,
  insertHardRows,
  insertSales,
  mercat,
  readEverything,
  restore,
  startMercat,
  withDatabases,
  withMigrated,
} from './backups.ts';
import { mountMemory } from '../../../support/engines/file-systems.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { programEnvironment } from '../../../support/program-environment.ts';
import { forEachEngine } from '../../../support/engines/each-engine.ts';
import { until } from '../../../support/until.ts';

const MAIN = fileURLToPath(new URL('../../../../src/main.ts', import.meta.url));
/** Enough rows that a test can interrupt a restore before it ends, and that a pipe nobody reads does not take all of their backup. */
const SALES = 6_000;
const WAIT_MS = 60_000;

forEachEngine('interrupted backups', (engine) => {
  const dir = temporaryDirectory();
  const smallBackup = path.join(dir, 'small');
  const largeBackup = path.join(dir, 'large');
  let source: Settings;
  let target: Settings;
  let held: Record<string, unknown>;
  before(async () => {
    source = await engine.settings();
    target = await engine.settings();
    await withMigrated(source, async (databases) => {
      await insertHardRows(databases);
      await backUp(databases, smallBackup);
      await insertSales(databases.indexer, SALES);
      await backUp(databases, largeBackup);
    });
    await withMigrated(target, async (databases) => {
      await databases.main.query(`insert into main.shop values ('shop_held', 'Held', now())`);
      held = await readEverything(databases);
    });
  });

  const assertHeld = async (what: string) =>
    assertSame(await withDatabases(target, readEverything), held, `the target, ${what}`);
  let files = 0;
  const newFile = () => path.join(dir, `file-${(files += 1)}`);

  test('a restore that is refused changes nothing, even with --replace', async () => {
    const file = newFile();
    const bytes = readFileSync(largeBackup);
    writeFileSync(file, bytes.subarray(0, Math.floor(bytes.length * 0.9)));
    assert.deepEqual(await mercat(target, 'restore', file, '--replace'), {
      code: 1,
      stdout: '',
      stderr: `mercat: ${file} was cut off or altered after it was written: nothing of it was restored\n`,
    });
    await withDatabases(target, async (databases) => {
      await assert.rejects(restore(databases, smallBackup), {
        name: 'OperatorError',
        message:
          /^the database is not empty \(there are records in main\.shop\): --replace replaces all its content with the backup$/,
      });
      assertSame(await readEverything(databases), held, 'after refusals');
    });
  });

  test('a restore whose file changes after the check is rolled back', async () => {
    const bytes = readFileSync(largeBackup);
    const file = newFile();
    writeFileSync(file, bytes);
    await withDatabases(target, async (databases) => {
      const main = {
        ...databases.main,
        transaction: (work: Parameters<Databases['main']['transaction']>[0]) => {
          bytes[bytes.length - 200] = (bytes[bytes.length - 200] ?? 0) ^ 1;
          writeFileSync(file, bytes);
          return databases.main.transaction(work);
        },
      } as Databases['main'];
      // The restore fails at the checksum, or earlier at a value that the altered byte has made invalid.
      await assert.rejects(restore({ main, indexer: main }, file, { replace: true }), {
        name: 'OperatorError',
        message: /cut off or altered|the database is as it was/,
      });
    });
    await assertHeld('after a file that changed');
  });

  test('a restore that is killed in the middle leaves the target unchanged', async () => {
    const { child, ended } = startMercat(target, ['restore', largeBackup, '--replace']);
    await withWatch(target, engine.name, async (isLoading) => {
      await until(
        async () => child.exitCode !== null || (await isLoading()),
        WAIT_MS,
        'the restore did not begin to write rows',
      );
    });
    child.kill('SIGKILL');
    assert.equal((await ended).code, null, 'the restore ended before it was killed');
    await assertHeld('after a restore that was killed');
    const { code, stdout, stderr } = await mercat(target, 'restore', largeBackup, '--replace', '--json');
    assert.deepEqual([code, stderr.replaceAll(/^.*%, .*\n/gm, '')], [0, '']);
    const { file, bytes, tables } = JSON.parse(stdout);
    assert.deepEqual([file, bytes, tables['indexer.sale']], [largeBackup, statSync(largeBackup).size, SALES]);
    held = await withDatabases(target, readEverything);
    assertSame(held, await withDatabases(source, readEverything), 'restored');
  });

  test('a restore that is stopped leaves the target unchanged', async () => {
    await withDatabases(target, async (databases) => {
      const stopping = new AbortController();
      setImmediate(() => stopping.abort());
      await assert.rejects(
        restore(databases, largeBackup, { replace: true, signal: stopping.signal }),
        /^OperatorError: stopped/,
      );
    });
    await assertHeld('after a restore that was stopped');
  });

  describe('a backup', () => {
    const place = path.join(dir, 'place');
    before(() => mkdirSync(place));
    const left = () => readdirSync(place);

    test('a backup replaces an existing file only with --force, and only the owner of the file can read it', async () => {
      const file = path.join(place, 'backup');
      writeFileSync(file, 'precious');
      chmodSync(file, 0o644);
      await withDatabases(source, async (databases) => {
        await assert.rejects(backUp(databases, file), {
          message: `${file} exists: choose another name, or replace it with --force`,
        });
        await assert.rejects(backUp(databases, place, { force: true }), /is not a file/);
      });
      assert.equal(readFileSync(file, 'utf8'), 'precious');
      const { code, stdout } = await mercat(source, 'backup', file, '--force', '--json');
      assert.equal(code, 0);
      const { bytes, rows, tables, newerMigrations, notRecorded, ...rest } = JSON.parse(stdout);
      assert.deepEqual(Object.keys(rest), ['file', 'createdAt', 'seconds']);
      assert.equal(notRecorded, null);
      assert.deepEqual(newerMigrations, []);
      assert.equal(bytes, statSync(file).size);
      assert.equal(
        rows,
        Object.values<number>(tables).reduce((sum, count) => sum + count),
      );
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.deepEqual(left(), ['backup']);
    });

    test('a backup that is stopped, or whose progress no client reads any more, leaves no file in its directory', async () => {
      await withDatabases(source, async (databases) => {
        const stopping = new AbortController();
        const target = { file: path.join(place, 'stopped'), force: false };
        const seen: string[][] = [];
        const onProgress = ({ rows }: { rows: number }) => {
          if (rows < 1_000) return;
          seen.push(left());
          stopping.abort();
        };
        await assert.rejects(writeBackup(databases, target, { service: 'test', signal: stopping.signal, onProgress }));
        assert.match(seen[0]?.join() ?? '', /stopped\.part-/);
        assert.deepEqual(left(), ['backup']);
        const jobs = new BackupJobs({ databases, service: 'test', unreadMsMax: -1 });
        await jobs.operations['backup.start']?.(target);
        let state: any;
        while (!state?.failure && !state?.result) state = await jobs.operations['backup.read']?.({});
        assert.deepEqual([state.result, state.failure], [null, 'stopped: no backup was written']);
        assert.deepEqual(left(), ['backup']);
      });
    });

    test('a backup to standard output leaves nothing when it is killed while it is sent, and removes what was left half a day ago', async () => {
      const dataDir = source['DATA_DIR'] ?? '';
      for (const [name, ageHours] of [
        ['.mercat-backup-to-stdout-a1B2c3', 13],
        ['.mercat-backup-to-stdout-d4E5f6', 11],
        // A folder of the operator.
        ['backup-202601', 13],
      ] as const) {
        const at = Date.now() / 1_000 - ageHours * 3_600;
        const draft = path.join(dataDir, name, 'mercat-backup.part-7-0a1b2c3d');
        mkdirSync(path.dirname(draft));
        writeFileSync(draft, '');
        for (const entry of [draft, path.dirname(draft)]) utimesSync(entry, at, at);
      }
      const env = { ...programEnvironment(), LOG_LEVEL: 'error', ...source };
      const child = spawn(process.execPath, [MAIN, 'backup', '-'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
      const exit = once(child, 'exit');
      await once(child.stdout, 'readable');
      const seen = readdirSync(dataDir).filter((name) => name.includes('backup-'));
      child.kill('SIGKILL');
      const [, signal] = await exit;
      assert.deepEqual([seen.toSorted(), signal], [['.mercat-backup-to-stdout-d4E5f6', 'backup-202601'], 'SIGKILL']);
    });

    test('a backup that cannot be written fails with the reason, and leaves no file in its directory', async (t) => {
      await withDatabases(source, async (databases) => {
        await assert.rejects(backUp(databases, path.join(place, 'no', 'backup')), /cannot be written: .*no such file/);
        const at = path.join(dir, `disk-${engine.name}`);
        const disk = mountMemory('128k', at);
        if ('reason' in disk) return t.skip(disk.reason);
        t.after(disk.unmount);
        const file = path.join(at, 'backup');
        await assert.rejects(backUp(databases, file), { message: `${file} cannot be written: the disk is full` });
        assert.deepEqual(readdirSync(at), []);
      });
    });
  });
});

/** Gives `work` a function that reports whether a restore into the database has begun to write rows. */
async function withWatch(
  settings: Settings,
  engine: 'embedded' | 'postgresql',
  work: (isLoading: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  if (engine === 'embedded') {
    const size = () => directorySize(path.join(directoryOf(settings), 'base'));
    const atFirst = size();
    return work(() => Promise.resolve(size() > atFirst + 1024 * 1024));
  }
  // The backup has most of its rows in the indexer, which is a database of its own on the Citus engine.
  return withDatabases(settings, ({ indexer }) =>
    work(async () => {
      const rows = await indexer.query(
        `select 1 from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()
           and query like 'insert into %jsonb_array_elements%'`,
      );
      return rows.length > 0;
    }),
  );
}

function directorySize(dir: string): number {
  let size = 0;
  for (const entry of readdirSync(dir, { withFileTypes: true, recursive: true })) {
    const found = entry.isFile()
      ? statSync(path.join(entry.parentPath, entry.name), { throwIfNoEntry: false })
      : undefined;
    size += found?.size ?? 0;
  }
  return size;
}
