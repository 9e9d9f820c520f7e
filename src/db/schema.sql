-- Generated from the migrations (npm run generate). For reading: the migrations are what is applied.

create schema main;

create table main.book_order (
  id text collate "C" not null,
  collection_id text collate "C" not null,
  chain text collate "C" not null,
  contract_address text collate "C" not null,
  token_id text collate "C" not null,
  price_raw numeric(78,0) not null,
  seller text not null,
  status text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  tx text,
  seaport jsonb,
  constraint book_order_price_raw_check CHECK ((price_raw >= (0)::numeric)),
  constraint book_order_status_check CHECK ((status = ANY (ARRAY['active'::text, 'filled'::text, 'cancelled'::text, 'expired'::text]))),
  constraint book_order_pkey PRIMARY KEY (id)
);
CREATE INDEX book_order_active_by_expiry ON main.book_order USING btree (expires_at) WHERE ((status = 'active'::text) AND (expires_at IS NOT NULL));
CREATE INDEX book_order_active_by_price ON main.book_order USING btree (collection_id, price_raw, id) WHERE ((status = 'active'::text) AND (price_raw > (0)::numeric));
CREATE INDEX book_order_active_by_token ON main.book_order USING btree (collection_id, token_id) WHERE ((status = 'active'::text) AND (price_raw > (0)::numeric));

create table main.collection (
  id text collate "C" not null,
  chain text collate "C",
  contract_address text collate "C",
  slug text collate "C",
  name text not null,
  image text,
  banner text,
  description text,
  token_standard text,
  royalty_bps integer,
  launched boolean default false not null,
  created_at timestamp with time zone not null,
  snapshot_floor_raw numeric(78,0),
  snapshot_volume double precision,
  snapshot_supply bigint,
  snapshot_owners bigint,
  constraint collection_royalty_bps_check CHECK (((royalty_bps >= 0) AND (royalty_bps <= 10000))),
  constraint collection_snapshot_floor_raw_check CHECK ((snapshot_floor_raw >= (0)::numeric)),
  constraint collection_snapshot_owners_check CHECK ((snapshot_owners >= 0)),
  constraint collection_snapshot_supply_check CHECK ((snapshot_supply >= 0)),
  constraint collection_pkey PRIMARY KEY (id),
  constraint collection_slug_key UNIQUE (slug)
);
CREATE INDEX collection_by_contract ON main.collection USING btree (contract_address) WHERE (contract_address IS NOT NULL);

create table main.last_buyer_floor (
  collection_id text collate "C" not null,
  floor_raw numeric(78,0) not null,
  observed_at timestamp with time zone not null,
  constraint last_buyer_floor_pkey PRIMARY KEY (collection_id)
);

create table main.migration (
  name text collate "C" not null,
  digest text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migration_pkey PRIMARY KEY (name)
);

create table main.rate (
  symbol text collate "C" not null,
  usd double precision not null,
  at timestamp with time zone not null,
  constraint rate_usd_check CHECK ((usd > (0)::double precision)),
  constraint rate_pkey PRIMARY KEY (symbol)
);

create table main.secret (
  name text collate "C" not null,
  value bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint secret_pkey PRIMARY KEY (name)
);

create schema indexer;

create table indexer.collection_analytics (
  collection_id text collate "C" not null,
  floor_raw numeric(78,0),
  volume_all_time double precision,
  volume_seven_day double precision,
  volume_day double precision,
  sales_all_time bigint,
  sales_seven_day bigint,
  sales_day bigint,
  at timestamp with time zone not null,
  constraint collection_analytics_pkey PRIMARY KEY (collection_id)
);

create table indexer.collection_stats (
  collection_id text collate "C" not null,
  owners bigint,
  listed_count bigint,
  supply bigint,
  floor_raw numeric(78,0),
  at timestamp with time zone not null,
  constraint collection_stats_pkey PRIMARY KEY (collection_id)
);

create table indexer.listing (
  key uuid not null,
  id text collate "C" not null,
  source text collate "C" not null,
  chain text collate "C" not null,
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  price_raw numeric(78,0) not null,
  buyer_total_raw numeric(78,0),
  seller text not null,
  order_hash text,
  status text not null,
  listed_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  tx text,
  constraint listing_buyer_total_raw_check CHECK ((buyer_total_raw >= (0)::numeric)),
  constraint listing_price_raw_check CHECK ((price_raw >= (0)::numeric)),
  constraint listing_status_check CHECK ((status = ANY (ARRAY['active'::text, 'filled'::text, 'cancelled'::text, 'expired'::text]))),
  constraint listing_pkey PRIMARY KEY (key)
);
CREATE INDEX listing_active_by_buyer_total ON indexer.listing USING btree (collection_id, COALESCE(buyer_total_raw, price_raw)) WHERE ((status = 'active'::text) AND (price_raw > (0)::numeric));
CREATE INDEX listing_active_by_expiry ON indexer.listing USING btree (expires_at) WHERE ((status = 'active'::text) AND (expires_at IS NOT NULL));
CREATE INDEX listing_active_by_price ON indexer.listing USING btree (collection_id, price_raw, id, key) WHERE ((status = 'active'::text) AND (price_raw > (0)::numeric));
CREATE INDEX listing_by_asset ON indexer.listing USING btree (collection_id, asset, price_raw);

create table indexer.migration (
  name text collate "C" not null,
  digest text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migration_pkey PRIMARY KEY (name)
);

create table indexer.sale (
  key uuid not null,
  source text collate "C" not null,
  chain text collate "C" not null,
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  price text not null,
  price_raw numeric(78,0),
  seller text,
  buyer text,
  sold_at timestamp with time zone not null,
  listing_id text,
  tx text,
  log_index integer,
  constraint sale_pkey PRIMARY KEY (key)
);
CREATE INDEX sale_by_asset ON indexer.sale USING btree (collection_id, asset, sold_at DESC, key DESC);
CREATE INDEX sale_by_time ON indexer.sale USING btree (collection_id, sold_at DESC, key DESC);

create table indexer.sale_hour (
  collection_id text collate "C" not null,
  hour timestamp with time zone not null,
  volume_raw numeric not null,
  sales bigint not null,
  constraint sale_hour_pkey PRIMARY KEY (collection_id, hour)
);

create table indexer.sale_total (
  collection_id text collate "C" not null,
  volume_raw numeric not null,
  sales bigint not null,
  constraint sale_total_pkey PRIMARY KEY (collection_id)
);

create table indexer.token (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  chain text collate "C" not null,
  name text,
  image text,
  rarity_rank bigint,
  owner text,
  constraint token_rarity_rank_check CHECK ((rarity_rank >= 1)),
  constraint token_pkey PRIMARY KEY (collection_id, asset)
);
CREATE INDEX token_by_owner ON indexer.token USING btree (collection_id, owner);
