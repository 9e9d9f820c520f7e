-- Figures of each collection, kept up to date in the transaction that changes them, so that no read counts the rows of a collection.

-- Why an active listing is hidden: by the log of its followed chain, the listing cannot be filled. `pending`: the listing has not been compared
-- with the chain's log yet. `no-balance`: the seller does not hold the token. `not-approved`: the account that transfers the token for the order is
-- not approved. `counter` is allowed, but never stored. Null if the listing is not hidden, or not active.
alter table indexer.listing add column undeliverable text collate "C"
  constraint listing_undeliverable_check
  check (undeliverable in ('pending', 'no-balance', 'not-approved', 'counter'));

drop index indexer.listing_active_by_price;
drop index indexer.listing_active_by_buyer_total;
create index listing_listed_by_price on indexer.listing (collection_id, price_raw, id, key)
  where status = 'active' and price_raw > 0 and undeliverable is null;
create index listing_listed_by_buyer_total on indexer.listing (collection_id, coalesce(buyer_total_raw, price_raw))
  where status = 'active' and price_raw > 0 and undeliverable is null;

-- One row for each collection. Writers lock it before they write listings, tokens, holders or sales of the collection.
create table indexer.collection_figures (
  collection_id      text collate "C" primary key,
  -- The columns down to `has_editions` are maintained from rows of the indexer database.
  -- The number of assets with a listing in the mirror. Assets that the own order book lists do not count.
  listed_assets      bigint not null default 0 check (listed_assets >= 0),
  -- The lowest price of these assets in the mirror, in base units. Null if there are none.
  mirror_floor_raw   numeric(78, 0),
  -- The number of tokens that are not burned.
  tokens             bigint not null default 0 check (tokens >= 0),
  -- How many of these tokens have events in the chain's log.
  chain_tokens       bigint not null default 0 check (chain_tokens >= 0),
  -- The number of rows of the collection in `indexer.holder`.
  holders            bigint not null default 0 check (holders >= 0),
  -- True if several accounts may hold units of one token (ERC-1155). The holders are then not counted from the owners of tokens. The migration
  -- 0010 renames the column to `has_chain_holders`, and changes its meaning.
  has_editions       boolean not null default false,
  -- The columns down to `own_floor_raw` are copied from the primary database.
  -- Whether the collection has a collection record.
  recorded           boolean not null default false,
  -- Empty if the collection is on no chain.
  chain              text collate "C" not null default '',
  launched           boolean not null default false,
  created_at         timestamptz,
  -- The floor of the collection's snapshot, in base units.
  snapshot_floor_raw numeric(78, 0),
  -- The all-time volume of the collection's snapshot, in native units.
  snapshot_volume    double precision,
  -- The number of assets that the own order book lists.
  own_listed_assets  bigint not null default 0,
  -- The lowest ask of the own order book, in base units. Null if it lists no asset.
  own_floor_raw      numeric(78, 0),
  -- The ranking key of the list of collections by volume, in native units. Minus infinity if the volume is unknown.
  volume_rank        double precision not null default '-Infinity',
  -- The ranking key of the list of collections by floor, in base units. Minus infinity if the floor is unknown.
  floor_rank         numeric not null default '-Infinity',
  -- When the ranking keys must be computed again although no row has changed: a reported figure becomes too old, or a listing expires. Null for
  -- never.
  ranks_valid_until  timestamptz
);

create index collection_figures_by_volume on indexer.collection_figures (chain, launched desc, volume_rank desc, collection_id)
  where recorded;
create index collection_figures_by_floor on indexer.collection_figures (chain, launched desc, floor_rank desc, collection_id)
  where recorded;
create index collection_figures_by_time on indexer.collection_figures (chain, launched desc, created_at desc, collection_id)
  where recorded;
create index collection_figures_by_validity on indexer.collection_figures (ranks_valid_until)
  where ranks_valid_until is not null;

-- The listed assets: for each asset with listings in the mirror that a buyer can fill, the cheapest of these listings.
create table indexer.listed_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  listing_key   uuid not null,
  -- In base units.
  price_raw     numeric(78, 0) not null,
  -- When this listing expires. Null if it does not expire.
  expires_at    timestamptz,
  -- True if the own order book lists the asset too. The row then does not count in `collection_figures`.
  own           boolean not null default false,
  primary key (collection_id, asset)
);

create index listed_asset_by_price on indexer.listed_asset (collection_id, price_raw) where not own;
create index listed_asset_by_expiry on indexer.listed_asset (collection_id, expires_at) where expires_at is not null;

-- The assets that the own order book lists, copied from the primary database.
create table indexer.own_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- The latest expiry time of the asset's orders. Null if one of these orders does not expire.
  expires_at    timestamptz,
  primary key (collection_id, asset)
);

create index own_asset_by_expiry on indexer.own_asset (collection_id, expires_at) where expires_at is not null;

-- How many tokens of a collection each holder has. A holder without tokens has no row.
create table indexer.holder (
  collection_id text collate "C" not null,
  owner         text collate "C" not null,
  tokens        bigint not null check (tokens > 0),
  primary key (collection_id, owner)
);

create index holder_by_tokens on indexer.holder (collection_id, tokens desc, owner);

-- Which part of a collection's history a source has delivered without a gap. `source`: a chain, a vendor or `import`. `kind`: the part was
-- read from the chain (`chain`), read from the vendor (`scan`) or imported (`imported`).
create table indexer.coverage (
  collection_id text collate "C" not null,
  subject       text collate "C" not null check (subject in ('listings', 'sales', 'tokens')),
  source        text collate "C" not null,
  kind          text not null check (kind in ('chain', 'scan', 'imported')),
  -- Null if the part begins with the beginning of the history.
  from_time     timestamptz,
  to_time       timestamptz not null,
  primary key (collection_id, subject, source)
);

-- Computes the figures from the rows that are stored already. The columns that are copied from the primary database are filled later: a migration
-- of the primary database records all collections in `main.catalog_change`, and the service then copies them.
insert into indexer.listed_asset (collection_id, asset, listing_key, price_raw, expires_at)
select distinct on (collection_id, asset) collection_id, asset, key, price_raw, expires_at
from indexer.listing where status = 'active' and price_raw > 0
order by collection_id, asset, price_raw, id, key;

insert into indexer.holder (collection_id, owner, tokens)
select collection_id, owner, count(*) from indexer.token
where owner is not null and not burned group by collection_id, owner;

insert into indexer.collection_figures (collection_id)
select collection_id from indexer.listing union select collection_id from indexer.token
union select collection_id from indexer.sale_total union select collection_id from indexer.collection_stats
union select collection_id from indexer.collection_analytics;

update indexer.collection_figures as figures
set listed_assets = listed.assets, mirror_floor_raw = listed.floor_raw
from (select collection_id, count(*) as assets, min(price_raw) as floor_raw from indexer.listed_asset group by 1) as listed
where listed.collection_id = figures.collection_id;

update indexer.collection_figures as figures set tokens = counted.tokens, chain_tokens = counted.chain_tokens
from (select collection_id, count(*) as tokens, count(owner_block) as chain_tokens
      from indexer.token where not burned group by 1) as counted
where counted.collection_id = figures.collection_id;

update indexer.collection_figures as figures set holders = counted.holders
from (select collection_id, count(*) as holders from indexer.holder group by 1) as counted
where counted.collection_id = figures.collection_id;
