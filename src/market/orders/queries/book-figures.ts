// Maintains the figures of the own order book: the assets that have a fillable order, and for each collection their number and the lowest
// ask. Primary database. Every transaction that writes orders must call `lockBooks` for the collections before the first write, and
// `refreshBookAssets` for the assets after the last write.

import type { Queryable, Row } from '../../../platform/database/port.ts';
import {
  amount,
  boolean,
  column,
  list,
  nullable,
  rowDecoder,
  safeInteger,
  text,
} from '../../../platform/database/rows.ts';
import { fillableAt } from './fillable-orders.ts';

export type OrderedAsset = { collectionId: string; asset: string };

/**
 * Locks the books of the collections until the transaction ends, in the order of ids, so that two transactions cannot deadlock. The
 * transaction must already hold a lock on the chain cursor of the orders. A transaction may call this function twice only if its lock on
 * the cursor is exclusive. With a shared lock, the second call could deadlock with another transaction.
 */
export async function lockBooks(tx: Queryable, collectionIds: Iterable<string>): Promise<void> {
  const ids = [...new Set(collectionIds)].sort();
  if (ids.length === 0) return;
  await tx.query(
    `insert into main.collection_book (collection_id)
     select id from unnest($1::text[]) as touched (id) order by id collate "C" on conflict do nothing`,
    [ids],
  );
  await lockExistingBooks(tx, ids);
}

const decodeCollectionId = rowDecoder('order or book', { collectionId: column('collection_id', text) });

/** Like `lockBooks`, but adds no book. Returns the collections that have one: a removal of a collection deletes its book. */
export async function lockExistingBooks(tx: Queryable, collectionIds: Iterable<string>): Promise<Set<string>> {
  const locked = await tx.query(
    `select collection_id from main.collection_book where collection_id = any($1) order by collection_id for update`,
    [[...new Set(collectionIds)]],
  );
  return new Set(locked.map((row) => decodeCollectionId(row).collectionId));
}

export async function lockBooksOfOrders(tx: Queryable, orderIds: readonly string[]): Promise<void> {
  const rows = await tx.query(`select distinct collection_id from main.book_order where id = any($1)`, [orderIds]);
  await lockExistingBooks(
    tx,
    rows.map((row) => decodeCollectionId(row).collectionId),
  );
}

/**
 * Determines again which of the given assets have a fillable order, and updates the figures of their collections. Records each change in
 * main.catalog_change, for the copy to the indexer database. Must be called after the last write to the orders of these assets. `now` in
 * milliseconds.
 */
export async function refreshBookAssets(tx: Queryable, assets: readonly OrderedAsset[], now: number): Promise<void> {
  if (assets.length === 0) return;
  await tx.query(
    `with touched as (
       select distinct collection_id, asset from unnest($1::text[], $2::text[]) as touched (collection_id, asset)
     ), listed as (
       select touched.collection_id, touched.asset, orders.* from touched cross join lateral (
         select case when bool_or(expires_at is null) then null else max(expires_at) end as expires_at,
           min(price_raw) as price_raw, (array_agg(expires_at order by price_raw, id))[1] as price_until from main.book_order
         where collection_id = touched.collection_id and token_id = touched.asset and ${fillableAt('$3')}
         having count(*) > 0
       ) as orders
     ), removed as (
       delete from main.book_asset as stored using touched
       where stored.collection_id = touched.collection_id and stored.asset = touched.asset
         and not exists (select from listed where listed.collection_id = stored.collection_id and listed.asset = stored.asset)
       returning stored.collection_id, stored.asset
     ), written as (
       insert into main.book_asset as stored (collection_id, asset, expires_at, price_raw, price_until) select * from listed
       on conflict (collection_id, asset) do update
       set expires_at = excluded.expires_at, price_raw = excluded.price_raw, price_until = excluded.price_until
       where (stored.expires_at, stored.price_raw, stored.price_until)
         is distinct from (excluded.expires_at, excluded.price_raw, excluded.price_until)
       returning collection_id, asset, xmax = 0 as inserted
     ), starting as (
       insert into main.book_start (starts_at, chain, collection_id, asset)
       select distinct starts_at, chain, touched.collection_id, touched.asset from touched
       join main.book_order as planned on planned.collection_id = touched.collection_id and planned.token_id = touched.asset
       where side = 'ask' and status = 'active' and dormant is null and price_raw > 0 and starts_at > $3
       on conflict do nothing
     ), current as (
       select book.collection_id, book.floor_raw as floor_before, cheapest.price_raw as floor_raw,
         (select count(*) from written where written.collection_id = book.collection_id and inserted)
           - (select count(*) from removed where removed.collection_id = book.collection_id) as added
       from (select distinct collection_id from touched) as touched_book
       join main.collection_book as book on book.collection_id = touched_book.collection_id
       left join lateral (
         select price_raw from main.book_order where collection_id = book.collection_id and ${fillableAt('$3')}
         order by price_raw, id limit 1
       ) as cheapest on true
     ), counted as (
       update main.collection_book as book
       set listed_assets = book.listed_assets + current.added, floor_raw = current.floor_raw
       from current where current.collection_id = book.collection_id
         and (current.added <> 0 or current.floor_raw is distinct from current.floor_before)
       returning book.collection_id
     )
     insert into main.catalog_change (collection_id, asset)
     select collection_id, asset from removed union all select collection_id, asset from written
     union all select collection_id, null from counted
     -- Whether the book has an order of any status may have changed.
     union all select collection_id, null from current where floor_raw is null`,
    [assets.map((one) => one.collectionId), assets.map((one) => one.asset), new Date(now)],
  );
}

