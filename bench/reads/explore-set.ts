// Creates tokens with skewed traits, for benchmarks of the explore interface. At scale 1 there are 1 million tokens of 10 traits each, 200,000
// listings and 100,000 wallets. The largest collection has half of the tokens, and the others have 10,000 each. SQL derives each
// row from its number, so every run has the same rows. The tables that number the traits (`indexer.trait` and others) are filled from them.

import type { Database } from '../../src/platform/database/port.ts';
import { SCHEMAS, migrate } from '../../src/platform/database/migrate.ts';
import { say, timeMs } from '../support/measure.ts';

const TOKENS = 1_000_000;
const TOKENS_PER_LISTING = 5;
const TOKENS_PER_WALLET = 10;
const TOKENS_OF_SMALL = 10_000;
const TRAIT_NAMES = ['Kind', 'Aura', 'Hat', 'Eyes', 'Coat', 'Mouth', 'Fur', 'Ring', 'Tool', 'Field'];
const CHAIN = 'ethereum';

export type ExploreSet = { tokens: number; collections: number; largestId: string };

/** Fills a new database. `now` in milliseconds. */
export async function createExploreSet(
  database: Database,
  { scale, now, report = say }: { scale: number; now: number; report?: (line: string) => void },
): Promise<ExploreSet> {
  for (const schema of SCHEMAS) await migrate(database, schema);
  const tokens = Math.round(TOKENS * scale);
  const ranks = 1 + Math.max(1, Math.round(tokens / 2 / TOKENS_OF_SMALL));
  const fillMs = await timeMs(async () => {
    // `session_replication_role` switches off the triggers that would check the foreign keys of every row.
    await database.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query('set local statement_timeout = 0');
      for (const sql of rowsSql({ tokens, ranks, now: new Date(now).toISOString() })) await tx.query(sql);
    });
  });
  const traitsMs = await timeMs(() =>
    database.transaction(async (tx) => {
      await tx.query('set local statement_timeout = 0');
      for (const sql of TRAIT_TABLES_SQL) await tx.query(sql);
    }),
  );
  for (const sql of historySql(new Date(now).toISOString())) await database.query(sql);
  await database.query('vacuum analyze');
  const [row] = await database.query(
    `select (select id from main.collection where slug = 'explore-1') as id, pg_size_pretty(pg_database_size(current_database())) as size`,
  );
  report(
    `explore set, ${database.engine}, ${tokens} tokens in ${ranks} collections: ${String(row?.['size'])}; filled in ${seconds(fillMs)}, ` +
      `trait tables filled in ${seconds(traitsMs)}`,
  );
  return { tokens, collections: ranks, largestId: String(row?.['id']) };
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(0)} s`;
/** The address of a wallet by its number, from 0. */
export const walletOf = (number: number): string => `0x${String(number).padStart(40, '0')}`;

function rowsSql({ tokens, ranks, now }: { tokens: number; ranks: number; now: string }): string[] {
  const wallets = Math.max(1, Math.round(tokens / TOKENS_PER_WALLET));
  const ofSmall = Math.max(1, Math.floor(tokens / 2 / (ranks - 1)));
  const address = `'0x' || md5('explored ' || rank) || left(md5('rest ' || rank), 8)`;
  // SQL for a pseudo-random number from 0 to 1. The same seed gives the same number.
  const random = (seed: string) => `((hashtext(${seed}) & 1048575) / 1048576.0)`;
  const value = `case names.place
    when 1 then 'Spirit'
    when 2 then case when ${random(`'aura ' || rank || ' ' || n`)} < 0.002 then 'Gold' else 'None' end
    else names.name || ' ' || floor(20 * power(${random(`'trait ' || names.place || ' ' || rank || ' ' || n`)}, 2)) end`;
  return [
    `create table public.explored as
     select rank, '${CHAIN}_' || ${address} as id, ${address} as address,
       case when rank = 1 then ${tokens - ofSmall * (ranks - 1)} else ${ofSmall} end as tokens
     from generate_series(1, ${ranks}) as rank`,
    `insert into main.collection (id, chain, contract_address, slug, name, created_at, tokens_complete)
     select id, '${CHAIN}', address, 'explore-' || rank, 'Harbour of ' || (array['Foxes', 'Lamps', 'Storms', 'Kites', 'Pines'])[1 + rank % 5] || ' ' || rank,
       '${now}', true from public.explored`,
    `insert into indexer.token (collection_id, asset, chain, name, owner, rarity_rank)
     select id, n::text, '${CHAIN}', 'Harbour ' || rank || ' #' || n,
       '0x' || lpad((abs(hashtext('owner ' || rank || ' ' || n)) % ${wallets})::text, 40, '0'), n
     from public.explored, generate_series(1, tokens) as n order by rank, ${random(`'order ' || n`)}`,
    `insert into indexer.token_metadata (collection_id, asset, source, fetched_at)
     select collection_id, asset, 'chain', '${now}' from indexer.token`,
    // An index that is built afterwards takes less time than one that is updated for every row.
    'alter table indexer.token_trait drop constraint token_trait_pkey',
    'drop index indexer.token_trait_by_value',
    `insert into indexer.token_trait (collection_id, asset, name, value, kind, position)
     select id, n::text, names.name, ${value}, 'text', names.place - 1
     from public.explored, generate_series(1, tokens) as n,
       unnest(array[${TRAIT_NAMES.map((name) => `'${name}'`).join(', ')}]) with ordinality as names (name, place)`,
    'alter table indexer.token_trait add constraint token_trait_pkey primary key (collection_id, asset, name, value)',
    'create index token_trait_by_value on indexer.token_trait (collection_id, name, value, asset)',
    // Tokens with a gold aura are listed at ten times the price.
    `insert into indexer.listing (key, id, source, chain, collection_id, asset, price_raw, seller, status, listed_at, expires_at)
     select md5('listing ' || rank || ' ' || n)::uuid, 'e-' || rank || '-' || n, 'opensea', '${CHAIN}', id, n::text,
       (1000 + floor(9000 * ${random(`'price ' || rank || ' ' || n`)}))::numeric
         * case when ${random(`'aura ' || rank || ' ' || n`)} < 0.002 then 10 else 1 end * 10 ^ 14,
       '0x' || lpad((abs(hashtext('owner ' || rank || ' ' || n)) % ${wallets})::text, 40, '0'), 'active', '${now}',
       timestamptz '${now}' + (1 + n % 60) * interval '1 day'
     from public.explored, generate_series(1, tokens) as n where n % ${TOKENS_PER_LISTING} = 0`,
    `insert into indexer.listed_asset (collection_id, asset, listing_key, price_raw, expires_at)
     select collection_id, asset, key, price_raw, expires_at from indexer.listing`,
    `insert into indexer.holder (collection_id, owner, tokens)
     select collection_id, owner, count(*) from indexer.token group by collection_id, owner`,
    `insert into indexer.collection_figures (collection_id, tokens, listed_assets, holders, recorded, chain, created_at)
     select id, tokens, (select count(*) from indexer.listed_asset where collection_id = id),
       (select count(*) from indexer.holder where collection_id = id), true, '${CHAIN}', '${now}' from public.explored`,
    'drop table public.explored',
    'analyze',
  ];
}

/** The statements that fill the tables of numbered traits from the traits of the tokens. */
const TRAIT_TABLES_SQL = [
  `insert into indexer.trait (collection_id, name, value) select distinct collection_id, name, value from indexer.token_trait`,
  'analyze indexer.trait',
  'drop index indexer.trait_set_by_traits',
  `insert into indexer.trait_set (collection_id, asset, trait_ids)
   select collection_id, asset, array(
     select trait.id from indexer.token_trait as owned
     join indexer.trait on trait.collection_id = owned.collection_id and trait.name = owned.name and trait.value = owned.value
     where owned.collection_id = token.collection_id and owned.asset = token.asset order by owned.position, owned.name, owned.value)
   from indexer.token`,
  'create index trait_set_by_traits on indexer.trait_set using gin (trait_ids) with (fastupdate = off)',
  'analyze indexer.trait_set',
  `insert into indexer.trait_listing (collection_id, asset, price_raw, expires_at, trait_ids)
   select collection_id, asset, price_raw, expires_at, trait_ids
   from indexer.listed_asset join indexer.trait_set using (collection_id, asset)`,
  `insert into indexer.listed_trait (collection_id, trait_id, price_raw, asset)
   select collection_id, unnest(trait_ids), price_raw, asset from indexer.trait_listing`,
  `update indexer.trait set tokens = counted.tokens, listed = counted.listed
   from (
     select id, count(*) as tokens, count(trait_listing.asset) as listed
     from indexer.trait_set cross join unnest(trait_set.trait_ids) as id left join indexer.trait_listing using (collection_id, asset)
     group by id
   ) as counted
   where trait.id = counted.id`,
  `update indexer.collection_figures as figures
   set trait_sets = (select count(*) from indexer.trait_set where collection_id = figures.collection_id),
     trait_listings = (select count(*) from indexer.trait_listing where collection_id = figures.collection_id)`,
  `insert into indexer.collection_rarity (collection_id) select distinct collection_id from indexer.token_trait`,
];

/** The statements that insert a floor and sales of every collection for each hour of the last 90 days. */
function historySql(now: string): string[] {
  const hours = `indexer.collection_figures cross join generate_series(
       date_trunc('hour', timestamptz '${now}', 'UTC') - interval '90 days', '${now}', '1 hour') as hour`;
  const floor = (seed: string) => `1000 + abs(hashtext('${seed} ' || collection_id || hour)) % 100`;
  return [
    `insert into indexer.market_hour (collection_id, hour, floor_high_raw, floor_low_raw, floor_close_raw, listed)
     select collection_id, hour, (${floor('high')} + 100) * 10 ^ 14, (${floor('low')} - 100) * 10 ^ 14, (${floor('close')}) * 10 ^ 14, listed_assets
     from ${hours} order by hour on conflict do nothing`,
    `insert into indexer.sale_hour (collection_id, hour, volume_raw, sales)
     select collection_id, hour, (${floor('sale')}) * 10 ^ 15, 10 from ${hours} order by hour`,
  ];
}
