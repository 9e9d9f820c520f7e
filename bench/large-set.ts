// A large, skewed set of rows for benchmarks on PostgreSQL. At scale 1 it has 20,000 collections, 6 million sales, 3 million listings and
// 2.8 million tokens. SQL makes the rows from their numbers, so every run has the same rows. The rows are inserted into the schema of a
// version without maintained figures. Later migrations then compute the figures, as in a real upgrade.

import type { Database } from '../src/database/port.ts';
import { listPendingMigrations, migrate, migrateWithin, SCHEMAS } from '../src/database/migrate.ts';
import { say, timeMs } from './measure.ts';

/** For each schema, the last migration before the maintained figures. */
const LAST_WITHOUT_FIGURES = { main: '0012', indexer: '0003' };

/** The number of rows of a collection at scale 1 is `largest / rank ^ exponent`. The largest collection has rank 1. */
const SALES = { largest: 221_000, exponent: 0.82 };
const LISTINGS = { largest: 110_000, exponent: 0.82 };
const TOKENS = { largest: 103_000, exponent: 0.82 };
const COLLECTIONS = 20_000;
/** Of the `collections` largest collections, those on EVM chains have up to `orders` own orders each. */
const OWN_ORDERS = { collections: 200, orders: 250 };
const CHAINS = ['ethereum', 'ethereum', 'ethereum', 'polygon', 'base', 'solana', 'apechain', 'abstract', 'ink'];

export type LargeSet = { collections: number; largestId: string };