/**
 * Determines again the top bid of the given collections: the highest proceeds of the bids in the wrapped native currency for any of their tokens. Records each change in
 * main.catalog_change. Records when such a bid starts later. The books must be locked. Must be called after the last write to bids. `now` in milliseconds.
 */
export async function refreshTopBids(tx: Queryable, collectionIds: Iterable<string>, now: number): Promise<void> {
  const ids = [...new Set(collectionIds)];
  if (ids.length === 0) return;
  const open = `side = 'bid' and status = 'active' and dormant is null and coalesce(token_id, root, '') = '' and coalesce(currency, '') = ''
         and (expires_at is null or expires_at > $2)`;
  await tx.query(
    `with current as (
       select book.collection_id, best.proceeds_raw from main.collection_book as book left join lateral (
         select proceeds_raw from main.book_order where collection_id = book.collection_id and ${open}
           and (starts_at is null or starts_at <= $2)
         order by proceeds_raw desc, id limit 1
       ) as best on true where book.collection_id = any($1)
     ), changed as (
       update main.collection_book as book set top_bid_raw = current.proceeds_raw from current
       where current.collection_id = book.collection_id and current.proceeds_raw is distinct from book.top_bid_raw
       returning book.collection_id
     ), starting as (
       insert into main.book_start (starts_at, chain, collection_id, asset)
       select distinct starts_at, chain, collection_id, '' from main.book_order
       where collection_id = any($1) and ${open} and starts_at > $2 on conflict do nothing
     )
     insert into main.catalog_change (collection_id) select collection_id from changed`,
    [ids, new Date(now)],
  );
}

/**
 * The own order book of a collection at one moment. Amounts are in base units; null when there is no such order.
 */
export type OwnBook = {
  /** The lowest ask. */
  ask: bigint | null;
  /** The lowest buyer total of the orders that include their fees. */
  total: bigint | null;
  /** The lowest ask of the orders that do not include their fees. Their buyers also pay platform fee and royalty. */
  bareAsk: bigint | null;
  /** The number of assets that have a fillable order. */
  assets: number;
  /** The assets among these whose fillable orders have all started since the last expiry sweep. */
  started: readonly string[];
  /** Whether the book has an ask of the collection, of any status. */
  known: boolean;
};

const decodeOwnBook: (row: Row) => OwnBook & { id: string } = rowDecoder('collection_book', {
  id: text,
  ask: nullable(amount),
  total: nullable(amount),
  bareAsk: column('bare_ask', nullable(amount)),
  assets: safeInteger,
  started: list(text),
  known: boolean,
});

/**
 * The books of the collections by collection id, an entry for each. One statement reads a book, so its figures are those of one moment. The
 * maintained numbers of assets are corrected for orders that have expired or started since the last expiry sweep.
 */
