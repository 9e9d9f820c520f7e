// Measures uncached reads of `/v1` on the large set (`large-set.ts`). The time of each read is compared with three other times: the time of its
// SQL statements alone, sent by the same driver; the time of the same read of a small collection; and the time of
// the same read in a second set, which has 1 % of the size. Also measures cached reads, the lists of the explore interface and the disk space
// of each table, and looks for sequential scans and large sorts in the query plans. `LARGE_SHARE` (default 0.1) sets the size of the large set:
// with 1 it has 20 million sales. `LARGE_SALES` changes only the number of sales.

import { SHORT_POLICY } from '../../src/platform/http/cached-response.ts';
import { TOKEN_SORTS } from '../../src/market/explore/tokens.ts';
import { canStartPostgres } from '../../test/support/engines/postgres-server.ts';
import { listPlanFaults } from '../../test/support/engines/query-plans.ts';
import type { ColdRead, ReadCollection, RecordedStatement } from '../reads/cold-reads.ts';
import {
  COLD_PLAN_LIMITS,
  ColdReads,
  findReadCollections,
  LIST_READS,
  readsOfCollection,
  runStatements,
} from '../reads/cold-reads.ts';
import { load, startServer } from '../reads/hot-listings.ts';
import type { LargeDatabase } from './large-databases.ts';
import { withLargeDatabases } from './large-databases.ts';
import { compare, median, say } from '../support/measure.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

/** The largest accepted ratio of the time of a read to each time with which it is compared. */
const RATIO_AIM = 1.3;
/** The lowest accepted rate of cached reads, as a share of the rate on the set of 1 %. */
const HOT_AIM = 0.95;
/** The aim for the median of a list of the explore interface, in milliseconds. */
const EXPLORE_AIM_MS = 25;
const ROUNDS = 15;
const READS_A_ROUND = 20;
const WARM_UP_READS = 150;
const EXPLORE_ROUNDS = 25;
const HOT_ROUNDS = 5;

export async function benchLarge(): Promise<void> {
  if (!canStartPostgres()) return recordUnmeasured('large set', 'needs PostgreSQL on this machine');
  await withLargeDatabases(async ({ all, part }) => {
    await benchDisk(all);
    await benchColdReads({ all, part });
    await benchHotReads({ all, part });
    await benchExploreReads(all);
  });
}

/** A read of one set: its statements, and its measured costs, one for each round. */
type Side = { read: ColdRead; statements: RecordedStatement[]; of: LargeDatabase; costs: Costs[] };
/** `ms`: the elapsed time of one read. `cpuMs`: the CPU time of one read, the sum for this process and the database. */
type Cost = { ms: number; cpuMs: number };
type Costs = { service: Cost; statements: Cost };

async function benchColdReads({ all, part }: Record<'all' | 'part', LargeDatabase>): Promise<void> {
  const opened = { all: await ColdReads.open(all.database), part: await ColdReads.open(part.database) };
  const found = { all: await findReadCollections(all.database), part: await findReadCollections(part.database) };
  const toSide = async (set: 'all' | 'part', path: string): Promise<Side> => {
    const read = await opened[set].prepare(path);
    const statements = await opened[set].record(read);
    return { read, statements, of: set === 'all' ? all : part, costs: [] };
  };
  const pathOf = (collection: ReadCollection, name: string) => readsOfCollection(collection)[name] ?? '';
  const faults: string[] = [];
  try {
    for (const name of Object.keys(readsOfCollection(found.all.largest))) {
      const largest = await toSide('all', pathOf(found.all.largest, name));
      const tail = await toSide('all', pathOf(found.all.tail, name));
      const smaller = await toSide('part', pathOf(found.part.largest, name));
      await measure([largest, tail, smaller]);
      judgeStatements(`${name}, largest collection`, largest);
      judgeStatements(`${name}, small collection`, tail);
      judgeSides(`${name}, time for the largest collection as a multiple of the time for a small one`, largest, tail);
      judgeSides(`${name}, time on all as a multiple of the time on 1 %`, largest, smaller);
      for (const { statements } of [largest, tail])
        faults.push(...(await listPlanFaults(all.database, statements, COLD_PLAN_LIMITS)));
    }
    for (const [name, path] of Object.entries(LIST_READS)) {
      const [larger, smaller] = [await toSide('all', path), await toSide('part', path)];
      await measure([larger, smaller]);
      judgeStatements(name, larger);
      judgeSides(`${name}, time on all as a multiple of the time on 1 %`, larger, smaller);
      faults.push(...(await listPlanFaults(all.database, larger.statements, COLD_PLAN_LIMITS)));
    }
  } finally {
    for (const reads of Object.values(opened)) await reads.close();
  }
  for (const fault of faults) say(fault);
  const name = 'large set, sequential scans and large sorts in cold reads';
  judge({ name, figure: faults.length, unit: '', rounds: [], aim: { atMost: 0 } });
}

