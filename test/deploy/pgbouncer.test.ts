// Two nodes reach PostgreSQL only through PgBouncer in transaction mode, with the configuration of deploy/. The nodes share connections, so
// nothing may depend on the session of a connection: prepared statements, settings or locks. `npm run test:deploy` runs this file.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { defineBackup } from '../../src/cli/backup.ts';
import { defineDoctor } from '../../src/cli/doctor/doctor.ts';
import { defineRestore } from '../../src/cli/restore.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { openDatabases } from '../../src/platform/database/open.ts';
import type { Queryable } from '../../src/platform/database/port.ts';
import { STORE_SCOPES } from '../../src/shop/keys/scopes.ts';
import { runCommand } from '../cli/run-command.ts';
import type { PostgresServer } from '../support/engines/postgres-server.ts';
import { canStartPostgres, createTestDatabase, startOwnPostgres } from '../support/engines/postgres-server.ts';
import { countWaiting, withClient } from '../support/engines/postgres-locks.ts';
import { freePort } from '../support/free-port.ts';
import { newCollection } from '../support/service/market.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { WHY_NOT_DEPLOYED } from './requirements.ts';

const LIMIT_MS = 60_000;
const REQUESTS = 60;

const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0 && canStartPostgres();
const skip = WHY_NOT_DEPLOYED ?? (isInstalled ? false : 'pgbouncer or PostgreSQL is not on this machine');

describe('the service behind PgBouncer in transaction mode', { skip }, () => {
  let server: PostgresServer;
  let directUrl: string;
  let pooledUrl: string;
  let stopPooler: () => Promise<void>;
  let nodes: TestService[] = [];
  let secret: string;

  before(async () => {
    server = await startOwnPostgres();
    directUrl = await createTestDatabase(server.url);
    await administer(
      `alter role postgres set statement_timeout = '60s'`,
      `alter role postgres set client_connection_check_interval = '1s'`,
    );
    // A connection that the pooler has open keeps the settings of the role from before.
    ({ url: pooledUrl, stop: stopPooler } = await startPooler(directUrl));
    // Both nodes apply the migrations at the same time.
    nodes = await Promise.all(
      [0, 1].map(() => startTestService({ settings: { DATABASE_URL: pooledUrl, DATA_DIR: temporaryDirectory() } })),
    );
    await nodes[0]?.operate('shops.create', { name: 'Pooled' });
    const created = await nodes[0]?.operate('keys.create', { shop: 'Pooled', scopes: STORE_SCOPES });
    secret = created?.body.result.secret;
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await stopPooler();
    await server.discard();
  });

  const administer = (...statements: string[]) =>
    withClient(directUrl, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  const nodeOf = (number: number) => nodes[number % nodes.length] ?? assert.fail('no node is running');

  async function send(number: number, method: string, target: string, body?: object, headers = {}): Promise<Reply> {
    const response = await fetch(`${nodeOf(number).url}/api/v1${target}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }
  async function newProduct(inventory: number): Promise<string> {
    return (await send(0, 'POST', '/products', { name: 'Mug', price: '1', inventory })).body.data.id;
  }
  const stockOf = async (id: string) => (await send(1, 'GET', `/products/${id}`)).body.data.inventory;

  test('reads whose statements are prepared succeed on every connection', async () => {
    const collection = newCollection({ slug: 'pooled' });
    await nodeOf(0).load([collection.collection(), collection.order('1', 10n ** 18n), collection.token('1')]);
    const targets = ['', '/floor', '/listings', '/sales'].map((end) => `${collection.path}${end}`);
    for (let round = 0; round < 5; round += 1) {
      const all = Array.from({ length: 20 }, (_, number) => nodeOf(number).ok(targets[number % 4] ?? ''));
      await Promise.all(all);
    }
    for (const node of nodes)
      assert.deepEqual(
        node.logged.filter((line) => line.includes('"level":"error"')),
        [],
      );
  });

  test('concurrent changes of one product are each applied once', async () => {
    const id = await newProduct(REQUESTS);
    // On a slow machine a request may reach its deadline. The request is then sent again with the same key.
    const adjust = async (number: number): Promise<void> => {
      const body = { product_id: id, adjustment: -1 };
      const { status } = await send(number, 'POST', '/inventory', body, { 'idempotency-key': `adjust-${number}` });
      if (status === 503) return adjust(number);
      assert.equal(status, 200);
    };
    await Promise.all(Array.from({ length: REQUESTS }, (_, number) => adjust(number)));
    assert.equal(await stockOf(id), 0);
  });

  test('a change that is sent to both nodes with one idempotency key is applied once', async () => {
    const id = await newProduct(10);
    const adjust = (_: unknown, number: number) =>
      send(number, 'POST', '/inventory', { product_id: id, adjustment: -1 }, { 'idempotency-key': 'once' });
    const replies = await Promise.all(Array.from({ length: 20 }, adjust));
    assert.ok(replies.every(({ status }) => status === 200 || status === 409));
    assert.equal(await stockOf(id), 9);
  });

  test('the lock timeout of the store applies only to transactions of the store', async () => {
    const databases = await openDatabases(
      { dataDir: temporaryDirectory(), databaseUrl: pooledUrl, indexerDatabaseUrl: null },
      createLog('silent'),
    );
    const show = async (db: Queryable) => (await db.query('show lock_timeout'))[0]?.['lock_timeout'];
    const inStore = await databases.store.transaction(show);
    assert.deepEqual([inStore, await show(databases.main), await databases.main.transaction(show)], ['2s', '0', '0']);
    await databases.close();
  });

  test('a change of a product that stays locked gets 503, and a change of another product does not wait', async () => {
    const [locked, free] = [await newProduct(10), await newProduct(10)];
    await withClient(directUrl, async (client) => {
      await client.query('begin');
      await client.query('select 1 from main.product where id = $1 for update', [locked]);
      const waiting = send(0, 'POST', '/inventory', { product_id: locked, adjustment: -1 });
      assert.equal((await send(0, 'POST', '/inventory', { product_id: free, adjustment: -1 })).status, 200);
      assert.equal((await waiting).status, 503);
      await until(async () => (await countWaiting(server.url)) === 0, LIMIT_MS, 'a statement still waits');
      await client.query('rollback');
    });
    assert.equal((await send(0, 'POST', '/inventory', { product_id: locked, adjustment: -1 })).status, 200);
  });

  test('a backup that is made and restored through PgBouncer is complete', async () => {
    const file = path.join(temporaryDirectory(), 'backup');
    const made = await runCommand(defineBackup, ['backup', file, '--json'], { env: settingsOf(pooledUrl) });
    assert.equal(made.code, 0, made.stderr);
    const emptyUrl = await createTestDatabase(server.url);
    const { url, stop } = await startPooler(emptyUrl);
    const restored = await runCommand(defineRestore, ['restore', file, '--json'], { env: settingsOf(url) });
    assert.equal(restored.code, 0, restored.stderr);
    assert.equal(JSON.parse(restored.stdout).rows, JSON.parse(made.stdout).rows);
    await stop();
  });

  test('a node detects that notifications do not reach it, and still reads the activity', async () => {
    const streamOf = async () => (await nodeOf(0).operate('status', {})).body.result.stream;
    const lines = () => nodeOf(0).logged.filter((line) => line.includes('notifications of the database do not arrive'));
    await until(() => lines().length > 0, LIMIT_MS, 'the node did not detect that notifications do not reach it');
    const { listening, offset } = await streamOf();
    assert.equal(listening, false);
    const collection = newCollection({ slug: 'unnoticed' });
    await nodeOf(1).load([collection.collection(), collection.order('1', 10n ** 18n)]);
    await until(async () => (await streamOf()).offset !== offset, LIMIT_MS, 'the activity was not read');
  });

  test('mercat doctor warns when the role has no statement_timeout', async () => {
    const isWarned = async () => {
      const { stdout } = await runCommand(defineDoctor, ['doctor', '--json'], { env: settingsOf(pooledUrl) });
      return stdout.includes('primary database: limits');
    };
    assert.equal(await isWarned(), false);
    await administer('alter role postgres reset statement_timeout');
    await withClient(directUrl, (client) =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = 'postgres'`,
      ),
    );
    assert.equal(await isWarned(), true);
  });
});

