// Tests that a database which can be read, but not written, is an outage of its own: it is named in the log, in `/status`, `/readyz` and the
// metrics until a write works again, however many reads succeed meanwhile.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import pg from 'pg';
import { defineDoctor } from '../../src/cli/doctor/doctor.ts';
import { defineStatus } from '../../src/cli/status.ts';
import { runCommand } from '../cli/run-command.ts';
import { fillDisk, mountMemory } from '../support/engines/file-systems.ts';
import { copyDatabase } from '../support/engines/embedded-template.ts';
import {
  canStartPostgres,
  createTestDatabase,
  migratedTemplate,
  startOwnPostgres,
} from '../support/engines/postgres-server.ts';
import { freePort } from '../support/free-port.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const NOTICED_MS_MAX = 60_000;
/** More products than a small disk has room for. */
const PRODUCTS_MAX = 5_000;
const BEGIN = 'the primary database accepts no writes';
const END = 'the primary database accepts writes again';

type Failure = {
  settings: Record<string, string> & { DATA_DIR: string };
  begin(): Promise<void>;
  end(): Promise<void>;
  /** What the database reports. */
  error: RegExp;
  reason: string;
};

const skip = canStartPostgres() ? false : 'PostgreSQL is not on this machine';

test('a PostgreSQL server that is read-only [postgresql]', { skip }, async (t) => {
  const server = await startOwnPostgres();
  t.after(() => server.discard());
  const set = async (value: 'on' | 'off') => {
    const client = new pg.Client({ connectionString: server.url, options: '-c default_transaction_read_only=off' });
    await client.connect();
    await client.query(`alter system set default_transaction_read_only = ${value}`);
    await client.query('select pg_reload_conf()');
    await client.end();
  };
  await assertReported({
    settings: { DATA_DIR: temporaryDirectory(), DATABASE_URL: await createMigrated(server.url) },
    begin: () => set('on'),
    end: () => set('off'),
    error: /read-only transaction/,
    reason: 'read-only',
  });
});

test('a PostgreSQL server whose disk is full [postgresql]', { skip }, async (t) => {
  const disk = smallDisk(t, '260m');
  if (disk === null) return;
  const server = await startOwnPostgres({ parent: disk });
  t.after(() => server.discard());
  await assertReported({
    settings: { DATA_DIR: temporaryDirectory(), DATABASE_URL: await createMigrated(server.url) },
    ...fillAndFree(disk),
    error: /No space left/,
    reason: 'disk-full',
  });
});

test('an embedded database whose disk is full [embedded]', async (t) => {
  const disk = smallDisk(t, '200m');
  if (disk === null) return;
  await copyDatabase(path.join(disk, 'db'), 'migrated');
  await assertReported({
    settings: { DATA_DIR: disk },
    ...fillAndFree(disk),
    error: /no space left/i,
    reason: 'disk-full',
  });
});

async function createMigrated(serverUrl: string): Promise<string> {
  return createTestDatabase(serverUrl, await migratedTemplate(serverUrl));
}

function smallDisk(t: TestContext, size: string): string | null {
  const parent = temporaryDirectory();
  const disk = path.join(parent, 'disk');
  const mounted = mountMemory(size, disk);
  // PostgreSQL runs as another user.
  chmodSync(parent, 0o755);
  if ('reason' in mounted) {
    t.skip(mounted.reason);
    return null;
  }
  t.after(() => mounted.unmount());
  return disk;
}

function fillAndFree(disk: string): Pick<Failure, 'begin' | 'end'> {
  let ballast: string | null = null;
  return {
    begin: async () => {
      ballast = fillDisk(disk, 2 * MIB);
    },
    end: async () => {
      if (ballast !== null) rmSync(ballast);
    },
  };
}

async function assertReported({ settings, begin, end, error, reason }: Failure): Promise<void> {
  const metricsAddress = `127.0.0.1:${await freePort()}`;
  // The service is closed before the test discards the database.
  await using closing = new AsyncDisposableStack();
  const service = await startTestService({ settings: { ...settings, METRICS_ADDRESS: metricsAddress } });
  closing.defer(() => service.close());
  const key = await createKey(service);
  const send = (method: string, body?: object) =>
    fetch(`${service.url}/api/v1/products`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const create = () => send('POST', { name: 'Mug', price: '19.90', description: randomBytes(1_500).toString('hex') });
  const readHealth = async () => {
    const ready = await fetch(`${service.url}/readyz`);
    const { data } = (await (await fetch(`${service.url}/status`)).json()) as any;
    const metrics = await (await fetch(`http://${metricsAddress}/metrics`)).text();
    const [, gauge] = /^mercat_database_writes_failing\{name="main"\} (\d)$/m.exec(metrics) ?? [];
    return {
      ready: [ready.status, ((await ready.json()) as any).data],
      failure: data.databases.main.writeFailure,
      gauge,
    };
  };
  const countLines = (message: string) =>
    service.logged.filter((line) => (JSON.parse(line) as { message: string }).message === message).length;

  assert.equal((await create()).status, 201);
  assert.deepEqual(await readHealth(), {
    ready: [200, { status: 'ready' }],
    failure: null,
    gauge: '0',
  });

  await begin();
  const statuses: number[] = [];
  for (let count = 0; statuses.at(-1) !== 503 && count < PRODUCTS_MAX; count += 1)
    statuses.push((await create()).status);
  assert.deepEqual([...new Set(statuses)].toSorted((a, b) => a - b).at(-1), 503);
  // Reads succeed meanwhile, and do not end the outage.
  for (let count = 0; count < 5; count += 1) assert.equal((await send('GET')).status, 200);
  // The metrics are read at most once a second.
  await until(async () => (await readHealth()).gauge === '1', NOTICED_MS_MAX, 'the metrics do not have the failure');
  const failing = await readHealth();
  assert.deepEqual(failing.ready, [200, { status: 'ready', degraded: ['The primary database accepts no writes'] }]);
  assert.equal(failing.failure.reason, reason);
  assert.ok(Date.parse(failing.failure.since) > 0);
  assert.deepEqual([countLines(BEGIN), countLines(END)], [1, 0]);
  assert.match(service.logged.find((line) => line.includes(BEGIN)) ?? '', error);

  const status = await runCommand(defineStatus, ['status'], { env: settings });
  assert.match(status.stdout, new RegExp(`accepts no writes since \\S+: .*${error.source}`, 'i'));
  const doctor = await runCommand(defineDoctor, ['doctor'], { env: { ...settings, PRICE_SOURCES: 'none' } });
  assert.equal(doctor.code, 1);
  assert.match(doctor.stdout, new RegExp(`FAIL\\s+primary database: writes: .*since .*${error.source}`, 'i'));

  await end();
  await until(async () => (await readHealth()).gauge === '0', NOTICED_MS_MAX, 'the end was not noticed');
  assert.deepEqual((await readHealth()).ready, [200, { status: 'ready' }]);
  assert.equal((await create()).status, 201);
  assert.deepEqual([countLines(BEGIN), countLines(END)], [1, 1]);
}

async function createKey(service: TestService): Promise<string> {
  await service.operate('shops.create', { name: 'mugs' });
  const { body } = await service.operate('keys.create', { shop: 'mugs', scopes: ['products:read', 'products:write'] });
  return body.result.secret;
}
