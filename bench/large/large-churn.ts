// Measures writes on the large set (bench/large.ts has its settings). One benchmark compares imports of sales, listings and tokens into the
// set with imports into 1 % of it. The other benchmark simulates a day of a market with a clock of its own: listings are created, repriced,
// filled and cancelled, or expire. It compares the plans of uncached reads, the pages that they read and the sizes of tables and indexes after
// the day with those before the day. `CHURN_HOURS` (default 24) is the length of the day.

import { readConfig } from '../../src/service/config.ts';
import type { ServiceContext } from '../../src/service/context.ts';
import { createContext } from '../../src/service/context.ts';
import { createLog } from '../../src/platform/core/log.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { importRecords } from '../../src/intake/import.ts';
import { sweepExpired } from '../../src/service/workers/expiry.ts';
import { Random } from '../../sample/random.ts';
import { canStartPostgres } from '../../test/support/engines/postgres-server.ts';
import type { RecordedStatement } from '../reads/cold-reads.ts';
import { ColdReads, findReadCollections, LIST_READS, readsOfCollection } from '../reads/cold-reads.ts';
import type { LargeDatabase } from './large-databases.ts';
import { withLargeDatabases } from './large-databases.ts';
import { median, say, timeMs } from '../support/measure.ts';
import { toAsync, toChunks } from '../support/records.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const ROUNDS = 5;
const ROWS_A_ROUND = 10_000;
/** An import into the set must have at least this share of the rate of an import into 1 % of the set. */
const RATE_AIM = 0.8;
/** The number of pages that a read touches after the day, divided by the number before the day, may be at most this. */
const PAGES_AIM = 1.3;
const HOURS = Number(process.env['CHURN_HOURS'] ?? 24);
const HOUR_MS = 60 * 60_000;
/**
 * The share of all listings that change in a day. One third of them is filled, one third is repriced, and one third is cancelled. After each
 * fill the buyer lists the token. These new listings are about as many as those of the last day of the generated set (`DENSITY` of
 * bench/large-set-rows.ts).
 */
const CHANGED_A_DAY = 0.055;

type ImportedRecord = Record<string, unknown>;

export async function benchLargeImport(): Promise<void> {
  if (!canStartPostgres()) return recordUnmeasured('large set, import', 'needs PostgreSQL on this machine');
  await withLargeDatabases(benchImports);
}

export async function benchChurn(): Promise<void> {
  if (!canStartPostgres()) return recordUnmeasured('large set, churn', 'needs PostgreSQL on this machine');
  await withLargeDatabases(({ all }) => benchDay(all));
}

function contextOn(database: Database, clock: () => number): ServiceContext {
  return createContext({
    config: readConfig({}),
    log: createLog('warn'),
    clock,
    databases: { main: database, indexer: database },
  });
}

async function importAll(context: ServiceContext, records: readonly ImportedRecord[]): Promise<void> {
  const chunks = [...toChunks(records.values())];
  const { refused } = await importRecords(context, toAsync(chunks), { format: 'ndjson' });
  if (refused > 0) throw new Error(`${refused} records were rejected`);
}

/** Compares the rates of imports in alternating rounds. Each row belongs to a random collection, more often to a large one. */
async function benchImports(sets: Record<'all' | 'part', LargeDatabase>): Promise<void> {
  const targets = await Promise.all(
    [sets.all, sets.part].map(async ({ database }) => ({
      context: contextOn(database, Date.now),
      locations: await listLocations(database),
      random: new Random('large imports'),
    })),
  );
  const run = `${Date.now()}`;
  for (const kind of ['sale', 'listing', 'token'] as const) {
    const rates: [number, number][] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const pair: number[] = [];
      for (const { context, locations, random } of targets) {
        const records = Array.from({ length: ROWS_A_ROUND }, (_, row) =>
          toRecord(kind, { location: random.pick(locations), seed: `${run} ${round} ${row}`, random }),
        );
        pair.push(ROWS_A_ROUND / ((await timeMs(() => importAll(context, records))) / 1_000));
      }
      // The first round prepares statements and connections, so it does not count.
      if (round > 0) rates.push([pair[0] ?? Number.NaN, pair[1] ?? Number.NaN]);
    }
    const ratios = rates.map(([all, part]) => all / part);
    judge({
      name: `large set, import of ${kind}s, rate on all as a share of the rate on 1 %`,
      figure: median(ratios),
      unit: '',
      rounds: ratios,
      aim: { atLeast: RATE_AIM },
      beside: `${median(rates.map(([all]) => all)).toFixed(0)} and ${median(rates.map(([, part]) => part)).toFixed(0)} rows/s`,
    });
  }
  for (const { context } of targets) await context.close();
}

