-- The indexer database: what is observed elsewhere. It may live in another database than the primary, so nothing here
-- refers to the primary, and a dead indexer leaves the primary whole.

-- Listings of external marketplaces, and the service's own on Solana. `key` is a digest of the listing's identity.
create table indexer.listing (
  key             uuid primary key,
  id              text collate "C" not null,
  source          text collate "C" not null,
  chain           text collate "C" not null,
  collection_id   text collate "C" not null,
  asset           text collate "C" not null,
  price_raw       numeric(78, 0) not null check (price_raw >= 0),
  buyer_total_raw numeric(78, 0) check (buyer_total_raw >= 0),
  seller          text not null,
  order_hash      text,
  status          text not null check (status in ('active', 'filled', 'cancelled', 'expired')),
  listed_at       timestamptz not null,
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

-- Completed sales. `price` is kept as it was received; `price_raw` is null when it cannot be interpreted. `key` is a
-- digest of the sale's identity, so that sales of one second have an order that every replay repeats.
create table indexer.sale (
  key           uuid primary key,
  source        text collate "C" not null,
  chain         text collate "C" not null,
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  price         text not null,
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

-- Volume and count of interpretable sales by collection and hour, kept in the transaction that stores the sales.
create table indexer.sale_hour (
  collection_id text collate "C" not null,
  hour          timestamptz not null,
  volume_raw    numeric not null,
  sales         bigint not null,
  primary key (collection_id, hour)
);

-- The same over all time, one row a collection.
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

-- Tokens and distinct owners by collection are counted from this index when no stats record tells them.
create index token_by_owner on indexer.token (collection_id, owner);

-- The collection-stats source: the newest record of each collection.
create table indexer.collection_stats (
  collection_id text collate "C" primary key,
  owners        bigint,
  listed_count  bigint,
  supply        bigint,
  floor_raw     numeric(78, 0),
  at            timestamptz not null
);

-- The analytics source: the newest record of each collection. Volumes are in native units.
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