/** Fills a new database. Sales end at `now`, in milliseconds. */
export async function createLargeSet(
  database: Database,
  { scale, now }: { scale: number; now: number },
): Promise<LargeSet> {
  for (const schema of SCHEMAS) {
    const { pending } = await listPendingMigrations(database, schema);
    const older = pending.filter((name) => name.slice(0, 4) <= LAST_WITHOUT_FIGURES[schema]);
    await database.transaction((tx) => migrateWithin(tx, schema, { only: new Set(older) }));
  }
  const collections = Math.round(COLLECTIONS * scale);
  const fillMs = await timeMs(() => fill(database, { scale, collections, now }));
  const upgradeMs = await timeMs(async () => {
    for (const schema of SCHEMAS) await migrate(database, schema, { contracts: true });
  });
  await database.query('vacuum analyze');
  say(
    `large set, scale ${scale}: ${await describe(database)}; filled in ${seconds(fillMs)}, figures computed in ${seconds(upgradeMs)}`,
  );
  const [largest] = await database.query(`select id from main.collection where slug = 'large-1'`);
  return { collections, largestId: String(largest?.['id']) };
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(0)} s`;

async function fill(
  database: Database,
  { scale, collections, now }: { scale: number; collections: number; now: number },
): Promise<void> {
  const size = ({ largest, exponent }: typeof SALES) => `ceil(${largest * scale} / rank ^ ${exponent})::int`;
  const indexes = await dropIndexes(database);
  await database.query(
    `create table public.large as
     select rank, chain, address, chain || '_' || lower(address) as id, chain = 'solana' as on_solana,
       ${size(SALES)} as sales, ${size(LISTINGS)} as listings, ${size(TOKENS)} as tokens
     from (
       select rank, (array[${CHAINS.map((chain) => `'${chain}'`).join(', ')}])[1 + abs(hashtext('chain ' || rank)) % ${CHAINS.length}] as chain,
         '0x' || md5('contract ' || rank) || left(md5('rest ' || rank), 8) as address
       from generate_series(1, ${collections}) as rank
     ) as ranked`,
  );
  for (const sql of rowsSql(new Date(now).toISOString())) await database.query(sql);
  for (const { definition } of indexes) await database.query(definition);
  await database.query('drop table public.large');
  await database.query('analyze');
}

/** The statements that fill the tables. Prices are spread around a level for each collection. */
function rowsSql(now: string): string[] {
  const price = (seed: string) =>
    `((1 + abs(hashtext('level ' || rank)) % 900) * (900 + abs(hashtext(${seed})) % 500))::numeric * 10 ^ 13`;
  const uuid = (seed: string) => `md5(${seed})::uuid`;
  const wallet = (seed: string) => `'0x' || md5('wallet ' || (abs(hashtext(${seed})) % 50000)) || '00000000'`;
  const asset = (number: string) =>
    `case when on_solana then md5('mint ' || rank || ' ' || ${number}) else (${number})::text end`;
  // Sales become denser towards now, over two years.
  const soldAt = `timestamptz '${now}' - interval '730 days' * power((abs(hashtext('time ' || rank || ' ' || n)) % 1000000) / 1000000.0, 2)`;
  return [
    `insert into main.collection (id, chain, contract_address, slug, name, launched, created_at, snapshot_volume, snapshot_supply)
     select id, chain, address, 'large-' || rank, 'Collection ' || rank, rank % 500 = 0, timestamptz '${now}' - rank * interval '1 hour', null, tokens
     from public.large`,
    `insert into indexer.token (collection_id, asset, chain, name, owner)
     select id, ${asset('n')}, chain, 'Token ' || n, ${wallet(`'owner ' || rank || ' ' || n`)}
     from public.large, generate_series(1, tokens) as n`,
    `insert into indexer.listing (key, id, source, chain, collection_id, asset, price_raw, seller, status, listed_at, expires_at)
     select ${uuid(`'listing ' || rank || ' ' || n`)}, 'l-' || rank || '-' || n, case n % 3 when 0 then 'magic-eden' else 'opensea' end,
       chain, id, ${asset(`1 + abs(hashtext('asset ' || rank || ' ' || n)) % tokens`)}, ${price(`'ask ' || rank || ' ' || n`)},
       ${wallet(`'seller ' || rank || ' ' || n`)}, 'active', timestamptz '${now}' - (n % 1000) * interval '1 hour',
       timestamptz '${now}' + (1 + n % 60) * interval '1 day'
     from public.large, generate_series(1, listings) as n`,
    `insert into indexer.sale (key, source, chain, collection_id, asset, price, price_raw, seller, buyer, sold_at, tx)
     select key, source, chain, id, asset, price_raw::text, price_raw, seller, buyer, sold_at, tx from (
       select ${uuid(`'sale ' || rank || ' ' || n`)} as key, case n % 3 when 0 then 'magic-eden' else 'opensea' end as source, chain, id,
         ${asset(`1 + abs(hashtext('sold ' || rank || ' ' || n)) % tokens`)} as asset, ${price(`'price ' || rank || ' ' || n`)} as price_raw,
         ${wallet(`'from ' || rank || ' ' || n`)} as seller, ${wallet(`'to ' || rank || ' ' || n`)} as buyer, ${soldAt} as sold_at,
         '0x' || md5('tx ' || rank || ' ' || n) || md5('x ' || rank || ' ' || n) as tx
       from public.large, generate_series(1, sales) as n
     ) as made`,
    `insert into indexer.sale_hour (collection_id, hour, volume_raw, sales)
     select collection_id, date_trunc('hour', sold_at, 'UTC'), sum(price_raw), count(*) from indexer.sale group by 1, 2`,
    `insert into indexer.sale_total (collection_id, volume_raw, sales)
     select collection_id, sum(volume_raw), sum(sales) from indexer.sale_hour group by 1`,
    `insert into main.book_order (id, collection_id, chain, contract_address, token_id, price_raw, seller, status, created_at)
     select id || '_' || n || '_1', id, chain, address, n::text, ${price(`'own ' || rank || ' ' || n`)}, ${wallet(`'own ' || rank || ' ' || n`)},
       'active', timestamptz '${now}' - n * interval '1 minute'
     from public.large, generate_series(1, least(tokens, ${OWN_ORDERS.orders})) as n
     where rank <= ${OWN_ORDERS.collections} and not on_solana`,
  ];
}

type DroppedIndex = { definition: string };

/**
 * Drops indexes and primary keys of the large tables, because building an index afterwards is faster than updating it for every row.
 * Returns the statements that create them again.
 */
async function dropIndexes(database: Database): Promise<DroppedIndex[]> {
  const tables = ['listing', 'sale', 'token', 'sale_hour'];
  const keys = await database.query(
    `select conrelid::regclass::text as name, conname, pg_get_constraintdef(oid) as definition from pg_constraint
     where contype = 'p' and connamespace = 'indexer'::regnamespace and conrelid::regclass::text = any($1)`,
    [tables.map((table) => `indexer.${table}`)],
  );
  const dropped: DroppedIndex[] = [];
  for (const key of keys) {
    const [table, name] = [String(key['name']), String(key['conname'])];
    await database.query(`alter table ${table} drop constraint ${name}`);
    dropped.push({ definition: `alter table ${table} add constraint ${name} ${String(key['definition'])}` });
  }
  const indexes = await database.query(
    `select indexname, indexdef from pg_indexes where schemaname = 'indexer' and tablename = any($1)`,
    [tables],
  );
  for (const index of indexes) {
    await database.query(`drop index indexer.${String(index['indexname'])}`);
    dropped.push({ definition: String(index['indexdef']) });
  }
  return dropped;
}

async function describe(database: Database): Promise<string> {
  const [row] = await database.query(
    `select (select count(*) from main.collection) as collections, (select count(*) from indexer.sale) as sales,
       (select count(*) from indexer.listing) as listings, (select count(*) from indexer.token) as tokens,
       pg_size_pretty(pg_database_size(current_database())) as size`,
  );
  return Object.entries(row ?? {})
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}