/** Measures the read and the statements of each side. The sides take turns in each round, so that other load on the machine affects all sides. */
async function measure(sides: readonly Side[]): Promise<void> {
  for (const { read, statements, of } of sides) {
    for (let reads = 0; reads < WARM_UP_READS; reads += 1) {
      await read();
      await runStatements(of.database, statements);
    }
  }
  const clocks = new Map<Side, () => number>();
  for (const side of sides) clocks.set(side, await side.of.cpuMs());
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of sides) {
      const clock = clocks.get(side) ?? (() => Number.NaN);
      const service = await costOf(side.read, clock);
      const statements = await costOf(() => runStatements(side.of.database, side.statements), clock);
      side.costs.push({ service, statements });
    }
  }
}

async function costOf(work: () => Promise<unknown>, databaseCpuMs: () => number): Promise<Cost> {
  const [startedAt, cpuBefore, databaseBefore] = [performance.now(), process.cpuUsage(), databaseCpuMs()];
  for (let reads = 0; reads < READS_A_ROUND; reads += 1) await work();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuMs = (user + system) / 1_000 + databaseCpuMs() - databaseBefore;
  return { ms: ms / READS_A_ROUND, cpuMs: cpuMs / READS_A_ROUND };
}

/** Compares a read with its statements alone. */
function judgeStatements(name: string, { costs }: Side): void {
  const pairs = costs.map(({ service, statements }) => [service, statements] as const);
  judgeRatio(`large set, ${name}, time as a multiple of its statements alone`, pairs);
}

/** Compares the times of the reads of two sides. */
function judgeSides(name: string, one: Side, other: Side): void {
  const pairs = one.costs.flatMap(({ service }, round) => {
    const compared = other.costs[round];
    return compared ? [[service, compared.service] as const] : [];
  });
  judgeRatio(`large set, ${name}`, pairs);
}

function judgeRatio(name: string, pairs: readonly (readonly [Cost, Cost])[]): void {
  const medianOf = (read: (pair: readonly [Cost, Cost]) => number) => median(pairs.map(read));
  const rounds = pairs.map(([one, other]) => one.ms / other.ms);
  const cpu = medianOf(([one, other]) => one.cpuMs / other.cpuMs);
  const times = [medianOf(([one]) => one.ms), medianOf(([, other]) => other.ms)];
  const cpuTimes = [medianOf(([one]) => one.cpuMs), medianOf(([, other]) => other.cpuMs)];
  const toText = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(' and ');
  judge({
    name,
    figure: median(rounds),
    unit: '',
    rounds,
    aim: { atMost: RATIO_AIM },
    beside: `${toText(times)} ms; CPU time ${toText(cpuTimes)} ms, ${cpu.toFixed(2)} times`,
  });
}

/** Reports for each large table how many bytes one row needs in the table and in its indexes. */
async function benchDisk({ database }: LargeDatabase): Promise<void> {
  const rows = await database.query(
    `select relname as name, reltuples as rows, pg_relation_size(oid) / reltuples as heap, pg_indexes_size(oid) / reltuples as indexes,
       pg_total_relation_size(oid) as bytes, (
         select string_agg(format('%s %s', index.relname, round((pg_relation_size(index.oid) / table_class.reltuples)::numeric)), ', '
           order by pg_relation_size(index.oid) desc)
         from pg_index join pg_class as index on index.oid = indexrelid where indrelid = table_class.oid) as each
     from pg_class as table_class where relnamespace = 'indexer'::regnamespace and relkind = 'r' and reltuples > 10000 order by bytes desc`,
  );
  for (const { name, rows: count, heap, indexes, each } of rows) {
    judge({
      name: `large set, disk of a row of ${String(name)}`,
      figure: Number(heap) + Number(indexes),
      unit: 'bytes',
      rounds: [],
      aim: null,
      beside: `${Number(count)} rows of ${Number(heap).toFixed(0)} bytes; indexes ${String(each)}`,
    });
  }
}

