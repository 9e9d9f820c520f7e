-- What the indexer database copies from this one: collection records, and which assets the own order book lists.

-- The assets that have an order which can be filled, one row for each, and their number for each collection.
create table main.book_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  primary key (collection_id, asset)
);

create table main.collection_book (
  collection_id text collate "C" primary key,
  listed_assets bigint not null default 0 check (listed_assets >= 0)
);

-- Changes that the indexer database has not copied yet. A row without an asset is a change of the collection itself. The rows name
-- what changed; the copy reads the current state.
create table main.catalog_change (
  seq           bigint generated always as identity primary key,
  collection_id text collate "C" not null,
  asset         text collate "C"
);

insert into main.book_asset (collection_id, asset)
select distinct collection_id, token_id from main.book_order
where status = 'active' and dormant is null and price_raw > 0;

insert into main.collection_book (collection_id, listed_assets)
select collection_id, count(*) from main.book_asset group by collection_id;

insert into main.catalog_change (collection_id)
select id from main.collection union select collection_id from main.collection_book;
insert into main.catalog_change (collection_id, asset) select collection_id, asset from main.book_asset;
