-- Tables that number the traits of each collection. From these tables the service reads the tokens that a filter by traits selects, and the
-- figures of each trait. The tables are derived from token_trait, token_metadata, token, listed_asset and own_asset. Each transaction that writes these source tables also
-- updates the derived tables, and holds the lock on the collection's figures.

-- One row for each trait of a collection. `id` is the number of the trait.
create table indexer.trait (
  id            integer generated always as identity primary key,
  collection_id text collate "C" not null,
  name          text collate "C" not null,
  value         text collate "C" not null,
  -- The number of tokens in trait_set that have the trait.
  tokens        bigint not null default 0 check (tokens >= 0),
  -- The number of tokens in trait_listing that have the trait.
  listed        bigint not null default 0 check (listed >= 0),
  unique (collection_id, name, value)
);
create index trait_by_tokens on indexer.trait (collection_id, name, tokens desc, value);
create index trait_unused on indexer.trait (collection_id) where tokens = 0;

-- One row for each token that is not burned and whose metadata was read. `trait_ids`: its traits, in the order of the metadata. Empty if the token
-- has no traits.
create table indexer.trait_set (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  trait_ids     integer[] not null,
  primary key (collection_id, asset)
);

-- One row for each token in trait_set that is listed. `price_raw`: the price of its cheapest own order, in base units. If the own order book does
-- not list the token, the price of its row in listed_asset. `expires_at`: when this order or listing expires; null if it does not expire.
create table indexer.trait_listing (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  price_raw     numeric(78, 0) not null,
  expires_at    timestamptz,
  trait_ids     integer[] not null,
  primary key (collection_id, asset)
);
create index trait_listing_by_expiry on indexer.trait_listing (collection_id, expires_at) where expires_at is not null;

-- One row for each trait of each token in trait_listing. For the list of the listed tokens with a given trait, in the order of prices.
create table indexer.listed_trait (
  trait_id  integer not null,
  price_raw numeric(78, 0) not null,
  asset     text collate "C" not null
);

-- `trait_sets`: the number of rows that the collection has in trait_set. `trait_listings`: the number of its rows in trait_listing.
alter table indexer.collection_figures add column trait_sets bigint not null default 0 check (trait_sets >= 0),
  add column trait_listings bigint not null default 0 check (trait_listings >= 0);

-- Both columns are copied from the primary database. `price_raw`: the price of the asset's cheapest own order, in base units. `price_until`: when
-- this order expires; null if it does not expire. `price_raw` is null until it is copied.
alter table indexer.own_asset add column price_raw numeric(78, 0), add column price_until timestamptz;

-- Fills the tables from the traits that are stored already. Tokens that the own order book lists get no row in trait_listing here, because their
-- prices are not copied yet. They get their rows when the service copies the prices from the primary database.
insert into indexer.trait (collection_id, name, value)
select distinct trait.collection_id, trait.name, trait.value from indexer.token_trait as trait
join indexer.token using (collection_id, asset) join indexer.token_metadata using (collection_id, asset)
where not burned and fetched_at is not null;
analyze indexer.trait;

insert into indexer.trait_set (collection_id, asset, trait_ids)
select collection_id, asset, array(
  select trait.id from indexer.token_trait as owned
  join indexer.trait on trait.collection_id = owned.collection_id and trait.name = owned.name and trait.value = owned.value
  where owned.collection_id = token.collection_id and owned.asset = token.asset order by owned.position, owned.name, owned.value)
from indexer.token join indexer.token_metadata using (collection_id, asset) where not burned and fetched_at is not null;
-- This index is built after the rows were inserted, because this takes less time than inserting into an existing index.
create index trait_set_by_traits on indexer.trait_set using gin (trait_ids) with (fastupdate = off);
analyze indexer.trait_set;

insert into indexer.trait_listing (collection_id, asset, price_raw, expires_at, trait_ids)
select collection_id, asset, price_raw, expires_at, trait_ids from indexer.listed_asset join indexer.trait_set using (collection_id, asset)
where not own;
analyze indexer.trait_listing;

insert into indexer.listed_trait (trait_id, price_raw, asset)
select unnest(trait_ids), price_raw, asset from indexer.trait_listing;
alter table indexer.listed_trait add primary key (trait_id, price_raw, asset);

update indexer.trait set tokens = counted.tokens, listed = counted.listed
from (
  select id, count(*) as tokens, count(trait_listing.asset) as listed
  from indexer.trait_set cross join unnest(trait_set.trait_ids) as id left join indexer.trait_listing using (collection_id, asset) group by id
) as counted
where trait.id = counted.id;

update indexer.collection_figures as figures
set trait_sets = (select count(*) from indexer.trait_set where collection_id = figures.collection_id),
  trait_listings = (select count(*) from indexer.trait_listing where collection_id = figures.collection_id)
where exists (select from indexer.trait_set where collection_id = figures.collection_id);