/** Compares the rates of cached reads of two services: one on the large set, one on the set of 1 %. */
async function benchHotReads({ all, part }: Record<'all' | 'part', LargeDatabase>): Promise<void> {
  const started = await Promise.all(
    [all, part].map(({ url }) => startServer(['service'], { DATABASE_URL: url, PORT: '0' })),
  );
  const [onAll, onPart] = started;
  try {
    const paths = await Promise.all(
      [all, part].map(async ({ database }) => pathOfWindow((await findReadCollections(database)).largest)),
    );
    const rate = (server: { url: string } | undefined, path = '') => load(`${server?.url}${path}`);
    await rate(onAll, paths[0]);
    await rate(onPart, paths[1]);
    const { a, b, ratio, ratios } = await compare(
      HOT_ROUNDS,
      () => rate(onAll, paths[0]),
      () => rate(onPart, paths[1]),
    );
    judge({
      name: 'large set, hot reads, rate on all as a share of the rate on 1 %',
      figure: ratio,
      unit: '',
      rounds: ratios,
      aim: { atLeast: HOT_AIM },
      beside: `${a.toFixed(0)} and ${b.toFixed(0)} requests/s`,
    });
  } finally {
    for (const server of started) await server.stop();
  }
}

const pathOfWindow = (collection: ReadCollection) => readsOfCollection(collection)['listing window'] ?? '';

/** Measures the lists of the largest collection, of small collections and of a wallet, read from the explore interface of a server. */
async function benchExploreReads({ url, size, database }: LargeDatabase): Promise<void> {
  const service = await startServer(['service'], { DATABASE_URL: url, PORT: '0' });
  try {
    const { largest } = await findReadCollections(database);
    const base = `${service.url}/explore/v1`;
    const collections = {
      // Each spelling of the address is another URL, so that no read finds a cached response.
      'largest collection': (round: number) => spell(largest.id, round),
      'small collections': (round: number) => `large-${Math.ceil(size.collections / 4) + round}`,
    };
    for (const [name, idOf] of Object.entries(collections)) {
      const pathOf = (round: number, path: string) => `${base}/collections/${idOf(round)}/${path}`;
      for (const sort of TOKEN_SORTS)
        await report(`tokens by ${sort}, ${name}`, (round) => pathOf(round, `tokens?sort=${sort}`));
      await report(`tokens not listed, ${name}`, (round) => pathOf(round, 'tokens?listed=false'));
      await report(`holders, ${name}`, (round) => pathOf(round, 'holders'));
    }
    const [row] = await database.query(`select owner from indexer.token where collection_id = $1 and asset = $2`, [
      largest.id,
      largest.asset,
    ]);
    const wallet = String(row?.['owner']);
    for (const list of ['tokens', 'listings'])
      await report(`${list} of a wallet`, (round) => `${base}/wallets/${spell(wallet, round)}/${list}`);
  } finally {
    await service.stop();
  }
}

/** Reads a different URL each round. Judges the median. A degraded response counts as a failure. */
async function report(name: string, urlOf: (round: number) => string): Promise<void> {
  const times: number[] = [];
  let degraded = 0;
  for (let round = 0; round <= EXPLORE_ROUNDS; round += 1) {
    const start = performance.now();
    const response = await fetch(urlOf(round));
    const body = await response.text();
    const ms = performance.now() - start;
    if (!response.ok) throw new Error(`${name}: ${response.status} ${body}`);
    // The first read prepares statements and connections, so it does not count.
    if (round > 0) times.push(ms);
    // Only a degraded response has so short a lifetime.
    if (response.headers.get('cache-control')?.includes(`s-maxage=${SHORT_POLICY.sharedMaxAgeS},`)) degraded += 1;
  }
  judge({
    name: `large set, ${name}, cold`,
    figure: median(times),
    unit: 'ms',
    rounds: times,
    aim: { atMost: EXPLORE_AIM_MS },
    failures: degraded,
  });
}

/** Spells the id differently in each round: a letter is in upper case if its bit of `round` is set. */
function spell(id: string, round: number): string {
  let bit = 0;
  return id.replaceAll(/[a-f](?=[0-9a-f]*$)/g, (letter) => ((round >> bit++) & 1 ? letter.toUpperCase() : letter));
}
