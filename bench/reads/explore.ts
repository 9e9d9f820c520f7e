// Measures uncached reads of the explore interface on tokens with traits: filters by traits, the traits of a collection, its
// history, searches and wallets. On PostgreSQL, each read is compared with the same read on a data set of a tenth of the size, in
// alternating rounds. `BENCH_SCALE` (default 1) scales the data sets.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { Database } from '../../src/platform/database/port.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import { openEmbedded } from '../../src/platform/database/embedded/embedded.ts';
import { embeddedDirectoryOf } from '../../src/platform/database/embedded/location.ts';
import { Random } from '../../sample/random.ts';
import { canStartPostgres, createTestDatabase, startOwnPostgres } from '../../test/support/engines/postgres-server.ts';
import { startServer } from './hot-listings.ts';
import type { ExploreSet } from './explore-set.ts';
import { createExploreSet, walletOf } from './explore-set.ts';
import { exactCpuMs, median, say } from '../support/measure.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const ROUNDS = 40;
/** The aims for the median time of a read in milliseconds, and for its ratio to the time of the same read on the smaller set. */
const AIM_MS = { postgresql: 20, embedded: 60 };
const AIM_RATIO = 1.5;
/** Two pages count as equally long if their numbers of rows differ by at most this share. */
const DIFFERENCE_MAX = 0.1;
/** A read is compared only if the pages of both sets are equally long in at least this share of the rounds. */
const COMPARED_MIN = 0.5;
const SMALLER = 0.1;
const DAY_MS = 24 * 60 * 60_000;

/** The beginning of a name, a name, a misspelt name, and a word of a name. */
const SEARCHES = ['harbour', 'harbour of foxes', 'habour of lamps', 'pines'];

export async function benchExplore(): Promise<void> {
  const scale = Number(process.env['BENCH_SCALE'] ?? 1);
  await benchEmbedded(scale * SMALLER);
  if (!canStartPostgres()) return recordUnmeasured('explore set', 'needs PostgreSQL on this machine');
  const server = await startOwnPostgres({ settings: SERVER_SETTINGS });
  try {
    const sets: MeasuredSet[] = [];
    for (const size of [scale, scale * SMALLER])
      sets.push({ ...(await fillPostgres(await createTestDatabase(server.url), size)), databasePid: server.pid() });
    await measure(sets);
  } finally {
    await server.discard();
  }
}

async function benchEmbedded(scale: number): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  try {
    const { pool, close } = await openEmbedded({ dir: embeddedDirectoryOf(dir) });
    const set = await fill(createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close }), scale);
    await measure([{ ...set, engine: 'embedded', env: { DATA_DIR: dir }, databasePid: null }]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A quarter of the memory, as PostgreSQL's manual advises, and few checkpoints. */
const SERVER_SETTINGS = {
  shared_buffers: `${Math.floor(os.totalmem() / 4 / 2 ** 20)}MB`,
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
};
/** With PostgreSQL's defaults, a session would sort the indexes and the lists of a large set in many small files on the disk. */
const FILL_OPTIONS = '-c maintenance_work_mem=1GB -c work_mem=256MB -c synchronous_commit=off';

async function fillPostgres(url: string, scale: number): Promise<Omit<MeasuredSet, 'databasePid'>> {
  const pool = new pg.Pool({ connectionString: url, options: FILL_OPTIONS });
  // The server stops while the last connections are closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  const set = await fill(createDatabase(pool, { engine: 'postgresql', name: 'main' }), scale);
  return { ...set, engine: 'postgresql', env: { DATABASE_URL: url } };
}

type FilledSet = ExploreSet & { traits: Traits };
/** `env`: the settings of a service on the set. `databasePid`: the database server. Null if the database is in the process of the service. */
type MeasuredSet = FilledSet & {
  engine: keyof typeof AIM_MS;
  env: Record<string, string>;
  databasePid: number | null;
};

async function fill(database: Database, scale: number): Promise<FilledSet> {
  try {
    const set = await createExploreSet(database, { scale, now: Date.now() });
    const rows = await database.query(
      `select name, value from indexer.trait where collection_id = $1 order by name, tokens desc`,
      [set.largestId],
    );
    return {
      ...set,
      traits: Map.groupBy(
        rows.map((row) => [String(row['name']), String(row['value'])] as const),
        ([name]) => name,
      ),
    };
  } finally {
    await database.close();
  }
}

type Traits = Map<string, (readonly [name: string, value: string])[]>;

/** A set with a service on it. `pids`: the service, and the database server unless it is in the process of the service. */
type Side = { set: MeasuredSet; reads: Reads; pids: number[] };

/** Starts a service on each set. Each read is measured on all sets in alternating rounds, and the first set is compared with the second. */
async function measure(sets: readonly MeasuredSet[]): Promise<void> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const sides: Side[] = [];
    for (const set of sets) {
      const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
      const service = await startServer(['service'], { DATA_DIR: dir, ...set.env, PORT: '0' });
      stops.push(() => service.stop().finally(() => rmSync(dir, { recursive: true, force: true })));
      const pids = [service.pid, ...(set.databasePid === null ? [] : [set.databasePid])];
      sides.push({ set, pids, reads: toReads(service.url, set) });
    }
    for (const name of sides[0]?.reads.keys() ?? []) {
      const measured = await readAlternately(name, sides);
      for (const one of measured) report(name, one);
      const [larger, smaller] = measured;
      if (larger && smaller) compareSizes(name, larger.rounds, smaller.rounds);
    }
  } finally {
    for (const stop of stops) await stop();
  }
}

