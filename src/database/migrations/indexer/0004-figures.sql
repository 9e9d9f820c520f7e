-- Figures of each collection, kept up to date in the transaction that changes them, so that no read counts the rows of a collection.

-- Why a listing that its marketplace reports as active is not listed: the followed chain shows that it cannot be filled. `pending`: the
-- chain's log has not been compared with the listing yet.
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
  -- Kept from the rows of the indexer. Assets that the own order book lists do not count in the first two.
  listed_assets      bigint not null default 0 check (listed_assets >= 0),
  mirror_floor_raw   numeric(78, 0),
  -- Tokens that are not burned, and how many of them the chain's log has.
  tokens             bigint not null default 0 check (tokens >= 0),
  chain_tokens       bigint not null default 0 check (chain_tokens >= 0),
  holders            bigint not null default 0 check (holders >= 0),
  -- Several accounts may hold units of one token (ERC-1155), so holders are not counted from the owners of tokens.
  has_editions       boolean not null default false,
  -- Copied from the primary database. Without a collection record, `recorded` is false.
  recorded           boolean not null default false,
  -- Empty: the collection is on no chain.
  chain              text collate "C" not null default '',
  launched           boolean not null default false,
  created_at         timestamptz,
  snapshot_floor_raw numeric(78, 0),
  snapshot_volume    double precision,
  own_listed_assets  bigint not null default 0,
  own_floor_raw      numeric(78, 0),
  -- What the list of collections is sorted by: native units, and base units. Minus infinity when unknown.
  volume_rank        double precision not null default '-Infinity',
  floor_rank         numeric not null default '-Infinity',
  -- When a ranking key is no longer right without any change of a row: a reported figure becomes too old, a listing expires.
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

-- The cheapest listed row of the mirror for each asset that has one.
create table indexer.listed_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  listing_key   uuid not null,
  price_raw     numeric(78, 0) not null,
  expires_at    timestamptz,
  -- The own order book lists the asset, so the mirrored row does not count.
  own           boolean not null default false,
  primary key (collection_id, asset)
);

create index listed_asset_by_price on indexer.listed_asset (collection_id, price_raw) where not own;
create index listed_asset_by_expiry on indexer.listed_asset (collection_id, expires_at) where expires_at is not null;

-- The assets that the own order book lists, copied from the primary database.
create table indexer.own_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- When the last of its orders expires; null when one never does.
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

-- Which part of a collection's history a source has covered without a gap.
create table indexer.coverage (
  collection_id text collate "C" not null,
  subject       text collate "C" not null check (subject in ('listings', 'sales', 'tokens')),
  source        text collate "C" not null,
  kind          text not null check (kind in ('chain', 'scan', 'imported')),
  -- Null: from the beginning.
  from_time     timestamptz,
  to_time       timestamptz not null,
  primary key (collection_id, subject, source)
);

-- The figures of the rows that are stored already. What the primary database contributes follows from its catalog changes.
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