/** `tokens`: the token ids of the collection in the set are from 1 to this number. */
type Location = { chain: string; contractAddress: string; tokens: number };

/** Reads a thousand listings on EVM chains, and returns the location of the collection of each. Large collections are in the list often. */
async function listLocations(database: Database): Promise<Location[]> {
  const rows = await database.query(
    `select collection.chain, contract_address, figures.tokens from (
       select collection_id from indexer.listing where chain <> 'solana' limit 1000
     ) as listing join main.collection on id = collection_id
     join indexer.collection_figures as figures on figures.collection_id = listing.collection_id`,
  );
  return rows.map((row) => ({
    chain: String(row['chain']),
    contractAddress: String(row['contract_address']),
    tokens: Number(row['tokens']),
  }));
}

/** A new record. `seed` is unique. */
function toRecord(
  kind: 'sale' | 'listing' | 'token',
  { location: { tokens, ...location }, seed, random }: { location: Location; seed: string; random: Random },
): ImportedRecord {
  const account = () => `0x${toHex(random, 40)}`;
  const timestamp = new Date(Date.now() - 2 * HOUR_MS).toISOString();
  const price = `${random.integer(1, 900)}0000000000000000`;
  if (kind === 'token') {
    const tokenId = String(10 ** 9 + random.integer(0, 10 ** 12));
    return { kind, ...location, tokenId, name: `New ${seed}`, owner: account() };
  }
  const tokenId = String(random.integer(1, Math.max(1, tokens)));
  if (kind === 'listing') {
    return {
      kind,
      source: 'opensea',
      id: `new ${seed}`,
      ...location,
      tokenId,
      priceRaw: price,
      seller: account(),
      timestamp,
    };
  }
  const tx = `0x${toHex(random, 64)}`;
  return {
    kind,
    source: 'opensea',
    ...location,
    tokenId,
    price,
    seller: account(),
    buyer: account(),
    timestamp,
    tx,
    logIndex: 1,
  };
}

async function benchDay(set: LargeDatabase): Promise<void> {
  const { database, size } = set;
  const [row] = await database.query(
    `select extract(epoch from max(listed_at)) * 1000 as newest from indexer.listing where listed_at <= now()`,
  );
  const start = Math.max(Date.now(), Number(row?.['newest'] ?? 0));
  let now = start;
  const reads = await ColdReads.open(database, { now: () => now });
  const context = contextOn(database, () => now);
  try {
    const statements = await recordReads(database, reads);
    const before = await observe(database, statements);
    const counts = { changed: 0, expired: 0 };
    const ms = await timeMs(async () => {
      for (let hour = 1; hour <= HOURS; hour += 1) {
        now = start + hour * HOUR_MS;
        const changes = await listChanges(database, { hour, now, changed: (size.listings * CHANGED_A_DAY) / 24 });
        await importAll(context, changes);
        counts.changed += changes.length;
        counts.expired += await sweepExpired({
          main: database,
          indexer: database,
          chains: context.chains,
          clock: () => now,
        });
      }
    });
    say(
      `${HOURS} hours of a market: ${counts.changed} records imported and ${counts.expired} rows swept in ${(ms / 1_000).toFixed(0)} s`,
    );
    await database.query('analyze');
    reportDay(before, await observe(database, await recordReads(database, reads)));
    await reportUpkeep(database);
  } finally {
    await reads.close();
    await context.close();
  }
}

/**
 * Returns the records of one hour. In a random sample of listings, a third gets a new price, a third is cancelled, and a third is sold and
 * listed again.
 */
