// Creates a market with many bids, for benchmarks of top bids and offers. At scale 1 there are 1 million bids on 20,000 collections; a few collections have most of them.
// Half of the bids are for one token, three tenths for any token of the collection, and the others for a set of 50 tokens. The tokens of 600 collections are stored,
// and each of 40 wallets holds 500 of them. SQL derives each row from its number, so every run has the same rows.

import type { Database } from '../../src/platform/database/port.ts';
import { SCHEMAS, migrate } from '../../src/platform/database/migrate.ts';
import { say, timeMs } from '../support/measure.ts';

const BIDS = 1_000_000;
const COLLECTIONS = 20_000;
const STORED_COLLECTIONS = 600;
const TOKENS_EACH = 200;
const SET_SIZE = 50;
const BIDS_PER_SET = 100;
const SETS_MAX = 20;
const BIDDERS = 50_000;
const WALLETS = 40;
const TOKENS_PER_WALLET = 500;
const CHAIN = 'ethereum';
const OPERATOR = '0x0000000000000068f116a894984e2db1123eb395';

export type StoredToken = { collectionId: string; address: string; tokenId: string };
export type BidsSet = { bids: number; collectionIds: string[]; tokens: StoredToken[]; wallets: string[] };

const walletOf = (number: number): string => `0x${(10_000_000 + number).toString().padStart(40, '0')}`;

/** Fills a new database. `now` in milliseconds. */
export async function createBidsSet(
  database: Database,
  { scale, now }: { scale: number; now: number },
): Promise<BidsSet> {
  for (const schema of SCHEMAS) await migrate(database, schema);
  const fillMs = await timeMs(() =>
    database.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query('set local statement_timeout = 0');
      for (const sql of rowsSql(scale, new Date(now).toISOString())) await tx.query(sql);
    }),
  );
  await database.query('vacuum analyze');
  const [size] = await database.query<{ bids: string; size: string }>(
    `select count(*)::text as bids, pg_size_pretty(pg_database_size(current_database())) as size from main.book_order`,
  );
  say(`bids set: ${size?.bids} bids, ${size?.size}; filled in ${(fillMs / 1_000).toFixed(0)} s`);
  const rows = await database.query<{ id: string }>(`select id from public.bid_collection order by rank`);
  const tokens = await database.query<{ id: string; address: string; asset: string }>(
    `select id, address, asset from public.bid_collection join indexer.token on collection_id = id order by md5(id || asset) limit 40000`,
  );
  return {
    bids: Number(size?.bids),
    collectionIds: rows.map(({ id }) => id),
    tokens: tokens.map(({ id, address, asset }) => ({ collectionId: id, address, tokenId: asset })),
    wallets: Array.from({ length: WALLETS }, (_, index) => walletOf(index)),
  };
}

