// A Redis server that a test starts, stops, freezes and configures. If Redis is not installed, suites that need it are skipped.
// With REQUIRE_REDIS=1 they fail instead.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createClient } from '@redis/client';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';

export type RedisServer = {
  url: string;
  start(): Promise<void>;
  /** Ends the server. Its data is lost. */
  stop(): Promise<void>;
  /** Suspends the server's process. Open connections stay open. The kernel accepts new connections, but they get no response. */
  freeze(): void;
  thaw(): void;
  ask(...args: string[]): Promise<unknown>;
  /** Stops the server, whatever its state, and deletes its directory. */
  discard(): Promise<void>;
};

const START_LIMIT_MS = 60_000;

/**
 * Declares `suite` with one server, or a skipped test if Redis is not installed. The members of `redis` can be used only in the
 * hooks and tests of the suite.
 */
export function withRedis(name: string, suite: (redis: RedisServer) => void): void {
  if (!canStartRedis() && process.env['REQUIRE_REDIS'] !== '1') {
    test(name, { skip: 'redis-server is not on this machine' });
    return;
  }
  describe(name, () => {
    const redis = {} as RedisServer;
    before(async () => {
      Object.assign(redis, await startRedis());
    });
    after(() => redis.discard());
    suite(redis);
  });
}

export function canStartRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0;
}

/** Starts a server on a free port on loopback. The server keeps nothing on disk. */
export async function startRedis(): Promise<RedisServer> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no'];
  let child: ReturnType<typeof spawn> | null = null;
  const ask = (...command: string[]) => sendToRedis(url, command);
  const start = async () => {
    child = spawn('redis-server', args, { stdio: 'ignore' });
    await until(
      () =>
        ask('PING').then(
          () => true,
          () => false,
        ),
      START_LIMIT_MS,
      'Redis did not start',
    );
  };
  const end = async () => {
    const running = child;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const exited = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await exited;
  };
  await start();
  return {
    url,
    start,
    stop: end,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    ask,
    discard: async () => {
      await end();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Sends one command to the server at `url`, over a new connection. */
export async function sendToRedis(url: string, command: readonly string[]): Promise<unknown> {
  const client = createClient({ url, RESP: 2, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}
