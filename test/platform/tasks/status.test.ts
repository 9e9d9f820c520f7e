// Tests GET /status and the commands status, sync and doctor. One test starts a command as a separate process. The other tests run the
// commands in the process of the test.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { DefineCommand } from '../../../src/cli/command.ts';
import { defineDoctor } from '../../../src/cli/doctor/doctor.ts';
import { defineStatus } from '../../../src/cli/status.ts';
import { defineSync } from '../../../src/cli/sync.ts';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { runCommand } from '../../cli/run-command.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { coinbaseRoutes } from '../../support/replay/prices.ts';
import { startReplayServer } from '../../support/replay/replay.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';
import { programEnvironment } from '../../support/program-environment.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const LIMIT_MS = 60_000;
const PRICES = { ETH: '2723.905', SOL: '84.95', POL: '0.2174', APE: '0.61' };
const SECRET = 'a-key-that-must-not-be-seen';
const COMMANDS: Readonly<Record<string, DefineCommand>> = {
  status: defineStatus,
  sync: defineSync,
  doctor: defineDoctor,
};

type Result = { code: number; stdout: string; stderr: string };

forEachEngine('the status for the operator', (engine) => {
  let base: Record<string, string>;
  before(async () => {
    base = await engine.settings();
  });

  const mercat = (settings: Record<string, string>, ...args: string[]): Promise<Result> =>
    runCommand(COMMANDS[args[0] ?? ''] ?? assert.fail(), args, { env: { ...base, ...settings } });
  const spawnMercat = async (settings: Record<string, string>, ...args: string[]): Promise<Result> => {
    const env = { ...programEnvironment(), ...base, ...settings };
    const child = spawn(process.execPath, [MAIN, ...args], { env });
    const result: Result = { code: 0, stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (result.stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (result.stderr += String(chunk)));
    const [code] = (await once(child, 'close')) as [number];
    return { ...result, code };
  };
  const json = async (settings: Record<string, string>, ...args: string[]): Promise<any> =>
    JSON.parse((await mercat(settings, ...args, '--json')).stdout);
  const priced = async (t: Pick<TestContext, 'after'>) => {
    const replay = await startReplayServer(t, coinbaseRoutes(PRICES));
    return { replay, settings: { PRICE_SOURCES: 'coinbase', COINBASE_URL: replay.url, LOG_LEVEL: 'silent' } };
  };
  const withMain = async <T>(work: (main: Database) => Promise<T>): Promise<T> => {
    const { main, close } = await openDatabases(readConfig(base), createLog('silent'));
    try {
      return await work(main);
    } finally {
      await close();
    }
  };

  describe('the commands without a server', () => {
    test('without a server, sync runs the named tasks once in its own process', async (t) => {
      const { settings, replay } = await priced(t);
      const { code, stdout } = await spawnMercat(settings, 'sync', 'prices', '--once');
      assert.match(stdout, /^prices: 4 read, 4 changed, 0 refused, 0 retired in [\d.]+ s\n$/);
      assert.equal(code, 0);
      assert.equal(replay.count(), 4);
      const [row] = await withMain((main) => main.query(`select usd from main.rate where symbol = 'ETH'`));
      assert.equal(row?.['usd'], 2723.905);
    });

    test('when a run fails, sync exits with 1 and prints the reason without the URL of the upstream', async (t) => {
      const { settings, replay } = await priced(t);
      replay.fail('not-json');
      const { code, stdout } = await mercat(settings, 'sync', 'prices', '--once');
      assert.match(stdout, /^prices: failed after .* s: coinbase: malformed/);
      assert.doesNotMatch(stdout, /127\.0\.0\.1/);
      assert.equal(code, 1);
      const status = await mercat(settings, 'status');
      assert.match(status.stdout, /^prices +failing [^]*\nprices: failed 1 times in a row: coinbase: malformed\n/m);
    });

    test('sync with an unknown task name exits with 2 and lists the enabled tasks', async () => {
      const { code, stderr } = await mercat({}, 'sync', 'nonsense');
      assert.equal(code, 2);
      assert.match(stderr, /there is no task "nonsense"; the enabled tasks are .*expiry/);
      assert.equal((await mercat({}, 'sync')).code, 2);
    });

    test('the command status shows the databases and tasks, as text and as JSON', async (t) => {
      const { settings } = await priced(t);
      await mercat(settings, 'sync', 'prices', '--once');
      const { code, stdout } = await mercat(settings, 'status');
      assert.equal(code, 0);
      assert.match(stdout, new RegExp(`^main +${engine.name} +responds in \\d+ ms\n`, 'm'));
      assert.match(stdout, /^prices +ok +\d+ s ago +45 s +4 +4 +0 +0\n/m);
      assert.match(stdout, /^coinbase +prices +closed +- +- +4 +0 +-\n/m);
      const { tasks, databases, unavailable } = await json(settings, 'status');
      assert.deepEqual(unavailable, []);
      assert.equal(databases.main.answers, true);
      const prices = tasks.find(({ name }: { name: string }) => name === 'prices');
      assert.deepEqual(prices.rows, { read: 4, changed: 4, refused: 0, retired: 0 });
      const neverRun = tasks.find(({ name }: { name: string }) => name === 'expiry');
      assert.deepEqual([neverRun.state, neverRun.lagSeconds], ['waiting', null]);
    });
  });

  describe('the commands with a server', () => {
    let service: TestService;
    let settings: Record<string, string>;
    const cleanups: (() => unknown)[] = [];
    before(async () => {
      ({ settings } = await priced({ after: ((clean: () => unknown) => void cleanups.push(clean)) as never }));
      service = await startTestService({
        settings: {
          ...base,
          ...settings,
          OPENSEA_API_KEY: SECRET,
          OPENSEA_URL: settings['COINBASE_URL'] ?? '',
          RPC_URL_ETHEREUM: `http://127.0.0.1:${await freePort()}`,
        },
      });
    });
    after(async () => {
      await service.close();
      for (const clean of cleanups) await clean();
    });

    test('the response of GET /status contains no secret, host or text of an upstream', async () => {
      // `service.get` checks a response against an OpenAPI document, and GET /status is in none of these documents.
      const get = (method = 'GET') => fetch(`${service.url}/status`, { method });
      const read = async (): Promise<any> => ((await (await get()).json()) as any).data;
      const ofPrices = async () => (await read()).tasks.find(({ name }: { name: string }) => name === 'prices');
      await until(async () => (await ofPrices()).state === 'ok', LIMIT_MS, 'prices were not fetched');
      const response = await get();
      const { status, headers } = response;
      const text = await response.text();
      assert.equal(status, 200);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.doesNotMatch(text, /127\.0\.0\.1|localhost|https?:|lastError|problems/);
      assert.ok(!text.includes(SECRET) && !text.includes(base['DATA_DIR'] ?? '-'));
      const prices = await ofPrices();
      assert.equal(prices.upstreams[0].name, 'coinbase');
      assert.equal(prices.upstreams[0].breaker, 'closed');
      assert.ok(prices.lagSeconds >= 0);
      assert.equal((await get('POST')).status, 405);
    });

    test('while a server runs, sync and status use the server', async () => {
      const before = await json(settings, 'status').then(({ tasks }) => tasks);
      const { code, stdout, stderr } = await mercat(settings, 'sync', 'prices', '--once', '--json');
      assert.deepEqual([code, stderr], [0, '']);
      const [task] = JSON.parse(stdout);
      assert.equal(task.state, 'ok');
      assert.notEqual(task.lastEnded, before.find(({ name }: { name: string }) => name === 'prices').lastEnded);
      assert.match((await mercat(settings, 'status')).stdout, /prices +ok/);
    });

    test('the command status names a chain that has only one endpoint', async () => {
      const { stdout } = await mercat(settings, 'status');
      assert.match(
        stdout,
        /^ethereum: its data comes from one endpoint, and nothing is compared\. .*RPC_URL_ETHEREUM$/m,
      );
      const { chains } = await json(settings, 'status');
      assert.equal(chains[0].comparison.compared, 'one-endpoint');
    });

    test('doctor reads the state of the database from the running server', async () => {
      const { code, stdout } = await mercat(settings, 'doctor');
      assert.equal(code, 0, stdout);
      assert.match(stdout, /ok {4}primary database: /);
      assert.match(stdout, /ok {4}coinbase: it responds in \d+ ms/);
    });
  });

  describe('doctor', () => {
    const findings = async (settings: Record<string, string>) => {
      const { code, stdout } = await mercat(settings, 'doctor', '--json');
      const found = JSON.parse(stdout) as { name: string; level: string; message: string; mend: string | null }[];
      return { code, stdout, of: (name: string) => found.find((one) => one.name === name), found };
    };

    test('doctor reports no failure for a working service', async (t) => {
      const { settings } = await priced(t);
      const { code, found, of } = await findings(settings);
      assert.deepEqual([code, found.filter(({ level }) => level === 'fail')], [0, []]);
      assert.equal(of('primary database: schema')?.message, 'up to date');
      assert.equal(of('clock')?.level, 'ok');
      assert.ok(of('disk') && of('data directory'));
    });

    test('when no source of dollar prices can be reached, doctor warns about each source and reports no failure', async () => {
      const dead = `http://127.0.0.1:${await freePort()}`;
      const { code, of } = await findings({
        PRICE_SOURCES: 'coinbase,coingecko',
        COINBASE_URL: dead,
        COINGECKO_URL: dead,
      });
      assert.deepEqual([code, of('coinbase')?.level, of('coingecko')?.level], [0, 'warn', 'warn']);
      assert.match(of('coinbase')?.message ?? '', /cannot be reached/);
    });

    test('doctor names every invalid setting', async () => {
      const { code, of } = await findings({ PORT: 'x', OPENSEA_HOURLY_BUDGET: '0' });
      assert.equal(code, 1);
      assert.match(of('settings')?.message ?? '', /PORT must be .*; OPENSEA_HOURLY_BUDGET must be/);
    });

    test('doctor reports an upstream that does not respond, rejects the key or serves another chain', async (t) => {
      const dead = `http://127.0.0.1:${await freePort()}`;
      const wrong = await startAnswering(t, { body: '{"jsonrpc":"2.0","id":1,"result":"0x89"}' });
      const strict = await startAnswering(t, { status: 401, date: new Date(Date.now() - 3_600_000) });
      const { code, stdout, of } = await findings({
        PRICE_SOURCES: 'coinbase',
        COINBASE_URL: dead,
        RPC_URL_ETHEREUM: `${wrong}/${SECRET},${dead}/${SECRET}`,
        RPC_URL_POLYGON: `${wrong}/${SECRET}`,
        FEED_URL: `${strict}/${SECRET}`,
        FEED_TOKEN: SECRET,
      });
      assert.equal(code, 1);
      assert.match(of('coinbase')?.message ?? '', /cannot be reached/);
      assert.match(of('ethereum endpoint 1 of 2')?.message ?? '', /serves chain 137, not 1/);
      assert.match(of('ethereum endpoint 2 of 2')?.message ?? '', /cannot be reached/);
      assert.equal(of('polygon endpoint 1 of 1')?.level, 'ok');
      assert.match(of('feed')?.message ?? '', /rejects the request as unauthorized \(401\)/);
      assert.match(of('feed')?.mend ?? '', /FEED_TOKEN/);
      assert.doesNotMatch(stdout, new RegExp(`127\\.0\\.0\\.1|${SECRET}`));
      const withWrongClock = await findings({ FEED_URL: strict });
      assert.match(withWrongClock.of('clock')?.message ?? '', /36\d\d s ahead of the dates of the responses/);
    });

    test('doctor reports a database that does not respond, has a newer schema, or lacks migrations', async (t) => {
      const { settings } = await priced(t);
      const dead = `postgres://someone:${SECRET}@127.0.0.1:${await freePort()}/none`;
      const broken = await findings({ ...settings, INDEXER_DATABASE_URL: dead });
      assert.equal(broken.code, 1);
      assert.match(broken.of('indexer database')?.message ?? '', /does not respond/);
      assert.ok(!broken.stdout.includes(SECRET));
      const name = `'9999-from-the-future.sql'`;
      await withMain((main) =>
        main.query(`insert into main.migration (name, version_min) values (${name}, '999.0.0')`),
      );
      assert.match((await findings(settings)).of('primary database: schema')?.message ?? '', /newer version/);
      await withMain((main) => main.query(`delete from main.migration where name = ${name}`));
      await withMain((main) => main.query(`delete from indexer.migration where name = '0001-schema.sql'`));
      const { code, of } = await findings(settings);
      assert.deepEqual([code, of('indexer database: schema')?.message], [0, 'migrations to apply: 1']);
    });
  });
});

async function startAnswering(
  t: TestContext,
  { status = 200, body = '{}', date }: { status?: number; body?: string; date?: Date },
): Promise<string> {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(status, date ? { date: date.toUTCString() } : {}).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