function rowsSql(scale: number, now: string): string[] {
  const collections = Math.round(COLLECTIONS * scale);
  const stored = Math.min(collections, STORED_COLLECTIONS);
  const address = `'0x' || md5('bids ' || rank) || left(md5('rest ' || rank), 8)`;
  // SQL for a pseudo-random number from 0 to 1. The same seed gives the same number.
  const random = (seed: string) => `((hashtext(${seed}) & 1048575) / 1048576.0)`;
  const root = (set: string) =>
    `'0x' || md5('set ' || rank || ' ' || ${set}) || md5('tokens ' || rank || ' ' || ${set})`;
  const token = (seed: string) => `(1 + floor(${TOKENS_EACH} * ${random(seed)}))::int::text`;
  const price = `(1000 + floor(9000 * ${random(`'price ' || rank || ' ' || n`)}))::numeric * 10 ^ 14`;
  return [
    `create table public.bid_collection as
     select rank, '${CHAIN}_' || ${address} as id, ${address} as address,
       (rank <= ${Math.round(stored / 3)} or rank % ${Math.max(1, Math.round(collections / stored))} = 0) as is_stored,
       greatest(1, round(${BIDS * scale} * power(rank, -0.6) / sum(power(rank, -0.6)) over ()))::int as bids
     from generate_series(1, ${collections}) as rank`,
    `alter table public.bid_collection add column sets int generated always as (least(${SETS_MAX}, 1 + bids / ${BIDS_PER_SET})) stored`,
    `insert into main.collection (id, chain, contract_address, slug, name, created_at)
     select id, '${CHAIN}', address, 'bids-' || rank, 'Bids ' || rank, '${now}' from public.bid_collection`,
    `insert into main.follow (collection_id, chain, contract_address, standard, from_block, read_to_block, joined, created_at)
     select id, '${CHAIN}', address, 'erc721', 0, 0, true, '${now}' from public.bid_collection`,
    `insert into main.token_set (collection_id, root, tokens, traits)
     select id, ${root('set')}, ${SET_SIZE}, jsonb_build_array(jsonb_build_object('name', 'Set', 'value', set::text))
     from public.bid_collection, generate_series(1, sets) as set`,
    `insert into main.token_set_member (collection_id, token_id, root)
     select id, (1 + (set * 7 + member * 3) % ${TOKENS_EACH})::text, ${root('set')}
     from public.bid_collection, generate_series(1, sets) as set, generate_series(1, ${SET_SIZE}) as member on conflict do nothing`,
    `insert into main.book_order (id, collection_id, chain, contract_address, token_id, root, price_raw, proceeds_raw, seller, status, dormant,
       created_at, expires_at, starts_at, order_hash, protocol_address, order_type, standard, quantity, counter, operator, side, seaport)
     select id || '_bid_' || hash, id, '${CHAIN}', address, case when kind < 0.5 then ${token(`'item ' || rank || ' ' || n`)} end,
       case when kind >= 0.8 then ${root('(1 + n % sets)')} end, price, price * 95 / 100, bidder, 'active',
       case when n % 10 = 0 then 'no-balance' end, '${now}', timestamptz '${now}' + (1 + n % 60) * interval '1 day',
       timestamptz '${now}' - interval '1 minute', hash, '${OPERATOR}', 0, 'erc721', 1, 0, '${OPERATOR}', 'bid', '{"parameters": {}, "signature": "0x"}'
     from (
       select *, ${random(`'kind ' || rank || ' ' || n`)} as kind, ${price} as price, '0x' || md5('bid ' || rank || ' ' || n) || md5('hash ' || rank || ' ' || n) as hash,
         '0x' || lpad((abs(hashtext('bidder ' || rank || ' ' || n)) % ${BIDDERS})::text, 40, '0') as bidder
       from public.bid_collection, generate_series(1, bids) as n
     ) as bid`,
    `insert into indexer.token (collection_id, asset, chain, name, owner)
     select id, n::text, '${CHAIN}', 'Bids ' || rank || ' #' || n, '${walletOf(0)}'
     from public.bid_collection, generate_series(1, ${TOKENS_EACH}) as n where is_stored`,
    `insert into indexer.collection_figures (collection_id, tokens, listed_assets, holders, recorded, chain, created_at)
     select id, ${TOKENS_EACH}, 0, 0, true, '${CHAIN}', '${now}' from public.bid_collection`,
    `insert into main.holding (collection_id, token_id, holder, quantity)
     select id, (1 + (wallet * 13 + n * 11) % ${TOKENS_EACH})::text, '0x' || lpad((10000000 + wallet)::text, 40, '0'), 1
     from generate_series(0, ${WALLETS - 1}) as wallet, generate_series(1, ${TOKENS_PER_WALLET}) as n
     join (select id, row_number() over (order by rank) as place, count(*) over () as places from public.bid_collection where is_stored) as held
       on true
     where place = 1 + (wallet * 31 + n * 7) % places on conflict do nothing`,
  ];
}
