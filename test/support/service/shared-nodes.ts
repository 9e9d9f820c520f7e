// Nodes of one service, for the tests of shared rate limits. The nodes share one embedded database and a clock that the test moves.
// Each node has its own data directory. The nodes trust X-Forwarded-For, so that a test can send requests from any client address.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { MARKETPLACE_LIMITS } from '../../../src/platform/http/rate-limit.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { until } from '../until.ts';
import { copyDatabase } from '../engines/embedded-template.ts';
import type { TestService } from './service.ts';
import { startTestService } from './service.ts';

export type TestNode = TestService & {
  /**
   * How the node counts requests, according to its status. `shared`: together with the other nodes. `alone`: without them, because Redis is
   * unavailable. Undefined: the node has no Redis URL.
   */
  counted(): Promise<'shared' | 'alone' | undefined>;
  /** How often the node has logged that Redis is unavailable, and that Redis is available again. */
  logCounts(): { away: number; back: number };
};

export type NodeResponse = { status: number; headers: Headers; body: any };

export type Nodes = {
  start(redisUrl: string | null): Promise<TestNode>;
  advance(ms: number): void;
  now(): number;
  close(): Promise<void>;
};

export async function openNodes(settings: Record<string, string> = {}): Promise<Nodes> {
  const dir = temporaryDirectory();
  await copyDatabase(path.join(dir, 'db'), 'migrated');
  const databases = await openDatabases(readConfig({ DATA_DIR: dir }), createLog('silent'));
  const main: Database = databases.main;
  let ahead = 0;
  let started = 0;
  const now = () => Date.now() + ahead;
  return {
    start: async (redisUrl) => {
      started += 1;
      const dataDir = path.join(dir, `node-${started}`);
      mkdirSync(dataDir);
      const own = { DATA_DIR: dataDir, ...(redisUrl !== null && { REDIS_URL: redisUrl }) };
      const service = await startTestService({
        settings: { TRUST_PROXY: 'true', ...settings, ...own },
        clock: now,
        limits: MARKETPLACE_LIMITS,
        open: async () => ({ main, store: main, indexer: main, close: () => Promise.resolve() }),
      });
      const counted = async () => (await service.operate('status', {})).body.result.rateLimits?.counted;
      const count = (words: string) => service.logged.filter((line) => line.includes(words)).length;
      return {
        ...service,
        counted,
        logCounts: () => ({ away: count('Redis is unavailable'), back: count('Redis is available again') }),
      };
    },
    advance: (ms) => void (ahead += ms),
    now,
    close: async () => {
      await databases.close();
    },
  };
}

const BACK_LIMIT_MS = 60_000;
const TRIES_MAX = 5;

export async function untilShared(nodes: readonly TestNode[]): Promise<void> {
  for (const node of nodes)
    await until(async () => (await node.counted()) === 'shared', BACK_LIMIT_MS, 'Redis is not back');
}

/**
 * Defines a test that is meaningful only while Redis responds in time. If a busy machine delays Redis, a node counts alone and logs that
 * Redis is unavailable. The test is then repeated. It runs at most TRIES_MAX times.
 */
export function testShared(name: string, nodes: () => readonly TestNode[], body: () => Promise<void>): void {
  test(name, async (t) => {
    for (let tries = 1; ; tries += 1) {
      await untilShared(nodes());
      const away = () => nodes().map((node) => node.logCounts().away);
      const before = away();
      const failure = await body().then(
        () => null,
        (error: unknown) => ({ error }),
      );
      if (String(before) === String(away()) || tries === TRIES_MAX) {
        if (failure) throw failure.error;
        return;
      }
      t.diagnostic('Redis did not respond in time: the test is repeated');
    }
  });
}

let addresses = 0;

/** A client address that no earlier request has used. */
export function newAddress(): string {
  addresses += 1;
  return `198.18.${addresses >> 8}.${addresses & 255}`;
}

export async function sendFrom(
  { url }: { url: string },
  target: string,
  { from = newAddress(), key, ...init }: RequestInit & { from?: string; key?: string } = {},
): Promise<NodeResponse> {
  const headers = { 'x-forwarded-for': from, ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const response = await fetch(`${url}${target}`, { ...init, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

export function tally(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