/** The reads by name. Each function returns the URL of the read in a round. */
type Reads = Map<string, (round: number) => string>;

function toReads(base: string, { largestId, traits }: FilledSet): Reads {
  const random = new Random('explore');
  const list = `${base}/explore/v1/collections/${largestId}`;
  const filter = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([name, value]) => `traits[${encodeURIComponent(name)}]=${encodeURIComponent(value)}`).join('&');
  const names = [...traits.keys()].filter((name) => name !== 'Kind' && name !== 'Aura');
  /**
   * Picks `count` traits with different names. Each value is one of the `among` most frequent values of its name, but not one of the
   * `except` most frequent.
   */
  const some = (count: number, among = Number.MAX_SAFE_INTEGER, except = 0) => {
    const left = [...names];
    return Array.from({ length: count }, () => {
      const [name = ''] = left.splice(random.integer(0, left.length - 1), 1);
      return random.pick((traits.get(name) ?? []).slice(except, among));
    });
  };
  // Two rounds can have the same traits. Another page size makes the URL different, so the response does not come from the cache.
  const pageOf = (round: number) => `limit=${24 + (round % 4)}`;
  const historyOf = (interval: string, round: number) => {
    const from = new Date(Date.now() - 89 * DAY_MS - round);
    return `${base}/explore/v1/collections/${largestId}/history?interval=${interval}&from=${from.toISOString()}`;
  };
  const every = ['Kind', 'Spirit'] as const;
  const rare = ['Aura', 'Gold'] as const;
  return new Map<string, (round: number) => string>([
    ['five random traits by price', () => `${list}/tokens?${filter(some(5))}`],
    ['two random traits by price', () => `${list}/tokens?${filter(some(2))}`],
    ['one random trait by price', (round) => `${list}/tokens?${pageOf(round)}&${filter(some(1))}`],
    ['two common traits by price', (round) => `${list}/tokens?${pageOf(round)}&${filter(some(2, 3))}`],
    ['five common traits by price', (round) => `${list}/tokens?${pageOf(round)}&${filter(some(5, 2))}`],
    // The smaller set has at least four listed tokens with these traits too, so the pages are equally long.
    [
      'the first tokens with five common traits by price',
      (round) => `${list}/tokens?limit=${1 + (round % 4)}&${filter(some(5, 1))}`,
    ],
    ['a rare trait and a common one', (round) => `${list}/tokens?${pageOf(round)}&${filter([rare, ...some(1, 3)])}`],
    ['a trait of every token', (round) => `${list}/tokens?limit=${10 + round}&${filter([every])}`],
    ['a trait of every token and five random ones', () => `${list}/tokens?${filter([every, ...some(5)])}`],
    ['a trait that no token has', (round) => `${list}/tokens?${pageOf(round)}&${filter([['Kind', 'no'], ...some(1)])}`],
    ['five random traits by rank', () => `${list}/tokens?sort=rank&${filter(some(5))}`],
    ['two common traits by rank', (round) => `${list}/tokens?sort=rank&${pageOf(round)}&${filter(some(2, 3))}`],
    ['two less common traits by rank', (round) => `${list}/tokens?sort=rank&${pageOf(round)}&${filter(some(2, 8, 3))}`],
    ['five random traits by id', () => `${list}/tokens?sort=id&${filter(some(5))}`],
    [
      'two common traits by id, not listed',
      (round) => `${list}/tokens?sort=id&listed=false&${pageOf(round)}&${filter(some(2, 3))}`,
    ],
    ['traits of the collection', (round) => `${list}/traits?limit=${10 + round}`],
    ['search of a collection', (round) => `${base}/explore/v1/search?q=${SEARCHES[round % 4]}&limit=${1 + round}`],
    ['history of 90 days by day', (round) => historyOf('day', round)],
    ['history of 90 days by hour', (round) => historyOf('hour', round)],
    ['search of a token', (round) => `${base}/explore/v1/search?q=harbour%201%20%23${1 + round}`],
    ['tokens of a wallet', (round) => `${base}/explore/v1/wallets/${walletOf(round)}/tokens`],
    ['listings of a wallet', (round) => `${base}/explore/v1/wallets/${walletOf(round)}/listings`],
  ]);
}

