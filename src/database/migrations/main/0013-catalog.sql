-- The indexer database has a copy of the collection records, and of the assets that the own order book lists. The copy is made from
-- `collection` and from the tables of this migration.

-- The assets of the own order book that have a fillable order, one row for each asset. The transaction that changes orders also updates this
-- table and `collection_book`. It first locks the rows of the collections in `collection_book`.
create table main.book_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- The latest expiry time of the asset's fillable orders; null if one of these orders never expires.
  expires_at    timestamptz,
  primary key (collection_id, asset)
);

-- The figures of a collection's orders in the own order book.
create table main.collection_book (
  collection_id text collate "C" primary key,
  -- The number of the collection's rows in `book_asset`.
  listed_assets bigint not null default 0 check (listed_assets >= 0),
  -- The lowest ask of the fillable orders, in base units; null if no order can be filled.
  floor_raw     numeric(78, 0)
);

-- The assets with an active order that cannot be filled before the time `starts_at`. When this time has passed, the expiry sweep updates the
-- figures of the asset and deletes the row.
create table main.book_start (
  starts_at     timestamptz not null,
  chain         text collate "C" not null,
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  primary key (starts_at, collection_id, asset)
);

-- The changes that are not copied to the indexer database yet. A row without an asset is a change of the collection itself. A row only says
-- what has changed. The copy reads the current state.
create table main.catalog_change (
  seq           bigint generated always as identity primary key,
  collection_id text collate "C" not null,
  asset         text collate "C"
);

insert into main.book_asset (collection_id, asset, expires_at)
select collection_id, token_id, case when bool_or(expires_at is null) then null else max(expires_at) end
from main.book_order
where status = 'active' and dormant is null and price_raw > 0 and (starts_at is null or starts_at <= now())
group by collection_id, token_id;

insert into main.book_start (starts_at, chain, collection_id, asset)
select distinct starts_at, chain, collection_id, token_id from main.book_order
where status = 'active' and dormant is null and price_raw > 0 and starts_at > now();

insert into main.collection_book (collection_id, listed_assets, floor_raw)
select collection_id, count(*), (
  select min(price_raw) from main.book_order
  where book_order.collection_id = book_asset.collection_id and status = 'active' and dormant is null and price_raw > 0
    and (starts_at is null or starts_at <= now()))
from main.book_asset group by collection_id;

insert into main.catalog_change (collection_id)
select id from main.collection union select collection_id from main.collection_book;
insert into main.catalog_change (collection_id, asset) select collection_id, asset from main.book_asset;
