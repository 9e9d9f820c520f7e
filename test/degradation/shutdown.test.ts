// Tests how the real program shuts down under load and while a database hangs, and that it does not start on a port or a data directory
// that is in use.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withTwoServers } from './two-databases.ts';
import { newCollection, range } from '../support/service/market.ts';
import { countWaiting, lockTable } from '../support/engines/postgres-locks.ts';
import { copyDatabase } from '../support/engines/embedded-template.ts';
import { createTestDatabase } from '../support/engines/postgres-server.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { SocketIntake } from '../../src/intake/socket-client.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mercat.mjs', import.meta.url));
const START_MAX_MS = 60_000;
/** A program that still runs this long after a signal is killed, and its test fails. */
const STOP_MAX_MS = 60_000;
const CALLERS = 4;
const DEADLINE_MS = 1_500;

type Program = {
  child: ChildProcess;
  url: string;
  stderr(): string;
  /** The exit code of the program, and the milliseconds from this call to the exit. The code is null if the program had to be killed. */
  ended(): Promise<{ code: number | null; ms: number }>;
};

function run(t: TestContext, settings: Record<string, string>, args: string[] = []): Program {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--no-sample', ...args], {
    env: { PATH: process.env['PATH'], PRICE_SOURCES: 'none', ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit');
  t.after(() => void child.kill('SIGKILL'));
  return {
    child,
    url: `http://127.0.0.1:${settings['PORT']}`,
    stderr: () => stderr,
    ended: async () => {
      const startedAt = performance.now();
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS);
      const [code] = await exited;
      clearTimeout(kill);
      return { code: code as number | null, ms: performance.now() - startedAt };
    },
  };
}

async function runUntilUp(t: TestContext, settings: Record<string, string>): Promise<Program> {
  const program = run(t, settings);
  await until(
    async () => {
      assert.equal(program.child.exitCode, null, program.stderr());
      const response = await fetch(`${program.url}/v1`).catch(() => null);
      return response?.ok === true;
    },
    START_MAX_MS,
    'the program did not start',
  );
  return program;
}

async function newSettings(t: TestContext): Promise<Record<string, string>> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-shutdown-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return { DATA_DIR: dir, PORT: String(await freePort()) };
}

/** A server that accepts connections and never responds. `isCalled` is true when a request has arrived. */
async function startSilentServer(t: TestContext): Promise<{ url: string; isCalled(): boolean }> {
  let isCalled = false;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', () => (isCalled = true));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`, isCalled: () => isCalled };
}

/**
 * Sends a signal, and waits for the end of the program. Fails unless the exit code is 0 and the program ended before its own deadline of five
 * seconds: at this deadline the program writes a line.
 */
async function assertEnds(t: TestContext, program: Program, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  program.child.kill(signal);
  await assertEnded(t, program);
}

async function assertEnded(t: TestContext, program: Program): Promise<void> {
  const { code, ms } = await program.ended();
  assert.equal(code, 0, program.stderr());
  assert.doesNotMatch(program.stderr(), /did not stop in time/);
  t.diagnostic(`ended after ${Math.round(ms)} ms`);
}

/** Starts clients that send requests on keep-alive connections. A client ends when its connection fails or is closed. */
function startLoad(url: string): { responses(): number; wrong: string[]; done: Promise<unknown> } {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CALLERS });
  const wrong: string[] = [];
  let responses = 0;
  const callers = range(CALLERS).map(async () => {
    for (;;) {
      const status = await request(`${url}/v1`, agent).catch((error: NodeJS.ErrnoException) => error.code ?? 'error');
      if (status === 200) responses += 1;
      else {
        if (status !== 'ECONNREFUSED' && status !== 'ECONNRESET') wrong.push(String(status));
        return;
      }
    }
  });
  return { responses: () => responses, wrong, done: Promise.all(callers).finally(() => agent.destroy()) };
}

/** Starts an import whose input does not end. `begun` resolves when the first progress is reported. */
function startImport(dataDir: string): { begun: Promise<void>; done: Promise<unknown> } {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const subject = newCollection();
  async function* endless() {
    for (let row = 1; ; row += 1) yield Buffer.from(`${JSON.stringify(subject.listing(String(row), row))}\n`);
  }
  const connection = new SocketIntake(path.join(dataDir, 'mercat.sock'));
  const done = connection.import(endless(), { format: 'ndjson' }, () => resolve());
  done.catch(() => undefined);
  return { begun, done };
}