type Round = { ms: number; cpuMs: number; rows: number };
/** `cpuMs` of a round: of the service and the database together. */
type Measured = { side: Side; rounds: Round[] };

function report(name: string, { side, rounds }: Measured): void {
  const { engine, tokens } = side.set;
  const rows = rounds.reduce((sum, round) => sum + round.rows, 0);
  judge({
    name: `explore, ${engine}, ${tokens} tokens, ${name}, cold`,
    figure: median(rounds.map(({ ms }) => ms)),
    unit: 'ms',
    rounds: rounds.map(({ ms }) => ms),
    aim: { atMost: AIM_MS[engine] },
    beside: `CPU time ${median(rounds.map(({ cpuMs }) => cpuMs)).toFixed(1)} ms, ${rows} rows`,
  });
}

/** Judges the ratio of the times. Rounds whose two pages are not equally long are left out, because additional rows take additional time. */
function compareSizes(name: string, larger: readonly Round[], smaller: readonly Round[]): void {
  const pairs = larger.flatMap((large, round) => {
    const small = smaller[round];
    const differs = !small || Math.abs(large.rows - small.rows) > DIFFERENCE_MAX * Math.max(large.rows, small.rows);
    return differs ? [] : [{ large, small }];
  });
  if (pairs.length < COMPARED_MIN * larger.length)
    return say(
      `explore, ${name}: not compared, only ${pairs.length} of ${larger.length} rounds have equally long pages`,
    );
  const ratioOf = (figure: (round: Round) => number) =>
    median(pairs.map(({ large }) => figure(large))) / median(pairs.map(({ small }) => figure(small)));
  judge({
    name: `explore, ${name}, time as a multiple of the time on a set of a tenth of the size`,
    figure: ratioOf(({ ms }) => ms),
    unit: '',
    rounds: pairs.map(({ large, small }) => large.ms / small.ms),
    aim: { atMost: AIM_RATIO },
    beside: `CPU time ${ratioOf(({ cpuMs }) => cpuMs).toFixed(2)} times, in ${pairs.length} rounds with equally long pages`,
  });
}

/** Reads another URL each round. The first read prepares statements and connections, so it does not count. */
async function readAlternately(name: string, sides: readonly Side[]): Promise<Measured[]> {
  const measured = sides.map((side): Measured => ({ side, rounds: [] }));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const one of measured) {
      const { reads, pids } = one.side;
      const url = reads.get(name)?.(round) ?? '';
      const cpuMs = () => pids.reduce((sum, pid) => sum + exactCpuMs(pid), 0);
      const cpuBefore = cpuMs();
      const start = performance.now();
      const response = await fetch(url);
      const text = await response.text();
      const ms = performance.now() - start;
      const cpuAfter = cpuMs();
      if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
      if (round === 0) continue;
      const { data } = JSON.parse(text) as { data: unknown[] };
      one.rounds.push({ ms, cpuMs: cpuAfter - cpuBefore, rows: data.length });
    }
  }
  return measured;
}
