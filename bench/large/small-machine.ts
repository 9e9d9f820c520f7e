// Measures the service and its database on a small machine with one core and 512 MiB. The database has 500 collections, a million tokens and
// 2 million sales. The service (which runs the workers too) and PostgreSQL are pinned to one core, and the load generator to the other cores.
// The memory of the service and PostgreSQL is measured, and not limited. Both have the settings of docs/deploying.md ("A small machine"). Before
// the cold reads, all files of the database are dropped from the cache of the system, because a small machine has little room for them.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import pg from 'pg';
import type { Database } from '../../src/platform/database/port.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import { SocketIntake } from '../../src/intake/socket-client.ts';
import type { PostgresServer } from '../../test/support/engines/postgres-server.ts';
import {
  canStartPostgres,
  createTestDatabase,
  listChildren,
  startOwnPostgres,
} from '../../test/support/engines/postgres-server.ts';
import { startServer } from '../reads/hot-listings.ts';
import { createLargeSet } from './large-set.ts';
import { median, proportionalMiB } from '../support/measure.ts';
import { importRows, toAsync, toChunks } from '../support/records.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const ROWS = { collections: 500, sales: 2_000_000, listings: 250_000, tokens: 1_000_000 };
/** The aims. */
const MEMORY_MAX_MIB = 512;
const HOT_P99_MAX_MS = 20;

const CORE = 0;
const ROUNDS = 7;
const ROUND_S = 4;
const CONNECTIONS = 32;
/** Hot requests a second during an import. */
const IMPORT_RATE = 300;
const IMPORTED_ROWS = 10_000;
const COLD_COLLECTIONS = 100;
const MEMORY_PERIOD_MS = 250;

/** What docs/deploying.md advises for such a machine. */
const POSTGRES_SETTINGS = {
  shared_buffers: '64MB',
  max_connections: '40',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  autovacuum_max_workers: '1',
  max_parallel_workers: '0',
  effective_cache_size: '192MB',
  max_wal_size: '1GB',
  jit: 'off',
};
const NODE_OPTIONS = '--max-old-space-size=160';
/** The rows are written with more memory than the small machine has. */
const FILL_OPTIONS = '-c maintenance_work_mem=512MB -c work_mem=64MB -c synchronous_commit=off';

export async function benchSmallMachine(): Promise<void> {
  if (!canStartPostgres()) return recordUnmeasured('small machine', 'needs PostgreSQL on this machine');
  if (!existsSync('/proc/self/smaps_rollup'))
    return recordUnmeasured('small machine', 'needs the memory figures of Linux');
  if (os.cpus().length < 2) return recordUnmeasured('small machine', 'needs a second core for the load generator');
  const server = await startOwnPostgres({ durable: true, settings: POSTGRES_SETTINGS });
  try {
    const url = await createTestDatabase(server.url);
    const database = openDatabase(url);
    await createLargeSet(database, { ...ROWS, now: Date.now() });
    await database.close();
    await server.stop();
    await server.start();
    await measureMachine(server, url);
  } finally {
    await server.discard();
  }
}

function openDatabase(url: string): Database {
  const pool = new pg.Pool({ connectionString: url, options: FILL_OPTIONS });
  // The server stops while the last connections are closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  return createDatabase(pool, { engine: 'postgresql', name: 'main' });
}

async function measureMachine(server: Pick<PostgresServer, 'pid'>, url: string): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const service = await startServer(['working'], {
    PRICE_SOURCES: 'none',
    DATABASE_URL: url,
    DATA_DIR: dir,
    PORT: '0',
    NODE_OPTIONS,
  });
  const first = server.pid() ?? 0;
  const parts = { service: () => [service.pid], database: () => [first, ...listChildren(first)] };
  const memory = new MemoryPeak(parts);
  const others = os.cpus().map((_, core) => core);
  try {
    for (const pid of Object.values(parts).flatMap((list) => list())) pin(pid, [CORE]);
    pin(process.pid, others.slice(1));
    await measureCold(url, service.url);
    await measureHot(service.url);
    await measureImport(path.join(dir, 'mercat.sock'), service.url);
    judge({
      name: 'small machine, memory of service and database, peak during all measurements of this machine',
      figure: memory.peakMiB,
      unit: 'MiB',
      rounds: [],
      aim: { atMost: MEMORY_MAX_MIB },
      beside: memory.describe(),
    });
  } finally {
    memory.stop();
    pin(process.pid, others);
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Records the most memory that the processes hold. A memory page that several processes share counts once (proportional set size). */
class MemoryPeak {
  peakMiB = 0;
  readonly #parts: Record<string, () => number[]>;
  readonly #peaks = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(parts: Record<string, () => number[]>) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#read(), MEMORY_PERIOD_MS);
  }

  describe(): string {
    return [...this.#peaks].map(([name, peak]) => `${name} at most ${peak.toFixed(0)} MiB`).join(', ');
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #read(): void {
    let sum = 0;
    for (const [name, list] of Object.entries(this.#parts)) {
      const mib = list().reduce((total, pid) => total + proportionalMiB(pid), 0);
      this.#peaks.set(name, Math.max(this.#peaks.get(name) ?? 0, mib));
      sum += mib;
    }
    this.peakMiB = Math.max(this.peakMiB, sum);
  }
}

/** Restricts all threads of a process to the cores. Its later children inherit this. */
function pin(pid: number, cores: readonly number[]): void {
  const { status, stderr } = spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores.join(','), String(pid)]);
  if (status !== 0) throw new Error(`taskset failed: ${String(stderr)}`);
}

