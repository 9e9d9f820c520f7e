// Statements of the copy from the primary to the indexer. The copy contains collection records, the assets that the own order book
// lists, and the top bids. `updateOwnFigures` and `updateOwnAssets` write to the indexer database. All other functions use the primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import {
  amount,
  boolean,
  column,
  double,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { CollectionAsset } from './figures.ts';

/** Must be called in the transaction that changes the collections. */
export async function insertCatalogChanges(tx: Queryable, collectionIds: readonly string[]): Promise<void> {
  if (collectionIds.length === 0) return;
  await tx.query(`insert into main.catalog_change (collection_id) select * from unnest($1::text[])`, [collectionIds]);
}

/** A change that has not been copied yet. `asset` is null for a change of the collection itself. */
export type CatalogChange = { seq: number; collectionId: string; asset: string | null };

const decodeChange = rowDecoder('catalog_change', {
  seq: safeInteger,
  collectionId: column('collection_id', text),
  asset: nullable(text),
});

/** Waits until no other transaction copies changes. The lock is held until the transaction ends. */
export async function lockCatalog(tx: Queryable): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('mercat catalog', 3))`);
}

/** The oldest first. */
export async function listCatalogChanges(db: Queryable, limit: number): Promise<CatalogChange[]> {
  const rows = await db.query(`select seq, collection_id, asset from main.catalog_change order by seq limit $1`, [
    limit,
  ]);
  return rows.map(decodeChange);
}

export async function deleteCatalogChanges(tx: Queryable, changes: readonly CatalogChange[]): Promise<void> {
  await tx.query(`delete from main.catalog_change where seq = any($1::bigint[])`, [changes.map(({ seq }) => seq)]);
}

/** `recorded`: the collection has a record. `chain` is the empty text if there is no record, or if the record has no chain. */
export type CatalogEntry = {
  collectionId: string;
  recorded: boolean;
  chain: string;
  launched: boolean;
  createdAt: number | null;
  snapshotFloorRaw: bigint | null;
  snapshotVolume: number | null;
  salesComplete: boolean;
  ownFloorRaw: bigint | null;
  /** The highest proceeds of the bids for any token of the collection, of all sources. */
  topBidRaw: bigint | null;
  /** The own order book has an ask of the collection, of any status. */
  ownKnown: boolean;
};

const decodeEntry = rowDecoder('collection', {
  collectionId: column('wanted_id', text),
  recorded: boolean,
  chain: text,
  launched: boolean,
  createdAt: column('created_at', nullable(timestamp)),
  snapshotFloorRaw: column('snapshot_floor_raw', nullable(amount)),
  snapshotVolume: column('snapshot_volume', nullable(double)),
  salesComplete: column('sales_complete', boolean),
  ownFloorRaw: column('floor_raw', nullable(amount)),
  topBidRaw: column('top_bid_raw', nullable(amount)),
  ownKnown: column('own_known', boolean),
});

export async function listCatalogEntries(db: Queryable, collectionIds: readonly string[]): Promise<CatalogEntry[]> {
  const rows = await db.query(
    `select wanted.id as wanted_id, collection.id is not null as recorded, coalesce(collection.chain, '') as chain,
       coalesce(collection.launched, false) as launched, collection.created_at, collection.snapshot_floor_raw,
       collection.snapshot_volume, coalesce(collection.sales_complete, false) as sales_complete, book.floor_raw, book.top_bid_raw,
       exists (select from main.book_order where book_order.collection_id = wanted.id and side = 'ask') as own_known
     from unnest($1::text[]) as wanted (id)
     left join main.collection on collection.id = wanted.id
     left join main.collection_book as book on book.collection_id = wanted.id`,
    [collectionIds],
  );
  return rows.map(decodeEntry);
}

/**
 * `expiresAt`: the latest expiry time of the asset's orders. Null if an order never expires, or if the asset is not listed. `raw`: the price
 * of the asset's cheapest order. `priceUntil`: when the cheapest order expires.
 */
export type OwnAsset = CollectionAsset & {
  listed: boolean;
  expiresAt: number | null;
  raw: bigint | null;
  priceUntil: number | null;
};

const decodeOwnAsset = rowDecoder('book_asset', {
  collectionId: column('wanted_id', text),
  asset: column('wanted_asset', text),
  listed: boolean,
  expiresAt: column('expires_at', nullable(timestamp)),
  raw: column('price_raw', nullable(amount)),
  priceUntil: column('price_until', nullable(timestamp)),
});

export async function listOwnAssets(db: Queryable, assets: readonly CollectionAsset[]): Promise<OwnAsset[]> {
  const rows = await db.query(
    `select wanted.id as wanted_id, wanted.asset as wanted_asset, book.asset is not null as listed, book.expires_at,
       book.price_raw, book.price_until
     from unnest($1::text[], $2::text[]) as wanted (id, asset)
     left join main.book_asset as book on book.collection_id = wanted.id and book.asset = wanted.asset`,
    [assets.map((one) => one.collectionId), assets.map((one) => one.asset)],
  );
  return rows.map(decodeOwnAsset);
}

/** The transaction must have locked the figures of the collections. */
export async function updateOwnFigures(tx: Queryable, entries: readonly CatalogEntry[]): Promise<void> {
  await tx.query(
    `update indexer.collection_figures as figures set recorded = entry.recorded, chain = entry.chain,
       launched = entry.launched, created_at = entry.created_at, snapshot_floor_raw = entry.snapshot_floor_raw,
       snapshot_volume = entry.snapshot_volume, sales_complete = entry.sales_complete, own_floor_raw = entry.own_floor_raw,
       own_known = entry.own_known, top_bid_raw = entry.top_bid_raw
     from json_to_recordset($1::json) as entry (collection_id text, recorded boolean, chain text, launched boolean,
       created_at timestamptz, snapshot_floor_raw numeric, snapshot_volume double precision, sales_complete boolean, own_floor_raw numeric,
       own_known boolean, top_bid_raw numeric)
     where figures.collection_id = entry.collection_id`,
    [
      JSON.stringify(
        entries.map((entry) => ({
          collection_id: entry.collectionId,
          recorded: entry.recorded,
          chain: entry.chain,
          launched: entry.launched,
          created_at: entry.createdAt === null ? null : new Date(entry.createdAt),
          snapshot_floor_raw: entry.snapshotFloorRaw?.toString() ?? null,
          snapshot_volume: entry.snapshotVolume,
          sales_complete: entry.salesComplete,
          own_floor_raw: entry.ownFloorRaw?.toString() ?? null,
          own_known: entry.ownKnown,
          top_bid_raw: entry.topBidRaw?.toString() ?? null,
        })),
      ),
    ],
  );
}

/** Writes which assets the own order book lists, and updates their number in the figures. The figures of the collections must be locked. */
export async function updateOwnAssets(tx: Queryable, assets: readonly OwnAsset[]): Promise<void> {
  if (assets.length === 0) return;
  await tx.query(
    `with copied as (
       select * from unnest($1::text[], $2::text[], $3::boolean[], $4::timestamptz[], $5::numeric[], $6::timestamptz[])
         as copied (collection_id, asset, listed, expires_at, price_raw, price_until)
     ), removed as (
       delete from indexer.own_asset as stored using copied
       where not listed and stored.collection_id = copied.collection_id and stored.asset = copied.asset
       returning stored.collection_id
     ), written as (
       insert into indexer.own_asset as stored (collection_id, asset, expires_at, price_raw, price_until)
       select collection_id, asset, expires_at, price_raw, price_until from copied where listed
       on conflict (collection_id, asset) do update
       set expires_at = excluded.expires_at, price_raw = excluded.price_raw, price_until = excluded.price_until
       where (stored.expires_at, stored.price_raw, stored.price_until)
         is distinct from (excluded.expires_at, excluded.price_raw, excluded.price_until)
       returning collection_id, xmax = 0 as inserted
     ), changed as (
       select collection_id, sum(change) as change from (
         select collection_id, -1 as change from removed
         union all select collection_id, 1 from written where inserted
       ) as changes group by collection_id
     )
     update indexer.collection_figures as figures set own_listed_assets = figures.own_listed_assets + changed.change
     from changed where changed.collection_id = figures.collection_id and changed.change <> 0`,
    [
      assets.map((one) => one.collectionId),
      assets.map((one) => one.asset),
      assets.map((one) => one.listed),
      assets.map((one) => (one.expiresAt === null ? null : new Date(one.expiresAt))),
      assets.map((one) => one.raw?.toString() ?? null),
      assets.map((one) => (one.priceUntil === null ? null : new Date(one.priceUntil))),
    ],
  );
}