async function listChanges(
  database: Database,
  { hour, now, changed }: { hour: number; now: number; changed: number },
): Promise<ImportedRecord[]> {
  const [total] = await database.query(
    `select reltuples as rows from pg_class where oid = 'indexer.listing'::regclass`,
  );
  const percent = Math.min(100, (130 * changed) / Number(total?.['rows']));
  const rows = await database.query(
    `select listing.chain, contract_address, asset, listing.id, source, price_raw::text as price, seller, order_hash, expires_at
     from indexer.listing tablesample bernoulli (${percent}) repeatable (${hour}) join main.collection on collection.id = collection_id
     where status = 'active' and (expires_at is null or expires_at > $1) limit $2`,
    [new Date(now), Math.ceil(changed)],
  );
  const random = new Random(`churn ${hour}`);
  const timestamp = new Date(now - 1_000).toISOString();
  return rows.flatMap((row, number): ImportedRecord[] => {
    const isSolana = row['chain'] === 'solana';
    const location = {
      chain: row['chain'],
      contractAddress: row['contract_address'],
      [isSolana ? 'mint' : 'tokenId']: row['asset'],
    };
    const terms = {
      source: row['source'],
      id: row['id'],
      ...location,
      seller: row['seller'],
      orderHash: row['order_hash'],
    };
    const listing = { kind: 'listing', ...terms, priceRaw: row['price'], expiresAt: row['expires_at'], timestamp };
    if (number % 3 === 0) return [{ ...listing, priceRaw: toNextPrice(String(row['price']), random) }];
    if (number % 3 === 1) return [{ ...listing, status: 'cancelled' }];
    const buyer = isSolana ? row['seller'] : `0x${toHex(random, 40)}`;
    const sale = {
      kind: 'sale',
      source: row['source'],
      ...location,
      price: row['price'],
      seller: row['seller'],
      buyer,
      timestamp,
    };
    return [
      { ...listing, status: 'filled' },
      { ...sale, ...(isSolana ? {} : { tx: `0x${toHex(random, 64)}` }), listingId: row['id'] },
      { kind: 'token', ...location, owner: buyer },
      {
        kind: 'listing',
        source: row['source'],
        id: `churn-${now}-${number}`,
        ...location,
        priceRaw: toNextPrice(String(row['price']), random),
        seller: buyer,
        expiresAt: new Date(now + 30 * 24 * HOUR_MS).toISOString(),
        timestamp,
      },
    ];
  });
}

/** A price of 90 % to 130 % of the given one. */
function toNextPrice(price: string, random: Random): string {
  return ((BigInt(price) * BigInt(random.integer(90, 130))) / 100n).toString();
}

function toHex(random: Random, digits: number): string {
  const parts = Array.from({ length: digits / 8 }, () =>
    random
      .integer(0, 2 ** 32 - 1)
      .toString(16)
      .padStart(8, '0'),
  );
  return parts.join('');
}

type ReadName = string;

async function recordReads(database: Database, reads: ColdReads): Promise<Map<ReadName, RecordedStatement[]>> {
  const { largest, tail } = await findReadCollections(database);
  const paths = { ...readsOfCollection(largest), ...LIST_READS };
  const named = [
    ...Object.entries(paths),
    ...Object.entries(readsOfCollection(tail)).map(([name, path]) => [`${name} of a small collection`, path] as const),
  ];
  const recorded = new Map<ReadName, RecordedStatement[]>();
  for (const [name, path] of named) recorded.set(name, await reads.record(await reads.prepare(path)));
  return recorded;
}

/** `plans`: by read, what its statements scan. `pages`: by read, the pages of tables and indexes that it touches. `bytes`: by relation. */
type Observation = { plans: Map<ReadName, string>; pages: Map<ReadName, number>; bytes: Map<string, number> };

type PlanNode = {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
};