export async function listOwnBooks(
  db: Queryable,
  collectionIds: readonly string[],
  now: number,
): Promise<Map<string, OwnBook>> {
  const cheapest = (raw: string, where: string, order: string) =>
    `(select ${raw} from main.book_order where collection_id = wanted.id and ${fillableAt('$2')}${where} order by ${order} limit 1)`;
  const rows = await db.query(
    `with started as (
       select distinct collection_id, asset from main.book_start as due
       where collection_id = any($1) and starts_at <= $2
         and not exists (select from main.book_asset as listed
           where listed.collection_id = due.collection_id and listed.asset = due.asset and (expires_at is null or expires_at > $2))
         and exists (select from main.book_order
           where book_order.collection_id = due.collection_id and token_id = due.asset and ${fillableAt('$2')})
     )
     select wanted.id, exists (select from main.book_order where collection_id = wanted.id and side = 'ask') as known,
       coalesce((select listed_assets from main.collection_book where collection_id = wanted.id), 0)
       - (select count(*) from main.book_asset where collection_id = wanted.id and expires_at <= $2)
       + (select count(*) from started where collection_id = wanted.id) as assets,
       (select coalesce(json_agg(asset), '[]') from started where collection_id = wanted.id) as started,
       ${cheapest('price_raw', '', 'price_raw, id')} as ask,
       ${cheapest('greatest(price_raw, buyer_total_raw)', ' and buyer_total_raw is not null', 'buyer_total_raw')} as total,
       ${cheapest('price_raw', ' and buyer_total_raw is null', 'price_raw, id')} as bare_ask
     from unnest($1::text[]) as wanted (id)`,
    [collectionIds, new Date(now)],
  );
  return new Map(rows.map(decodeOwnBook).map(({ id, ...book }) => [id, book]));
}

const decodeDueAsset = rowDecoder('book_order', {
  chain: text,
  collectionId: column('collection_id', text),
  asset: text,
});

/** Returns at most `limit` assets that have an order whose recorded start time is at or before `now`. */
export async function listStartedAssets(
  db: Queryable,
  now: number,
  limit: number,
): Promise<ReturnType<typeof decodeDueAsset>[]> {
  const rows = await db.query(
    `select chain, collection_id, asset from main.book_start where starts_at <= $1
     order by starts_at, collection_id, asset limit $2`,
    [new Date(now), limit],
  );
  return rows.map(decodeDueAsset);
}

/**
 * Records the fillable orders of the assets as listed, but only orders with a recorded start time at or before `now`. The earliest start comes
 * first. No row changes when an order starts, so no writer of orders records this change.
 */
export async function insertStartedOrders(tx: Queryable, assets: readonly OrderedAsset[], now: number): Promise<void> {
  await tx.query(
    `insert into main.market_change (kind, at, chain, collection_id, asset, price_raw, from_account, order_id)
     select 'list', planned.starts_at, planned.chain, planned.collection_id, planned.token_id, planned.price_raw, planned.seller, planned.id
     from main.book_start as due join main.book_order as planned
       on planned.collection_id = due.collection_id and planned.token_id = due.asset and planned.starts_at = due.starts_at
     where due.starts_at <= $3 and planned.side = 'ask' and planned.status = 'active' and planned.dormant is null and planned.price_raw > 0
       and (planned.expires_at is null or planned.expires_at > $3)
       and (due.collection_id, due.asset) in (select * from unnest($1::text[], $2::text[]))
     order by planned.starts_at, planned.id`,
    [assets.map((one) => one.collectionId), assets.map((one) => one.asset), new Date(now)],
  );
}

/**
 * Deletes the start times at or before `now` that are recorded for the assets. Must be called after `refreshBookAssets`, in the same
 * transaction, because until that call only these start times show that the assets have a fillable order.
 */
export async function deleteStarts(tx: Queryable, assets: readonly OrderedAsset[], now: number): Promise<void> {
  await tx.query(
    `delete from main.book_start where starts_at <= $3 and (collection_id, asset) in (
       select * from unnest($1::text[], $2::text[]))`,
    [assets.map((one) => one.collectionId), assets.map((one) => one.asset), new Date(now)],
  );
}
