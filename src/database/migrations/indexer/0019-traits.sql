-- Traits by number, for lists of the tokens that have several traits, and for the figures of each trait. Derived from token_trait, token,
-- listed_asset and own_asset. Kept in the transactions that write these tables, under the lock of the collection's figures.

-- Each trait that a token of the collection has. `tokens` and `listed` count these tokens, and those among them that are listed.
create table indexer.trait (
  id            integer generated always as identity primary key,
  collection_id text collate "C" not null,
  name          text collate "C" not null,
  value         text collate "C" not null,
  tokens        bigint not null default 0 check (tokens >= 0),
  listed        bigint not null default 0 check (listed >= 0),
  unique (collection_id, name, value)
);
create index trait_by_tokens on indexer.trait (collection_id, name, tokens desc, value);
create index trait_unused on indexer.trait (collection_id) where tokens = 0;

-- The traits of each token that is not burned and whose metadata was read, in the order of the metadata. May be empty.
create table indexer.trait_set (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  trait_ids     integer[] not null,
  primary key (collection_id, asset)
);

-- The listing of each token in trait_set that is listed: of the own order book, otherwise of the mirror. `expires_at`: when this price ends.
create table indexer.trait_listing (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  price_raw     numeric(78, 0) not null,
  expires_at    timestamptz,
  trait_ids     integer[] not null,
  primary key (collection_id, asset)
);
create index trait_listing_by_expiry on indexer.trait_listing (collection_id, expires_at) where expires_at is not null;

-- One row for each trait of each token in trait_listing: the list of a trait's tokens by price.
create table indexer.listed_trait (
  trait_id  integer not null,
  price_raw numeric(78, 0) not null,
  asset     text collate "C" not null
);

-- The numbers of rows in trait_set and trait_listing.
alter table indexer.collection_figures add column trait_sets bigint not null default 0 check (trait_sets >= 0),
  add column trait_listings bigint not null default 0 check (trait_listings >= 0);

-- Copied from the primary database.
alter table indexer.own_asset add column price_raw numeric(78, 0), add column price_until timestamptz;

-- The traits that are stored already. The prices of the own order book follow from the catalog changes of the primary database.
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
-- Built after the rows were inserted, because that takes less time.
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
