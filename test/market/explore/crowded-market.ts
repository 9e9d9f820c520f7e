// Adds rows to the explore data set of the benchmarks. Every table that a list reads then has thousands of rows. Many of these rows belong
// to one wallet.

import type { Database } from '../../../src/platform/database/port.ts';

/** Owns thousands of tokens, and took part in thousands of changes. */
export const BUSY_WALLET = `0x${'b'.repeat(40)}`;
export const QUIET_WALLET = `0x${'c'.repeat(40)}`;

/** Inserts the rows. `id` is a collection with more than 5,000 tokens. `now` is in milliseconds. */
export async function crowd(db: Database, { id, now }: { id: string; now: number }): Promise<void> {
  const at = new Date(now).toISOString();
  const hour = `timestamptz '${at}' - n * interval '1 minute'`;
  const address = id.slice(id.indexOf('_') + 1);
  const wallet = `case when n % 3 = 0 then '${BUSY_WALLET}' else '0x' || lpad((n % 500)::text, 40, '0') end`;
  const statements = [
    `update indexer.token set owner = '${BUSY_WALLET}' where collection_id = '${id}' and length(asset) = 4`,
    // Other collections. Without them the table would be small, and PostgreSQL would read it sequentially instead of by an index.
    `insert into main.collection (id, chain, contract_address, slug, name, created_at)
     select 'base_0x' || md5(n::text) || lpad(n::text, 8, '0'), 'base', '0x' || md5(n::text) || lpad(n::text, 8, '0'), 'pier-' || n,
       (array['Harbour', 'Pier', 'Lantern', 'Anchor'])[1 + n % 4] || ' of ' || (array['Foxes', 'Lamps', 'Storms'])[1 + n % 3] || ' ' || n, '${at}'
     from generate_series(1, 4000) as n`,
    `insert into main.activity (position, kind, at, chain, collection_id, asset, price_raw, from_account, to_account, order_id, origin, fact, merged_at)
     select n, (array['list', 'reprice', 'fill', 'transfer', 'mint', 'cancel', 'expire', 'sale'])[1 + n % 8], ${hour}, 'ethereum',
       case when n % 2 = 0 then '${id}' else 'base_other' || n % 300 end, (n % 700)::text, n, ${wallet}, '0x' || lpad((n % 400)::text, 40, '0'),
       'order-' || n, 'indexer', md5('sale ' || n)::uuid::text, '${at}'
     from generate_series(1, 20000) as n`,
    `insert into indexer.sale (key, source, chain, collection_id, asset, price, price_raw, seller, buyer, sold_at)
     select md5('sale ' || n)::uuid, 'opensea', 'ethereum', '${id}', (n % 700)::text, '1', n, 's', 'b', ${hour} from generate_series(1, 8000) as n`,
    `insert into main.book_order (id, collection_id, chain, contract_address, token_id, price_raw, seller, status, created_at, order_hash)
     select 'own-' || n, '${id}', 'ethereum', '${address}', (3 * (1 + n % 3000))::text, n, ${wallet}, 'active', '${at}', '0x' || md5(n::text)
     from generate_series(1, 6000) as n`,
    `insert into indexer.own_asset (collection_id, asset, price_raw)
     select '${id}', (n * 3)::text, n from generate_series(1, 3000) as n on conflict do nothing`,
    `insert into indexer.listing (key, id, source, chain, collection_id, asset, price_raw, seller, status, listed_at, order_hash)
     select md5('busy ' || n)::uuid, 'busy-' || n, 'opensea', 'ethereum', '${id}', (n * 2)::text, n * 10 ^ 15,
       case when n % 4 = 0 then '${BUSY_WALLET}' else '0x' || lpad((n % 500)::text, 40, '0') end, 'active', '${at}', '0x' || md5('b' || n)
     from generate_series(1, 5000) as n`,
    `insert into indexer.listed_asset (collection_id, asset, listing_key, price_raw)
     select collection_id, asset, key, price_raw from indexer.listing where id like 'busy-%' on conflict do nothing`,
    `insert into indexer.market_hour (collection_id, hour, floor_close_raw)
     select 'base_pier-' || n % 20, ${hour.replace('minute', 'hour')}, n from generate_series(1, 20000) as n`,
    `insert into indexer.sale_hour (collection_id, hour, volume_raw, sales)
     select 'base_pier-' || n % 20, ${hour.replace('minute', 'hour')}, n, 1 from generate_series(1, 20000) as n`,
    `update indexer.collection_figures set listed_assets = (select count(*) from indexer.listed_asset where collection_id = '${id}' and not own),
       own_listed_assets = (select count(*) from indexer.own_asset where collection_id = '${id}')
     where collection_id = '${id}'`,
  ];
  statements.push(
    // A followed collection, in which one wallet holds units of thousands of tokens, and thousands of wallets hold units of one token.
    `insert into main.follow (collection_id, chain, contract_address, joined, created_at) values ('${id}', 'ethereum', '${address}', true, '${at}')`,
    `insert into main.holding (collection_id, token_id, holder, quantity)
     select '${id}', n::text, '${BUSY_WALLET}', 1 + n % 3 from generate_series(1, 4000) as n where n <> 77`,
    `insert into main.holding (collection_id, token_id, holder, quantity)
     select '${id}', '77', '0x' || lpad(to_hex(n * 7919), 40, md5(n::text)), 1 from generate_series(1, 3000) as n`,
  );
  for (const sql of statements) await db.query(sql);
  await db.query('vacuum analyze');
}