const settingsOf = (url: string) => ({ DATABASE_URL: url, DATA_DIR: temporaryDirectory(), PRICE_SOURCES: 'none' });

type Reply = { status: number; body: any };

async function startPooler(databaseUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  const target = new URL(databaseUrl);
  const port = await freePort();
  const dir = path.join(temporaryDirectory(), 'pgbouncer');
  mkdirSync(dir);
  // PgBouncer refuses to run as root. If the test runs as root, PgBouncer therefore runs as the user postgres, who must be able to read
  // these files.
  chmodSync(path.dirname(dir), 0o755);
  const source = fileURLToPath(new URL('../../deploy/pgbouncer/pgbouncer.ini', import.meta.url));
  const changes: [from: string, to: string][] = [
    ['host=127.0.0.1 port=5432 dbname=mercat', `host=127.0.0.1 port=${target.port} dbname=${target.pathname.slice(1)}`],
    ['listen_port = 6432', `listen_port = ${port}`],
    ['auth_type = scram-sha-256', 'auth_type = trust'],
    ['/etc/pgbouncer/userlist.txt', path.join(dir, 'users')],
  ];
  let text = readFileSync(source, 'utf8');
  for (const [from, to] of changes) {
    assert.ok(text.includes(from), from);
    text = text.replace(from, to);
  }
  const file = path.join(dir, 'pgbouncer.ini');
  writeFileSync(file, `${text}unix_socket_dir =\n`);
  writeFileSync(path.join(dir, 'users'), '"postgres" ""\n');
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const child = spawn('pgbouncer', ['-q', ...user, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = once(child, 'exit');
  const url = `postgres://postgres@127.0.0.1:${port}/mercat`;
  await until(() => canQuery(url), LIMIT_MS, `PgBouncer did not start: ${errors}`);
  return {
    url,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function canQuery(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
