// A Redis server that a test starts, stops, freezes and configures. Where Redis is not on the machine its suites are skipped;
// with REQUIRE_REDIS=1 they fail.

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
  /** Ends the server; what it held is gone. */
  stop(): Promise<void>;
  /** Suspends its process: open connections stay open, and new ones are accepted by the kernel and get no response. */
  freeze(): void;
  thaw(): void;
  /** One command over a connection of its own. */
  ask(...args: string[]): Promise<unknown>;
  /** Stops the server, whatever its state, and deletes its directory. */
  discard(): Promise<void>;
};

const START_LIMIT_MS = 60_000;

/** Declares `suite` around one server, where there can be one. The server may be used from the first hook on. */
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

/** A server on a free port of the loopback interface that keeps nothing on disk. */
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

/** One command to the server of that URL. */
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
