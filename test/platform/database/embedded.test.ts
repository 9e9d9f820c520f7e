// Tests the embedded database: its directory, its lock, its pool over a single session, and the failure of its engine. Other files
// test crashes, power cuts and full disks (embedded-*.test.ts).

import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Pool } from 'pg';
import { createDatabase } from '../../../src/platform/database/port.ts';
import { DeadlineExceeded } from '../../../src/platform/resilience/deadline.ts';
import type { Embedded } from '../../../src/platform/database/embedded/embedded.ts';
import { EXIT_ENGINE_STOPPED, openEmbedded } from '../../../src/platform/database/embedded/embedded.ts';
import { NEW_CLUSTER, unpackCluster } from '../../../src/platform/database/embedded/cluster-archive.ts';
import { boundLog, vacuumNextTable } from '../../../src/platform/database/embedded/upkeep.ts';
import { until } from '../../support/until.ts';
import {
  assertAcknowledged,
  ended,
  kill,
  makeTemplate,
  startOpener,
  startWriter,
} from '../../support/engines/embedded.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const LIMIT_MS = 60_000;

describe('the embedded database', { timeout: 300_000 }, () => {
  const root = temporaryDirectory();
  let copies = 0;
  let copyTemplate: (name: string) => string;
  /** The database of the tests that neither change its directory nor break its engine. */
  let shared: Embedded;

  before(async () => {
    copyTemplate = await makeTemplate(root);
    shared = await openEmbedded({ dir: freshDir() });
  });
  after(async () => {
    await shared.close();
  });

  const freshDir = (): string => copyTemplate(`copy-${(copies += 1)}`);
  const emptyDir = (): string => path.join(root, `empty-${(copies += 1)}`, 'db');
  const open = async (t: TestContext, dir = freshDir(), onFatal?: (line: string) => void): Promise<Embedded> => {
    const embedded = await openEmbedded(onFatal === undefined ? { dir } : { dir, onFatal });
    t.after(embedded.close);
    return embedded;
  };
  const one = async (pool: Pool, sql: string): Promise<unknown> =>
    Object.values((await pool.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0];

  describe('the directory', () => {
    test('the first start creates the directory and its parents, with access for the owner only', () => {
      const dir = path.join(root, 'template', 'db');
      const mode = (file: string): number => statSync(file).mode & 0o777;
      for (const directory of [path.dirname(dir), dir, path.join(dir, 'base')]) assert.equal(mode(directory), 0o700);
      for (const file of [`${dir}.lock`, path.join(dir, 'PG_VERSION')]) assert.equal(mode(file), 0o600);
      assert.deepEqual(readdirSync(path.dirname(dir)).sort(), ['db', 'db.lock']);
    });

    test('a database keeps its rows when it is closed and opened again', async (t) => {
      const dir = freshDir();
      const first = await openEmbedded({ dir });
      await first.pool.query('create table t (i int8, n numeric)');
      await first.pool.query('insert into t values ($1, $2)', ['9007199254740993', '0.1']);
      await first.close();
      const { pool } = await open(t, dir);
      assert.deepEqual((await pool.query('select * from t')).rows, [{ i: '9007199254740993', n: '0.1' }]);
    });

    test('when a first start was killed before it ended, the next start creates the directory', async (t) => {
      const dir = emptyDir();
      const draft = `${dir}.init-4242`;
      mkdirSync(draft, { recursive: true });
      unpackCluster(readFileSync(NEW_CLUSTER), draft);
      rmSync(path.join(draft, 'global'), { recursive: true });
      const { pool } = await open(t, dir);
      assert.equal(await one(pool, 'select 1'), 1);
      assert.ok(!hasDraft(dir));
    });

    test('the directory is not created from a packed cluster with a changed byte', () => {
      const packed = readFileSync(NEW_CLUSTER);
      for (let part = 1; part < 20; part += 1) {
        const damaged = Buffer.from(packed);
        const at = Math.floor((packed.length * part) / 20);
        damaged.writeUInt8(packed.readUInt8(at) ^ 1, at);
        const dir = emptyDir();
        mkdirSync(dir, { recursive: true });
        assert.throws(() => unpackCluster(damaged, dir), /is damaged: install Mercat again/, `byte ${at}`);
        assert.deepEqual(readdirSync(dir), []);
      }
    });

    const refused: { what: string; make: (dir: string) => void; message: RegExp }[] = [
      {
        what: 'a directory that contains other files',
        make: (dir) => {
          mkdirSync(dir, { recursive: true });
          writeFileSync(path.join(dir, 'holiday.jpg'), 'x');
        },
        message: /is neither empty nor a database and was left as it is/,
      },
      {
        what: 'a directory that lacks the control file of a database',
        make: (dir) => {
          cpSync(freshDir(), dir, { recursive: true });
          rmSync(path.join(dir, 'global', 'pg_control'));
        },
        message: /is neither empty nor a database and was left as it is/,
      },
      {
        what: 'a directory of another PostgreSQL version',
        make: (dir) => {
          cpSync(freshDir(), dir, { recursive: true });
          writeFileSync(path.join(dir, 'PG_VERSION'), '17\n');
        },
        message: /was made by PostgreSQL 17 and this program runs PostgreSQL 18/,
      },
      {
        what: 'a file in place of the directory',
        make: (dir) => {
          mkdirSync(path.dirname(dir), { recursive: true });
          writeFileSync(dir, 'x');
        },
        message: /is a file/,
      },
    ];
    for (const { what, make, message } of refused) {
      test(`${what} is refused and left as it is`, async () => {
        const dir = emptyDir();
        make(dir);
        const contents = (): string[] =>
          statSync(dir).isDirectory() ? readdirSync(dir).sort() : [readFileSync(dir, 'utf8')];
        const found = contents();
        await assert.rejects(openEmbedded({ dir }), { name: 'OperatorError', message });
        assert.deepEqual(contents(), found);
        assert.deepEqual(readdirSync(path.dirname(dir)).sort(), ['db', 'db.lock']);
      });
    }
  });

  describe('the lock', () => {
    test('a second process cannot open the database until the first process releases the lock', async (t) => {
      const dir = freshDir();
      const { close } = await openEmbedded({ dir });
      const second = startOpener(dir);
      t.after(() => second.child.kill());
      assert.equal(await ended(second), 1);
      assert.equal(
        second.stderr(),
        `the data directory ${path.dirname(dir)} is in use by another process (pid ${process.pid}): ` +
          'stop that process first, or use a command that works beside a running server\n',
      );
      await close();
      const third = startOpener(dir);
      t.after(() => third.child.kill());
      await until(() => third.stdout() === 'open\n', LIMIT_MS, `the next process did not open: ${third.stderr()}`);
      third.child.stdin?.end();
      assert.equal(await ended(third), 0);
    });

    test('the lock is held while the database is created', async (t) => {
      const dir = emptyDir();
      const opener = startOpener(dir);
      t.after(() => opener.child.kill('SIGKILL'));
      // The process id is written after the lock is taken, and before the database is created.
      const readPid = () => (existsSync(`${dir}.pid`) ? readFileSync(`${dir}.pid`, 'utf8') : '');
      await until(() => readPid() === `${opener.child.pid}\n`, LIMIT_MS, 'the first start did not take the lock');
      await assert.rejects(openEmbedded({ dir }), {
        message: new RegExp(`another process \\(pid ${opener.child.pid}\\)`),
      });
      await until(() => opener.stdout() === 'open\n', LIMIT_MS, `the first start failed: ${opener.stderr()}`);
      opener.child.stdin?.end();
      assert.equal(await ended(opener), 0);
    });

    test('a second open in the same process is refused', async (t) => {
      const dir = freshDir();
      await open(t, dir);
      await assert.rejects(openEmbedded({ dir }), { name: 'OperatorError', message: /already open in this process/ });
      const other = startOpener(dir);
      t.after(() => other.child.kill());
      assert.equal(await ended(other), 1, 'the refused open released the lock of the process');
    });

    test('the lock of a killed process is released even if the process left files behind', async (t) => {
      const dir = freshDir();
      const opener = startOpener(dir);
      await until(() => opener.stdout() === 'open\n', LIMIT_MS, `not opened: ${opener.stderr()}`);
      await kill(opener);
      assert.ok(existsSync(`${dir}.pid`));
      const { pool } = await open(t, dir);
      assert.equal(await one(pool, 'select 1'), 1);
    });
  });

  describe('the end', () => {
    test('a database may be closed more than once', async () => {
      const dir = freshDir();
      const { pool, close } = await openEmbedded({ dir });
      const database = createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
      await database.query('create table t (i int)');
      await database.close();
      await Promise.all([close(), close()]);
      assert.deepEqual(readdirSync(path.dirname(dir)).sort(), ['db', 'db.lock']);
    });
  });

  describe('a connection that was dropped', () => {
    test('a connection dropped in a transaction leaves nothing of its session behind', async () => {
      const { pool } = shared;
      await pool.query('create table dropped (i int)');
      const client = await pool.connect();
      await client.query('begin');
      await client.query('insert into dropped values (1)');
      await client.query(`set search_path = 'pg_catalog'`);
      await client.query('create temporary table leftover (i int)');
      await client.query('prepare leftover as select 1');
      client.release(new Error('dropped'));
      assert.equal(await one(pool, 'select count(*)::int from dropped'), 0);
      assert.equal(await one(pool, 'show search_path'), 'public');
      assert.equal(await one(pool, 'select count(*)::int from pg_prepared_statements'), 0);
      assert.equal(await one(pool, `select to_regclass('pg_temp.leftover')`), null);
    });

    test('a connection dropped during a statement passes nothing of the statement to the next connection', async () => {
      const { pool } = shared;
      await pool.query('create table abandoned (i int)');
      const client = await pool.connect();
      await client.query('begin');
      await client.query('select pg_sleep(0.05)');
      // This statement is so large that the connection yields to the event loop between its protocol messages.
      const long = `insert into abandoned values ($1) returning 'old' as v -- ${'x'.repeat(20_000_000)}`;
      client.query(long, [1]).catch(() => undefined);
      client.release(new Error('dropped'));
      const insert = `insert into abandoned values ($1) returning 'new' as v`;
      const results = await Promise.all([2, 3, 4].map((i) => pool.query(insert, [i])));
      for (const { rows } of results) assert.deepEqual(rows, [{ v: 'new' }]);
      assert.deepEqual((await pool.query('select i from abandoned')).rows, [{ i: 2 }, { i: 3 }, { i: 4 }]);
    });

    test('a connection dropped after a failed transaction does not disturb the next transaction', async () => {
      const { pool } = shared;
      const client = await pool.connect();
      await client.query('begin');
      await assert.rejects(client.query('select 1 / 0'), { code: '22012' });
      client.release(true);
      assert.equal(await one(pool, 'select 7'), 7);
    });

    test('a statement that waited too long for the session does not disturb the statements before and after it', async () => {
      const database = createDatabase(shared.pool, { engine: 'embedded', name: 'main' });
      const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
      const long = database.transaction(async (tx) => {
        await mayEnd;
        return tx.query('select 1 as v');
      });
      await assert.rejects(database.within(20).query('select 2 as v'), DeadlineExceeded);
      end();
      assert.deepEqual(await long, [{ v: 1 }]);
      assert.deepEqual(await database.query('select 3 as v'), [{ v: 3 }]);
    });
  });

  describe('a statement', () => {
    test('a statement that fails does not disturb the statements before and after it', async () => {
      const { pool } = shared;
      const results = await Promise.allSettled(
        Array.from({ length: 40 }, (_, i) => pool.query(`select ${i} / ${i % 4} as v`)),
      );
      results.forEach((result, i) => {
        if (i % 4 === 0) assert.equal(result.status, 'rejected');
        else assert.deepEqual(result.status === 'fulfilled' && result.value.rows, [{ v: Math.floor(i / (i % 4)) }]);
      });
    });

    test('a statement with a value that cannot be encoded does not affect the next statement', async () => {
      const { pool } = shared;
      await assert.rejects(pool.query('select $1::text, $2::json', ['first', { n: 1n }]), TypeError);
      assert.deepEqual((await pool.query('select $1::text as v', ['second'])).rows, [{ v: 'second' }]);
    });

    test('a statement stores half a surrogate pair as a replacement character and keeps all other text intact', async () => {
      const { pool } = shared;
      const { rows } = await pool.query('select $1::text as a, $2::text as b', ['a\ud800b', '😀é\udc00']);
      assert.deepEqual(rows, [{ a: 'a\ufffdb', b: '😀é\ufffd' }]);
    });

    test('a long loop of statements does not block the event loop', async () => {
      const { pool } = shared;
      const turns: number[] = [];
      const timer = setInterval(() => turns.push(performance.now()), 1);
      const deadline = performance.now() + LIMIT_MS;
      while (turns.length < 5 && performance.now() < deadline) await pool.query('select 1');
      clearInterval(timer);
      assert.equal(turns.length, 5);
    });

    test('a text parameter comes back unchanged, with any nesting, byte order mark or surrogate pair', async () => {
      const { pool } = shared;
      for (const text of [
        '['.repeat(200_000),
        `{"a":`.repeat(2_001),
        '\ufeffa',
        '\ufeff\ufeff',
        '🐙'.repeat(9_000),
        '',
      ]) {
        assert.deepEqual((await pool.query('select $1::text as text', [text])).rows, [{ text }]);
        assert.deepEqual((await pool.query('select $1 as text, $2::jsonb as json', [text, null])).rows, [
          { text, json: null },
        ]);
      }
      assert.deepEqual(
        (await pool.query({ text: 'select $1 as \ufeffname', values: ['a'] })).fields[0]?.name,
        '\ufeffname',
      );
    });

    test('a JSON parameter or a statement that is nested too deeply is refused', async () => {
      const { pool } = shared;
      for (const deep of ['['.repeat(200_000), '{"a\\"]":'.repeat(100_000)]) {
        await assert.rejects(pool.query('select $1::jsonb', [deep]), { code: '54001' });
        await assert.rejects(pool.query('select $2, * from json_to_recordset($1) as t (a int)', [deep, 'x']), {
          code: '54001',
        });
        await assert.rejects(pool.query('select $1::text, $2::json', [deep, deep]), { code: '54001' });
      }
      const wide = `[${Array(10_000).fill('{"a":"]"}').join()}]`;
      assert.deepEqual((await pool.query('select jsonb_array_length($1) as n', [wide])).rows, [{ n: 10_000 }]);
      await assert.rejects(pool.query(`select ${Array(20_000).fill('1').join('+')}`), { code: '54001' });
      assert.equal(await one(pool, 'select 1'), 1);
    });
  });

  describe('an engine that broke', () => {
    test('an engine that panics executes no further statement and keeps every acknowledged row', async (t) => {
      const dir = freshDir();
      const fatal: string[] = [];
      const { pool, close } = await open(t, dir, (line) => fatal.push(line));
      await pool.query('create table t (i int)');
      await pool.query('insert into t values (1)');
      renameSync(path.join(dir, 'pg_wal'), path.join(dir, 'pg_wal.away'));
      const stopped = {
        name: 'OperatorError',
        message: /has stopped: PANIC: .*start again, and it recovers from its write-ahead log$/,
      };
      await assert.rejects(async () => {
        for (let n = 0; n < 1_000; n++) await pool.query('insert into t select g from generate_series(1, 10000) g');
      }, stopped);
      await assert.rejects(pool.query('select 1'), stopped);
      assert.equal(fatal.length, 1);
      assert.match(fatal[0] ?? '', stopped.message);
      await close();
      renameSync(path.join(dir, 'pg_wal.away'), path.join(dir, 'pg_wal'));
      const again = await open(t, dir);
      assert.equal(await one(again.pool, 'select count(*)::int % 10000 from t'), 1);
    });

    test('an engine broken by a trap does not report success for a statement that it did not execute', async (t) => {
      const dir = freshDir();
      const fatal: string[] = [];
      const { pool, close } = await open(t, dir, (line) => fatal.push(line));
      await pool.query('create table t (i int)');
      // PostgreSQL computes the nested value itself, so the service cannot check the depth beforehand.
      await assert.rejects(pool.query(`select repeat('[', 200000)::jsonb`), /has stopped: the engine broke/);
      await assert.rejects(pool.query('insert into t values (1)'), /has stopped/);
      assert.equal(fatal.length, 1);
      await close();
      const again = await open(t, dir);
      assert.equal(await one(again.pool, 'select count(*)::int from t'), 0);
    });

    test('an engine that broke ends its process with one line on standard error', async (t) => {
      const dir = freshDir();
      const ackFile = path.join(root, 'panic.acks');
      const writer = await startWriter(dir, ackFile, 1);
      t.after(() => writer.child.kill('SIGKILL'));
      renameSync(path.join(dir, 'pg_wal'), path.join(dir, 'pg_wal.away'));
      assert.equal(await ended(writer), EXIT_ENGINE_STOPPED, writer.stderr());
      assert.match(writer.stderr(), /^the database in \S+ has stopped: PANIC: [^\n]*\n$/);
      renameSync(path.join(dir, 'pg_wal.away'), path.join(dir, 'pg_wal'));
      await assertAcknowledged(dir, ackFile, 'after a panic');
    });

    test('an engine whose control file is corrupt fails to start with an error of one line', async () => {
      const dir = freshDir();
      writeFileSync(path.join(dir, 'global', 'pg_control'), 'x');
      await assert.rejects(openEmbedded({ dir }), {
        name: 'OperatorError',
        message: /^the database in \S+ cannot be started: [^\n]+$/,
      });
    });
  });

  describe('the upkeep', () => {
    test('the upkeep writes a checkpoint only when the write-ahead log has exceeded its bound', async () => {
      const { pool } = shared;
      const limits = { logBytesMax: 1024 * 1024, changedRowsMin: 100 };
      await pool.query('checkpoint');
      assert.equal(await boundLog(pool, limits), false);
      await pool.query(
        `create table logged as select g as i, repeat('x', 200) as pad from generate_series(1, 20000) g`,
      );
      assert.equal(await boundLog(pool, limits), true);
      assert.equal(await boundLog(pool, limits), false);
      await pool.query('drop table logged');
    });

    test('the upkeep vacuums and analyzes a table only after it has changed', async (t) => {
      const { pool } = await open(t);
      // The test changes too few rows to start the upkeep in the background.
      const limits = { logBytesMax: 1024 * 1024, changedRowsMin: 100 };
      await pool.query('create schema "Odd name"');
      await pool.query('create table "Odd name".t (i int)');
      await pool.query('insert into "Odd name".t select generate_series(1, 500)');
      await pool.query('delete from "Odd name".t where i > 50');
      await pool.query('select pg_stat_force_next_flush()');
      assert.equal(await vacuumNextTable(pool, limits), '"Odd name".t');
      await pool.query('select pg_stat_force_next_flush()');
      assert.equal(await vacuumNextTable(pool, limits), null);
      assert.equal(await one(pool, `select reltuples::int from pg_class where oid = '"Odd name".t'::regclass`), 50);
    });
  });
});

function hasDraft(dir: string): boolean {
  const parent = path.dirname(dir);
  return existsSync(parent) && readdirSync(parent).some((name) => name.startsWith('db.init-'));
}
