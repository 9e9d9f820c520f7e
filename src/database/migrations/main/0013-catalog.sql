-- What the indexer database copies from this one: collection records, and which assets the own order book lists.

-- The assets that have an order which can be filled, one row for each, and the figures of each collection's orders. Kept in the
-- transaction that changes the orders, which locks the rows of `collection_book` first.
create table main.book_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- When the last of its orders expires; null when one never does.
  expires_at    timestamptz,
  primary key (collection_id, asset)
);

create table main.collection_book (
  collection_id text collate "C" primary key,
  listed_assets bigint not null default 0 check (listed_assets >= 0),
  -- The lowest ask.
  floor_raw     numeric(78, 0)
);

-- Assets with an active order that can first be filled at a later time.
create table main.book_start (
  starts_at     timestamptz not null,
  chain         text collate "C" not null,
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  primary key (starts_at, collection_id, asset)
);

-- Changes that the indexer database has not copied yet. A row without an asset is a change of the collection itself. The rows name
-- what changed; the copy reads the current state.
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
