// Measures how many cached pages of 25 and of 100 listings the service sends a second. The comparison is a bare node:http server that sends
// the same bytes and headers.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import type { Options } from 'autocannon';
import { SocketIntake } from '../src/intake/socket-client.ts';
import { readFirstOutput, stopProgram } from './child-program.ts';
import { compare, say, spread } from './measure.ts';
import { listedCollection, toChunks } from './records.ts';

const ROUNDS = 7;
const ROUND_S = 3;
const CONNECTIONS = 32;

export async function benchHotListings(): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const service = await startServer(['service'], { DATA_DIR: dir, PORT: '0' });
  try {
    await new SocketIntake(path.join(dir, 'mercat.sock')).import(
      toAsync(toChunks(listedCollection())),
      { format: 'ndjson' },
      () => undefined,
    );
    for (const limit of [25, 100])
      await benchPage(service.url, `/v1/collections/bench/listings?limit=${limit}`, dir, limit);
  } finally {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function benchPage(serviceUrl: string, page: string, dir: string, limit: number): Promise<void> {
  const response = await fetch(serviceUrl + page, { headers: { 'accept-encoding': 'identity' } });
  const body = await response.text();
  const headers = [...response.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)).flat();
  const file = path.join(dir, 'same.json');
  writeFileSync(file, JSON.stringify({ headers, body }));
  const bare = await startServer(['bare', file], {});
  try {
    await load(serviceUrl + page);
    await load(bare.url + page);
    const result = await compare(
      ROUNDS,
      () => load(serviceUrl + page),
      () => load(bare.url + page),
    );
    say(
      `hot listings, ${limit} rows, ${body.length} bytes: ${result.a.toFixed(0)} requests/s; bare node:http ${result.b.toFixed(0)}; ratio ${result.ratio.toFixed(2)} (${spread(result.ratios)})`,
    );
  } finally {
    await bare.stop();
  }
}

/** The requests a second that a server completes under load. Throws if a response is an error. */
export async function load(url: string, more: Partial<Options> = {}): Promise<number> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration: ROUND_S, ...more });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(
      `under load ${result.non2xx} responses had no 2xx status, and ${result.errors} requests got no response`,
    );
  return result.requests.total / result.duration;
}

type Server = { url: string; stop: () => Promise<unknown> };

export async function startServer(args: string[], env: Record<string, string>): Promise<Server & { pid: number }> {
  const program = fileURLToPath(new URL('./servers.ts', import.meta.url));
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await readFirstOutput(child);
  return {
    url: line.trim(),
    pid: child.pid ?? 0,
    stop: () => stopProgram(child),
  };
}

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