function request(url: string, agent?: http.Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { agent: agent ?? false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', reject);
      })
      .on('error', reject);
  });
}

test('the program on the embedded database', async (t) => {
  const settings = await newSettings(t);
  await copyDatabase(path.join(settings['DATA_DIR'] ?? '', 'db'), 'migrated');
  const program = await runUntilUp(t, settings);
  const socket = path.join(settings['DATA_DIR'] ?? '', 'mercat.sock');

  await t.test(
    'in a data directory that is in use, a second program prints one clear line and exits with 1',
    async (t) => {
      const second = run(t, { ...settings, PORT: String(await freePort()) });
      assert.equal((await second.ended()).code, 1);
      assert.match(
        second.stderr(),
        /^mercat: the data directory \S+ is in use by another process \(pid \d+\)[^\n]*\n$/,
      );
      assert.equal(await request(`${program.url}/v1`), 200);
      assert.ok(existsSync(socket));
    },
  );

  await t.test('SIGTERM under load ends the program with exit code 0 within seconds', async (t) => {
    const load = startLoad(program.url);
    await until(() => load.responses() > 100, START_MAX_MS, 'the load has not begun');
    const silent = net.connect(Number(settings['PORT']), '127.0.0.1').on('error', () => undefined);
    const keptAlive = net.connect(Number(settings['PORT']), '127.0.0.1').on('error', () => undefined);
    keptAlive.write('GET /v1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.all([once(silent, 'connect'), once(keptAlive, 'data')]);
    await assertEnds(t, program);
    await load.done;
    silent.destroy();
    keptAlive.destroy();
    assert.deepEqual(load.wrong, []);
    assert.equal(existsSync(socket), false);
    t.diagnostic(`${load.responses()} responses before the end`);
  });

  await t.test('after the exit the lock and the port are free', async (t) => {
    const again = await runUntilUp(t, settings);
    await assertEnds(t, again);
  });

  const upstreams = { 'an RPC endpoint': 'RPC_URL_ETHEREUM', 'a marketplace': 'FEED_URL' };
  for (const [name, setting] of Object.entries(upstreams)) {
    await t.test(
      `${name} that accepts connections and never responds does not delay the end of the program`,
      async (t) => {
        const upstream = await startSilentServer(t);
        const hanging = await runUntilUp(t, { ...settings, [setting]: upstream.url });
        await until(upstream.isCalled, START_MAX_MS, 'the upstream was not called');
        await assertEnds(t, hanging);
      },
    );
  }

  await t.test('half-open clients and a running import do not delay the end of the program', async (t) => {
    const busy = await runUntilUp(t, settings);
    const halfOpen = net.connect(Number(settings['PORT']), '127.0.0.1').on('error', () => undefined);
    halfOpen.write('POST /intake/v1/import HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n');
    const silent = net.connect(Number(settings['PORT']), '127.0.0.1').on('error', () => undefined);
    await Promise.all([once(halfOpen, 'connect'), once(silent, 'connect')]);
    const importing = startImport(settings['DATA_DIR'] ?? '');
    await importing.begun;
    await assertEnds(t, busy);
    await assert.rejects(importing.done);
    halfOpen.destroy();
    silent.destroy();
  });

  await t.test(
    'started by an npm script, the program shuts down cleanly when npm and its shell are gone',
    async (t) => {
      // Like npm's shell, this shell waits for the program and does not forward signals.
      const shell = spawn('sh', ['-c', `"${process.execPath}" "${PROGRAM}" serve --no-sample; true`], {
        env: { PATH: process.env['PATH'], npm_lifecycle_event: 'start', ...settings },
        stdio: 'ignore',
      });
      t.after(() => void shell.kill('SIGKILL'));
      const isUp = () =>
        request(`${program.url}/v1`).then(
          (status) => status === 200,
          () => false,
        );
      await until(isUp, START_MAX_MS, 'the program did not start');
      shell.kill('SIGKILL');
      await until(async () => !(await isUp()) && !existsSync(socket), STOP_MAX_MS, 'the program is still running');
    },
  );

  await t.test(
    'on a port that is in use, the program prints one clear line, exits with 1 and creates no database',
    async (t) => {
      const server = net.createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      const dataDir = path.join(temporaryDirectory(), 'not-created');
      const { port } = server.address() as net.AddressInfo;
      const third = run(t, { PORT: String(port), DATA_DIR: dataDir });
      assert.equal((await third.ended()).code, 1);
      assert.ok(!existsSync(dataDir), 'a database was created before the port was tried');
      assert.match(third.stderr(), /^mercat: cannot listen on 127\.0\.0\.1:\d+: [^\n]*in use[^\n]*--port or PORT\n$/);
    },
  );
});

withTwoServers('SIGTERM to the program on PostgreSQL', (servers) => {
  async function newSettingsOnServers(t: TestContext): Promise<Record<string, string>> {
    return {
      ...(await newSettings(t)),
      DATABASE_URL: await createTestDatabase(servers.primary.url),
      INDEXER_DATABASE_URL: await servers.createIndex(),
    };
  }

  test('in the grace period after SIGTERM the program is not ready, but serves every request', async (t) => {
    const settings = await newSettingsOnServers(t);
    const program = await runUntilUp(t, { ...settings, SHUTDOWN_GRACE_MS: '600000', SOURCE_TIMEOUT_MS: '60000' });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const connectionOf = async (path: string) => {
      const [response] = await once(http.get(`${program.url}${path}`, { agent }), 'response');
      response.resume();
      await once(response, 'end');
      return [response.statusCode, response.headers.connection];
    };
    assert.deepEqual(await connectionOf('/v1/collections'), [200, 'keep-alive']);
    const release = await lockTable(t, settings['INDEXER_DATABASE_URL'], 'indexer.token');
    const inProgress = connectionOf(`/v1/tokens/ethereum/${newCollection().address}/1`);
    await until(async () => (await countWaiting(servers.indexer.url)) > 0, START_MAX_MS, 'the request did not arrive');
    program.child.kill('SIGTERM');
    const isDraining = async () => (await fetch(`${program.url}/readyz`)).status === 503;
    await until(isDraining, START_MAX_MS, 'the program is still ready');
    await release();
    // The token does not exist.
    assert.deepEqual(await inProgress, [404, 'close']);
    // The first response comes from memory, the second from a route. The third is an error.
    for (const path of ['/v1/collections', '/v1/collections?limit=3', '/v1/nothing']) {
      const [status, connection] = await connectionOf(path);
      assert.deepEqual([status, connection], [path === '/v1/nothing' ? 404 : 200, 'close'], path);
    }
    assert.equal((await fetch(`${program.url}/livez`)).status, 200);
    program.child.kill('SIGTERM');
    assert.equal((await program.ended()).code, 143, 'a second signal did not end the grace period');
  });

  test('Ctrl-C ends the program without the grace period', async (t) => {
    const settings = { ...(await newSettingsOnServers(t)), SHUTDOWN_GRACE_MS: '600000' };
    const program = await runUntilUp(t, settings);
    await assertEnds(t, program, 'SIGINT');
  });

  test('a request in progress gets its response before the program ends', async (t) => {
    // The task that reads metadata is off, because it would wait for the locked table.
    const settings = await newSettingsOnServers(t);
    const more = { METADATA_HOURLY_BUDGET: '0', SOURCE_TIMEOUT_MS: String(DEADLINE_MS) };
    const program = await runUntilUp(t, { ...settings, ...more });
    const release = await lockTable(t, settings['INDEXER_DATABASE_URL'], 'indexer.token');
    const { address } = newCollection();
    const response = request(`${program.url}/v1/tokens/ethereum/${address}/1`, new http.Agent({ keepAlive: true }));
    await until(async () => (await countWaiting(servers.indexer.url)) > 0, START_MAX_MS, 'the request did not arrive');
    program.child.kill('SIGTERM');
    assert.equal(await response, 200);
    // A shutdown that waits for the connection, which its client keeps alive, would last until the deadline of the program.
    await assertEnded(t, program);
    await release();
  });

  test('the program ends although both databases hang', async (t) => {
    const settings = await newSettingsOnServers(t);
    const program = await runUntilUp(t, settings);
    const importing = startImport(settings['DATA_DIR'] ?? '');
    await importing.begun;
    servers.indexer.freeze();
    servers.primary.freeze();
    try {
      const callers = Promise.allSettled(
        range(CALLERS).map((caller) => request(`${program.url}/v1/collections?limit=${caller + 1}`)),
      );
      // The response to this request shows that the requests before it have arrived.
      await request(`${program.url}/v1`);
      await assertEnds(t, program);
      await callers;
      await assert.rejects(importing.done);
    } finally {
      servers.indexer.thaw();
      servers.primary.thaw();
    }
  });
});
