// Measures uncached reads of the explore interface on tokens with traits: filters by traits, the traits of a collection, and wallets. On PostgreSQL
// the reads are compared with those of a set of a tenth of the size. `BENCH_SCALE` (default 1) scales the sets.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { Database } from '../src/database/port.ts';
import { createDatabase } from '../src/database/port.ts';
import { openEmbedded } from '../src/database/embedded/embedded.ts';
import { embeddedDirectoryOf } from '../src/database/embedded/location.ts';
import { Random } from '../sample/random.ts';
import { canStartPostgres, createTestDatabase, startOwnPostgres } from '../test/support/engines/postgres-server.ts';
import { startServer } from './hot-listings.ts';
import type { ExploreSet } from './explore-set.ts';
import { createExploreSet } from './explore-set.ts';
import { median, say, spread } from './measure.ts';

const ROUNDS = 40;
/** The aims for the median of a read, in milliseconds, and for its ratio to the read of a tenth of the size. */
const AIM_MS = { postgresql: 20, embedded: 60 };
const AIM_RATIO = 1.5;
const SMALLER = 0.1;

/** The beginning of a name, a name, a misspelt name, and a word of a name. */
const SEARCHES = ['harbour', 'harbour of foxes', 'habour of lamps', 'pines'];

type Medians = Map<string, number>;

export async function benchExplore(): Promise<void> {
  const scale = Number(process.env['BENCH_SCALE'] ?? 1);
  await benchEmbedded(scale * SMALLER);
  if (!canStartPostgres()) return say('explore set: needs PostgreSQL on this machine');
  const server = await startOwnPostgres({ settings: SERVER_SETTINGS });
  try {
    const smaller = await benchPostgres(await createTestDatabase(server.url), scale * SMALLER);
    const larger = await benchPostgres(await createTestDatabase(server.url), scale);
    for (const [name, ms] of larger) {
      const ratio = ms / (smaller.get(name) ?? Number.NaN);
      say(
        `explore, ${name}: ${ratio.toFixed(2)} times a tenth of the size; aim ${AIM_RATIO}: ${verdict(ratio, AIM_RATIO)}`,
      );
    }
  } finally {
    await server.discard();
  }
}

async function benchEmbedded(scale: number): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  try {
    const { pool, close } = await openEmbedded({ dir: embeddedDirectoryOf(dir) });
    const set = await fill(createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close }), scale);
    await measure(set, 'embedded', { DATA_DIR: dir });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A server of this size has more memory than the default, and few checkpoints. */
const SERVER_SETTINGS = { shared_buffers: '2GB', max_wal_size: '16GB', checkpoint_timeout: '1h' };
/** With the defaults of a session, the indexes and the lists of a large set are sorted in small files on the disk. */
const FILL_OPTIONS = '-c maintenance_work_mem=1GB -c work_mem=256MB -c synchronous_commit=off';

async function benchPostgres(url: string, scale: number): Promise<Medians> {
  const pool = new pg.Pool({ connectionString: url, options: FILL_OPTIONS });
  // The server stops while the last connections are closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  const set = await fill(createDatabase(pool, { engine: 'postgresql', name: 'main' }), scale);
  return measure(set, 'postgresql', { DATABASE_URL: url });
}

async function fill(database: Database, scale: number): Promise<ExploreSet & { traits: Traits }> {
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

async function measure(
  { largestId, wallet, tokens, traits }: ExploreSet & { traits: Traits },
  engine: keyof typeof AIM_MS,
  env: Record<string, string>,
): Promise<Medians> {
  const service = await startServer(['service'], { ...env, PORT: '0' });
  const medians: Medians = new Map();
  const random = new Random('explore');
  const list = `${service.url}/explore/v1/collections/${largestId}`;
  const filter = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([name, value]) => `traits[${encodeURIComponent(name)}]=${encodeURIComponent(value)}`).join('&');
  const some = (count: number) => {
    const names = [...traits.keys()].filter((name) => name !== 'Kind' && name !== 'Aura');
    return Array.from({ length: count }, () => {
      const [name = ''] = names.splice(random.integer(0, names.length - 1), 1);
      return random.pick(traits.get(name) ?? []);
    });
  };
  const common = (count: number) =>
    [...traits.values()].slice(2, 2 + count).flatMap(([first]) => (first ? [first] : []));
  const every = ['Kind', 'Spirit'] as const;
  const rare = ['Aura', 'Gold'] as const;
  const reads: [name: string, urlOf: (round: number) => string][] = [
    ['five random traits by price', () => `${list}/tokens?${filter(some(5))}`],
    ['two random traits by price', () => `${list}/tokens?${filter(some(2))}`],
    ['one random trait by price', (round) => `${list}/tokens?limit=${25 + round}&${filter(some(1))}`],
    ['five common traits by price', (round) => `${list}/tokens?limit=${25 + round}&${filter(common(5))}`],
    ['a rare trait and a common one', (round) => `${list}/tokens?limit=${25 + round}&${filter([rare, ...common(1)])}`],
    ['a trait of every token', (round) => `${list}/tokens?limit=${25 + round}&${filter([every])}`],
    ['a trait of every token and five random ones', () => `${list}/tokens?${filter([every, ...some(5)])}`],
    [
      'a trait that no token has',
      (round) => `${list}/tokens?limit=${25 + round}&${filter([['Hat', 'no'], ...common(1)])}`,
    ],
    ['five random traits by rank', () => `${list}/tokens?sort=rank&${filter(some(5))}`],
    ['five random traits by id', () => `${list}/tokens?sort=id&${filter(some(5))}`],
    [
      'two common traits by id, not listed',
      (round) => `${list}/tokens?sort=id&listed=false&limit=${25 + round}&${filter(common(2))}`,
    ],
    ['traits of the collection', (round) => `${list}/traits?limit=${25 + round}`],
    [
      'search of a collection',
      (round) => `${service.url}/explore/v1/search?q=${SEARCHES[round % 4]}&limit=${1 + round}`,
    ],
    ['search of a token', (round) => `${service.url}/explore/v1/search?q=harbour%201%20%23${1 + round}`],
    ['tokens of a wallet', (round) => `${service.url}/explore/v1/wallets/${wallet}/tokens?limit=${25 + round}`],
    ['listings of a wallet', (round) => `${service.url}/explore/v1/wallets/${wallet}/listings?limit=${25 + round}`],
  ];
  try {
    for (const [name, urlOf] of reads) {
      const { times, rows } = await readEach(urlOf);
      const ms = median(times);
      medians.set(name, ms);
      say(
        `explore, ${engine}, ${tokens} tokens, ${name}: ${ms.toFixed(1)} ms cold (${spread(times)}), ${rows} rows; aim ${AIM_MS[engine]} ms: ` +
          verdict(ms, AIM_MS[engine]),
      );
    }
  } finally {
    await service.stop();
  }
  return medians;
}

const verdict = (value: number, aim: number) => (value <= aim ? 'reached' : 'missed');

/** Reads a different URL each round. The first read prepares statements and connections, so it does not count. */
async function readEach(urlOf: (round: number) => string): Promise<{ times: number[]; rows: number }> {
  const times: number[] = [];
  let rows = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const url = urlOf(round);
    const start = performance.now();
    const response = await fetch(url);
    const text = await response.text();
    if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
    if (round === 0) continue;
    times.push(performance.now() - start);
    rows += (JSON.parse(text) as { data: unknown[] }).data.length;
  }
  return { times, rows };
}
