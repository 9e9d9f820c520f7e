-- The indexer database: what is observed elsewhere. It may live in another database than the primary, so nothing here
-- refers to the primary, and a failed indexer does not affect the primary.

-- Listings of external marketplaces, and the service's own listings on Solana.
create table indexer.listing (
  -- A digest of the fields that identify the listing.
  key             uuid primary key,
  id              text collate "C" not null,
  source          text collate "C" not null,
  chain           text collate "C" not null,
  collection_id   text collate "C" not null,
  asset           text collate "C" not null,
  -- In base units.
  price_raw       numeric(78, 0) not null check (price_raw >= 0),
  -- What the buyer pays in all, in base units. Null if the marketplace does not report it.
  buyer_total_raw numeric(78, 0) check (buyer_total_raw >= 0),
  seller          text not null,
  order_hash      text,
  status          text not null check (status in ('active', 'filled', 'cancelled', 'expired')),
  listed_at       timestamptz not null,
  -- Null if the listing does not expire.
  expires_at      timestamptz,
  tx              text
);

create index listing_active_by_price on indexer.listing (collection_id, price_raw, id, key)
  where status = 'active' and price_raw > 0;
create index listing_active_by_buyer_total on indexer.listing (collection_id, coalesce(buyer_total_raw, price_raw))
  where status = 'active' and price_raw > 0;
create index listing_by_asset on indexer.listing (collection_id, asset, price_raw);
create index listing_active_by_expiry on indexer.listing (expires_at)
  where status = 'active' and expires_at is not null;

-- Completed sales.
create table indexer.sale (
  -- A digest of the fields that identify the sale. Sales with the same time are sorted by `key`. A sale that is stored again gets the same
  -- key, so this order does not change.
  key           uuid primary key,
  source        text collate "C" not null,
  chain         text collate "C" not null,
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- The text that was received.
  price         text not null,
  -- The price in base units. Null if `price` cannot be interpreted.
  price_raw     numeric(78, 0),
  seller        text,
  buyer         text,
  sold_at       timestamptz not null,
  listing_id    text,
  tx            text,
  log_index     integer
);

create index sale_by_time on indexer.sale (collection_id, sold_at desc, key desc);
create index sale_by_asset on indexer.sale (collection_id, asset, sold_at desc, key desc);

-- Volume and number of the sales of a collection in each hour. The transaction that stores sales also updates these sums. A sale counts if its
-- price can be interpreted and is above zero, and if the sale is not a mint. `hour`: the start of the hour in UTC. `volume_raw`: in base units.
create table indexer.sale_hour (
  collection_id text collate "C" not null,
  hour          timestamptz not null,
  volume_raw    numeric not null,
  sales         bigint not null,
  primary key (collection_id, hour)
);

-- Volume and number of the same sales over all time. One row for each collection.
create table indexer.sale_total (
  collection_id text collate "C" primary key,
  volume_raw    numeric not null,
  sales         bigint not null
);

create table indexer.token (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  chain         text collate "C" not null,
  name          text,
  image         text,
  rarity_rank   bigint check (rarity_rank >= 1),
  owner         text,
  primary key (collection_id, asset)
);

-- Before the migration 0004, the tokens and the distinct owners of a collection without a stats record were counted from this index. Since then
-- these numbers are stored.
create index token_by_owner on indexer.token (collection_id, owner);

-- The newest stats record of each collection. `at`: the time of the record. `floor_raw`: in base units. A figure is null if the record lacks it.
create table indexer.collection_stats (
  collection_id text collate "C" primary key,
  owners        bigint,
  listed_count  bigint,
  supply        bigint,
  floor_raw     numeric(78, 0),
  at            timestamptz not null
);

-- The newest analytics record of each collection. `at`: the time of the record. `floor_raw`: in base units. The volumes are in native units. A
-- figure is null if the record lacks it.
create table indexer.collection_analytics (
  collection_id text collate "C" primary key,
  floor_raw     numeric(78, 0),
  volume_all_time    double precision,
  volume_seven_day   double precision,
  volume_day         double precision,
  sales_all_time     bigint,
  sales_seven_day    bigint,
  sales_day          bigint,
  at            timestamptz not null
);