async function observe(database: Database, reads: ReadonlyMap<ReadName, RecordedStatement[]>): Promise<Observation> {
  const plans = new Map<ReadName, string>();
  const pages = new Map<ReadName, number>();
  for (const [name, statements] of reads) {
    const steps: string[] = [];
    let touched = 0;
    for (const { sql, params } of statements) {
      // The first execution marks dead entries of an index, and the second one shows what later reads find.
      await database.query(sql, params);
      const [row] = await database.query(`explain (analyze, buffers, timing off, format json) ${sql}`, params);
      for (const { Plan } of (row?.['QUERY PLAN'] ?? []) as { Plan: PlanNode }[]) {
        touched += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
        steps.push(...listScans(Plan));
      }
    }
    plans.set(name, [...new Set(steps)].sort(compareText).join(', '));
    pages.set(name, touched);
  }
  const sizes = await database.query(
    `select coalesce(index.indrelid::regclass::text || ' ', '') || pg_class.oid::regclass::text as name, pg_relation_size(pg_class.oid) as bytes
     from pg_class left join pg_index as index on index.indexrelid = pg_class.oid
     where relnamespace = 'indexer'::regnamespace and relkind in ('r', 'i') and pg_relation_size(pg_class.oid) > 2 ^ 20`,
  );
  return { plans, pages, bytes: new Map(sizes.map((row) => [String(row['name']), Number(row['bytes'])])) };
}

/** The scans of a plan: the indexes, and the tables that are scanned sequentially. The order of joins is left out. */
function listScans(node: PlanNode): string[] {
  const type = node['Node Type'];
  const scanned = node['Index Name'] ?? (type === 'Seq Scan' ? `${type} of ${node['Relation Name'] ?? ''}` : null);
  return [...(scanned === null ? [] : [scanned]), ...(node.Plans ?? []).flatMap(listScans)];
}

const compareText = (one: string, other: string) => (one < other ? -1 : 1);

function reportDay(before: Observation, after: Observation): void {
  const changed = [...after.plans].filter(([name, plan]) => before.plans.get(name) !== plan);
  for (const [name, plan] of changed) say(`${name} scanned ${before.plans.get(name)}; now ${plan}`);
  judge({
    name: 'large set, reads that scan other indexes after a day',
    figure: changed.length,
    unit: '',
    rounds: [],
    aim: { atMost: 0 },
    beside: `of ${after.plans.size} reads`,
  });
  const ratios = [...after.pages].map(([name, pages]) => ({
    name,
    pages,
    ratio: pages / (before.pages.get(name) ?? Number.NaN),
  }));
  for (const { name, pages, ratio } of ratios) say(`  ${name}: ${pages} pages, ${ratio.toFixed(2)} times those before`);
  const rounds = ratios.map(({ ratio }) => ratio);
  const name =
    'large set, pages that a read touches after a day as a multiple of the pages before, greatest multiple of all reads';
  judge({ name, figure: Math.max(...rounds), unit: '', rounds, aim: { atMost: PAGES_AIM } });
  const sum = (bytes: ReadonlyMap<string, number>) => [...bytes.values()].reduce((total, one) => total + one, 0);
  for (const [relation, bytes] of after.bytes) {
    const growth = bytes / (before.bytes.get(relation) ?? bytes) - 1;
    if (growth > 0.01) say(`  ${relation}: ${(bytes / 2 ** 20).toFixed(0)} MiB, ${(100 * growth).toFixed(1)} % more`);
  }
  judge({
    name: 'large set, disk space after a day as a multiple of the space before',
    figure: sum(after.bytes) / sum(before.bytes),
    unit: '',
    rounds: [],
    aim: null,
  });
}

/** Prints the dead rows of each table after the day, and how many dead rows start a vacuum of the table. */
async function reportUpkeep(database: Database): Promise<void> {
  const rows = await database.query(
    `select pg_class.relname as name, n_live_tup as live, n_dead_tup as dead, n_tup_upd as updated, n_tup_hot_upd as hot, autovacuum_count as vacuums,
       coalesce((select option_value from pg_options_to_table(reloptions) where option_name = 'autovacuum_vacuum_scale_factor'),
         current_setting('autovacuum_vacuum_scale_factor'))::float8 as factor
     from pg_stat_user_tables join pg_class on oid = relid where schemaname = 'indexer' and n_dead_tup + n_tup_upd > 1000 order by n_dead_tup desc`,
  );
  for (const { name, live, dead, updated, hot, vacuums, factor } of rows) {
    say(
      `  ${String(name)}: ${String(dead)} dead rows of ${String(live)}, ${String(updated)} updates (${String(hot)} of them wrote no index entries), ` +
        `${String(vacuums)} automatic vacuums; one begins at ${(50 + Number(factor) * Number(live)).toFixed(0)} dead rows`,
    );
  }
}
