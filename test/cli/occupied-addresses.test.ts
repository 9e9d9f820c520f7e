// Tests that a start which cannot listen on one of its addresses ends with one sentence, before it changes a database.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { programEnvironment } from '../support/program-environment.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** Ends a start that does not end by itself. */
const START_LIMIT_MS = 120_000;

async function occupyPort(t: TestContext): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function start(t: TestContext, args: readonly string[], settings: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...programEnvironment(), PORT: '0', PRICE_SOURCES: 'none', ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: START_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  t.after(() => child.kill('SIGKILL'));
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code: code as number | null, stderr };
}

forEachEngine('a start whose address is in use', (engine) => {
  const createSettings = async (): Promise<Record<string, string> & { DATA_DIR: string }> => {
    const settings = engine.name === 'embedded' ? {} : await engine.settings('empty');
    // Several processes need Redis. No test gets as far as to use it.
    return { ...settings, DATA_DIR: path.join(temporaryDirectory(), 'data'), REDIS_URL: 'redis://127.0.0.1:1' };
  };

  const assertUnchanged = async ({ DATA_DIR, DATABASE_URL }: Record<string, string>) => {
    assert.ok(!existsSync(path.join(DATA_DIR ?? '', 'db')));
    if (DATABASE_URL === undefined) return;
    const client = new pg.Client({ connectionString: DATABASE_URL });
    await client.connect();
    try {
      const { rows } = await client.query(`select to_regnamespace('main')::text as name`);
      assert.deepEqual(rows, [{ name: null }]);
    } finally {
      await client.end();
    }
  };

  const assertRefused = ({ code, stderr }: { code: number | null; stderr: string }, address: string) => {
    const [line = '', ...more] = stderr.trimEnd().split('\n');
    assert.ok(line.startsWith(`mercat: cannot listen on ${address}: `), stderr);
    assert.deepEqual([code, more], [1, []], stderr);
  };

  const serve = ['serve', '--no-sample'];
  const commands = engine.name === 'embedded' ? [serve] : [serve, [...serve, '--workers', '2'], ['work']];
  for (const command of commands) {
    test(`mercat ${command.join(' ')}: the address of the metrics`, async (t) => {
      const settings = await createSettings();
      const address = `127.0.0.1:${await occupyPort(t)}`;
      assertRefused(await start(t, command, { ...settings, METRICS_ADDRESS: address }), address);
      await assertUnchanged(settings);
    });
    if (command[0] === 'work') continue;
    test(`mercat ${command.join(' ')}: the port of the service`, async (t) => {
      const settings = await createSettings();
      const port = await occupyPort(t);
      assertRefused(await start(t, command, { ...settings, PORT: String(port) }), `127.0.0.1:${port}`);
      await assertUnchanged(settings);
    });
    test(`mercat ${command.join(' ')}: the path of the local socket`, async (t) => {
      const settings = await createSettings();
      const socketPath = path.join(settings.DATA_DIR, 'mercat.sock');
      const file = path.join(socketPath, 'notes.txt');
      mkdirSync(socketPath, { recursive: true });
      writeFileSync(file, 'notes');
      assertRefused(await start(t, command, settings), socketPath);
      assert.equal(readFileSync(file, 'utf8'), 'notes');
      await assertUnchanged(settings);
    });
  }
});