const pageOf = (rank: number, page: string) => `/v1/collections/large-${rank}${page}`;

/** The hot reads: reads that the response cache serves. */
const HOT = [
  '/v1/collections?limit=20',
  ...['', '/listings?limit=25', '/floor', '/sales?limit=25'].map((page) => pageOf(1, page)),
];

async function measureHot(url: string): Promise<void> {
  const rounds: Load[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) rounds.push(await load(url, { duration: ROUND_S }));
  rounds.shift();
  judge({
    name: `small machine, p99 of hot reads over ${CONNECTIONS} connections`,
    figure: median(rounds.map(({ p99 }) => p99)),
    unit: 'ms',
    rounds: rounds.map(({ p99 }) => p99),
    aim: { atMost: HOT_P99_MAX_MS },
    failures: rounds.reduce((sum, { failed }) => sum + failed, 0),
    beside: `${median(rounds.map(({ rate }) => rate)).toFixed(0)} requests/s`,
  });
}

type Load = { rate: number; p99: number; failed: number };

async function load(url: string, options: { duration: number; overallRate?: number }): Promise<Load> {
  const requests = HOT.map((target) => ({ path: target }));
  const result = await autocannon({ url, connections: CONNECTIONS, requests, ...options });
  return {
    rate: result.requests.total / result.duration,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

async function measureCold(databaseUrl: string, url: string): Promise<void> {
  await evictFiles(databaseUrl);
  const times: number[] = [];
  let failures = 0;
  for (let rank = 1; rank <= COLD_COLLECTIONS; rank += 1) {
    for (const page of ['', '/listings', '/floor', '/sales']) {
      const startedAt = performance.now();
      const response = await fetch(url + pageOf(rank, page));
      await response.arrayBuffer();
      times.push(performance.now() - startedAt);
      if (!response.ok) failures += 1;
    }
  }
  const sorted = times.toSorted((one, other) => one - other);
  judge({
    name: 'small machine, cold reads, one after another, no file of the database in the cache of the system',
    figure: median(times),
    unit: 'ms',
    rounds: times,
    aim: null,
    failures,
    beside: `p99 ${(sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN).toFixed(1)} ms of ${times.length} reads`,
  });
}

/** Writes all changes of the database to its files, and drops the files from the cache of the system. */
async function evictFiles(databaseUrl: string): Promise<void> {
  const database = openDatabase(databaseUrl);
  try {
    await database.query('checkpoint');
    const [row] = await database.query('show data_directory');
    const files = ['-type', 'f', '-size', '+0', '-exec', 'dd', 'if={}', 'iflag=nocache', 'count=0', 'status=none', ';'];
    const { status, stderr } = spawnSync('find', [String(row?.['data_directory']), ...files]);
    if (status !== 0) throw new Error(`the files were not dropped from the cache: ${String(stderr)}`);
  } finally {
    await database.close();
  }
}

async function measureImport(socketPath: string, url: string): Promise<void> {
  for (const kind of ['sale', 'listing'] as const) {
    const chunks = toAsync(toChunks(importRows(kind, IMPORTED_ROWS, 0)));
    const reading = load(url, { duration: ROUND_S, overallRate: IMPORT_RATE });
    const summary = await new SocketIntake(socketPath).import(chunks, { format: 'ndjson' }, () => undefined);
    const { p99, failed } = await reading;
    judge({
      name: `small machine, import of ${IMPORTED_ROWS} ${kind}s during ${IMPORT_RATE} hot reads a second`,
      figure: IMPORTED_ROWS / summary.seconds,
      unit: 'rows/s',
      rounds: [],
      aim: null,
      failures: failed + IMPORTED_ROWS - summary.inserted,
      beside: `p99 of the hot reads ${p99.toFixed(0)} ms`,
    });
  }
}
