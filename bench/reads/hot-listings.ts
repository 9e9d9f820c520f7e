// Measures how many cached responses the service sends a second: pages of 25 and of 100 listings, compressed pages, and responses without a body
// (304). Each rate is compared with the rate of a bare node:http server that sends the same status, headers and bytes.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import type { Options } from 'autocannon';
import { SocketIntake } from '../../src/intake/socket-client.ts';
import { readFirstOutput, stopProgram } from '../support/child-program.ts';
import { compare, cpuMs, median } from '../support/measure.ts';
import { listedCollection, toAsync, toChunks } from '../support/records.ts';
import { judge } from '../support/verdict.ts';

const ROUNDS = 7;
const ROUND_S = 3;
const CONNECTIONS = 64;
const DEFAULT_CONNECTIONS = 32;
/** The lowest accepted rates, as multiples of the rate of bare node:http: for responses with a body, and for a 304. */
const RATIO_AIM = 0.95;
const UNCHANGED_AIM = 1;

export async function benchHotListings(): Promise<void> {
  await withListedService(async (service, dir) => {
    const page = (limit: number) => `/v1/collections/bench/listings?limit=${limit}`;
    const plain = { 'accept-encoding': 'identity' };
    const { etag } = await request(service.url + page(25), plain);
    const variants: Variant[] = [
      { name: '25 rows', path: page(25), headers: plain, aim: RATIO_AIM },
      { name: '100 rows', path: page(100), headers: plain, aim: RATIO_AIM },
      { name: '25 rows, br', path: page(25), headers: { 'accept-encoding': 'br' }, aim: RATIO_AIM },
      { name: '25 rows, gzip', path: page(25), headers: { 'accept-encoding': 'gzip' }, aim: RATIO_AIM },
      { name: '25 rows, 304', path: page(25), headers: { ...plain, 'if-none-match': etag }, aim: UNCHANGED_AIM },
    ];
    for (const variant of variants) await benchVariant(service, variant, dir);
  });
}

/**
 * Starts the service with the collection of `listedCollection` and without rate limits, and stops it after `work`. `dir` is removed then. The
 * database is embedded unless `env` names another.
 */
export async function withListedService(
  work: (service: MeasuredServer, dir: string) => Promise<void>,
  env: { DATABASE_URL?: string } = {},
): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const service = await startServer(['service'], { ...env, DATA_DIR: dir, PORT: '0' });
  try {
    await new SocketIntake(path.join(dir, 'mercat.sock')).import(
      toAsync(toChunks(listedCollection())),
      { format: 'ndjson' },
      () => undefined,
    );
    await work(service, dir);
  } finally {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

type MeasuredServer = { url: string; pid: number };
type Variant = { name: string; path: string; headers: Record<string, string>; aim: number };

/** Compares the service with a bare server that sends the same status, headers and bytes. */
async function benchVariant(service: MeasuredServer, { name, path: target, headers, aim }: Variant, dir: string) {
  const { status, sent, body } = await request(service.url + target, headers);
  const file = path.join(dir, 'same.json');
  writeFileSync(file, JSON.stringify({ status, headers: sent, body: body.toString('base64') }));
  const bare = await startServer(['bare', file], {});
  const options = { connections: CONNECTIONS, headers, status };
  try {
    const cpuMicros = { service: [] as number[], bare: [] as number[] };
    const measure = async (side: keyof typeof cpuMicros, { url, pid }: MeasuredServer) => {
      const before = cpuMs(pid);
      const rate = await load(url + target, options);
      cpuMicros[side].push(((cpuMs(pid) - before) * 1_000) / (rate * ROUND_S));
      return rate;
    };
    await load(service.url + target, options);
    await load(bare.url + target, options);
    const result = await compare(
      ROUNDS,
      () => measure('service', service),
      () => measure('bare', bare),
    );
    const [own, others] = [median(cpuMicros.service), median(cpuMicros.bare)];
    judge({
      name: `hot listings, ${name}, ${body.length} bytes, ${CONNECTIONS} connections, rate as a multiple of bare node:http`,
      figure: result.ratio,
      unit: '',
      rounds: result.ratios,
      aim: { atLeast: aim },
      beside:
        `${result.a.toFixed(0)} and ${result.b.toFixed(0)} requests/s; CPU time of a request ${own.toFixed(1)} and ${others.toFixed(1)} µs, ` +
        `so the multiple by CPU time is ${(others / own).toFixed(2)}`,
    });
  } finally {
    await bare.stop();
  }
}

/** `sent`: names and values of the headers that the service has chosen, without those that every server adds. */
async function request(url: string, headers: Record<string, string>) {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(url, { headers }, resolve).on('error', reject);
  });
  const body = await buffer(response);
  const sent = Object.entries(response.headers).filter(([name]) => !ADDED_HEADERS.has(name)) as [string, string][];
  return { status: response.statusCode ?? 0, etag: response.headers.etag ?? '', sent: sent.flat(), body };
}

const ADDED_HEADERS = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/** `status`: the expected status of each response, 200 by default. */
type LoadOptions = Partial<Options> & { status?: number };

/** The requests a second that a server completes under load. Throws if a request fails, or if a response has a status of another class than `status`. */
export async function load(url: string, { status = 200, ...more }: LoadOptions = {}): Promise<number> {
  const result = await autocannon({ url, connections: DEFAULT_CONNECTIONS, duration: ROUND_S, ...more });
  const expected = `${Math.floor(status / 100)}xx` as keyof typeof result;
  const others = (['1xx', '2xx', '3xx', '4xx', '5xx'] as const).filter((one) => one !== expected);
  const unexpected = others.reduce((sum, one) => sum + result[one], 0);
  if (unexpected > 0 || result.errors > 0)
    throw new Error(
      `under load ${unexpected} responses had no ${expected} status, and ${result.errors} requests got no response`,
    );
  return result.requests.total / result.duration;
}

type Server = { url: string; stop: () => Promise<unknown> };

export async function startServer(args: string[], env: Record<string, string>): Promise<Server & { pid: number }> {
  const program = fileURLToPath(new URL('../support/servers.ts', import.meta.url));
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
