-- Generated from the migrations (npm run generate), for reading only: databases are made by the migrations.

create schema main;

create table main.activity (
  position bigint not null,
  kind text collate "C" not null,
  at timestamp with time zone not null,
  chain text collate "C" not null,
  collection_id text collate "C",
  asset text collate "C",
  price_raw numeric(78,0),
  from_account text collate "C",
  to_account text collate "C",
  order_id text collate "C",
  marketplace text collate "C",
  tx text,
  reason text collate "C",
  voids bigint[],
  voided_by bigint,
  origin text collate "C" not null,
  block_number bigint,
  fact text collate "C",
  merged_at timestamp with time zone not null,
  constraint activity_origin_check CHECK ((origin = ANY (ARRAY['main'::text, 'indexer'::text]))),
  constraint activity_pkey PRIMARY KEY ("position")
);
CREATE INDEX activity_by_block ON main.activity USING btree (chain, block_number) WHERE ((block_number IS NOT NULL) AND (voided_by IS NULL));
CREATE INDEX activity_by_collection ON main.activity USING btree (collection_id, kind, at DESC, "position" DESC) WHERE (collection_id IS NOT NULL);
CREATE INDEX activity_by_collection_position ON main.activity USING btree (collection_id, kind, "position") WHERE (collection_id IS NOT NULL);
CREATE INDEX activity_by_fact ON main.activity USING btree (fact, origin) WHERE (fact IS NOT NULL);
CREATE INDEX activity_by_kind ON main.activity USING btree (kind, at DESC, "position" DESC);
CREATE INDEX activity_by_kind_position ON main.activity USING btree (kind, "position");
CREATE INDEX activity_by_receiver ON main.activity USING btree (to_account, kind, at DESC, "position" DESC) WHERE (to_account IS NOT NULL);
CREATE INDEX activity_by_receiver_chain ON main.activity USING btree (to_account, chain, kind, at DESC, "position" DESC) WHERE (to_account IS NOT NULL);
CREATE INDEX activity_by_receiver_collection ON main.activity USING btree (to_account, collection_id, kind, at DESC, "position" DESC) WHERE ((to_account IS NOT NULL) AND (collection_id IS NOT NULL));
CREATE INDEX activity_by_sender ON main.activity USING btree (from_account, kind, at DESC, "position" DESC) WHERE (from_account IS NOT NULL);
CREATE INDEX activity_by_sender_chain ON main.activity USING btree (from_account, chain, kind, at DESC, "position" DESC) WHERE (from_account IS NOT NULL);
CREATE INDEX activity_by_sender_collection ON main.activity USING btree (from_account, collection_id, kind, at DESC, "position" DESC) WHERE ((from_account IS NOT NULL) AND (collection_id IS NOT NULL));
CREATE INDEX activity_by_token ON main.activity USING btree (collection_id, asset, at DESC, "position" DESC) WHERE (asset IS NOT NULL);
CREATE INDEX activity_without_collection ON main.activity USING btree (kind, "position") WHERE (collection_id IS NULL);

create table main.activity_head (
  id smallint default 1 not null,
  position bigint default 0 not null,
  oldest bigint default 1 not null,
  revision bigint default 0 not null,
  merged bigint[] default '{}'::bigint[] not null,
  constraint activity_head_id_check CHECK ((id = 1)),
  constraint activity_head_pkey PRIMARY KEY (id)
);

create table main.adjustment (
  id bigint not null,
  shop_id text collate "C" not null,
  product_id text collate "C" not null,
  previous integer not null,
  next integer not null,
  requested bigint not null,
  mode text not null,
  reason text not null,
  source text not null,
  key_id text collate "C",
  created_at timestamp with time zone not null,
  public_id text collate "C" default ('adj_'::text || replace((gen_random_uuid())::text, '-'::text, ''::text)),
  constraint adjustment_mode_check CHECK ((mode = ANY (ARRAY['adjustment'::text, 'set'::text]))),
  constraint adjustment_source_check CHECK ((source = ANY (ARRAY['inventory'::text, 'product'::text, 'import'::text]))),
  constraint adjustment_pkey PRIMARY KEY (id)
);
CREATE INDEX adjustment_by_product ON main.adjustment USING btree (shop_id, product_id, id DESC);
CREATE INDEX adjustment_by_shop ON main.adjustment USING btree (shop_id, id DESC);

create table main.api_key (
  id text collate "C" not null,
  shop_id text collate "C",
  name text,
  prefix text not null,
  hash bytea not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  replaced_at timestamp with time zone,
  constraint api_key_without_shop CHECK (((shop_id IS NOT NULL) OR (scopes <@ ARRAY['orders:write'::text, 'intake:write'::text]))),
  constraint api_key_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES main.shop(id),
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_hash_key UNIQUE (hash)
);
CREATE INDEX api_key_by_shop ON main.api_key USING btree (shop_id, created_at);

create table main.backup (
  id bigint not null,
  at timestamp with time zone not null,
  bytes bigint not null,
  rows bigint not null,
  constraint backup_pkey PRIMARY KEY (id)
);

create table main.book_asset (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  expires_at timestamp with time zone,
  price_raw numeric(78,0),
  price_until timestamp with time zone,
  constraint book_asset_pkey PRIMARY KEY (collection_id, asset)
);
CREATE INDEX book_asset_by_expiry ON main.book_asset USING btree (collection_id, expires_at) WHERE (expires_at IS NOT NULL);

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
  order_hash text collate "C",
  protocol_address text collate "C",
  order_type smallint,
  standard text,
  quantity numeric(78,0) default 1 not null,
  filled_quantity numeric(78,0) default 0 not null,
  buyer_total_raw numeric(78,0),
  counter numeric(78,0),
  starts_at timestamp with time zone,
  operator text collate "C",
  dormant text,
  ended_at timestamp with time zone,
  constraint book_order_buyer_total_raw_check CHECK ((buyer_total_raw >= (0)::numeric)),
  constraint book_order_dormant_check CHECK ((dormant = ANY (ARRAY['no-balance'::text, 'not-approved'::text]))),
  constraint book_order_filled_quantity_check CHECK ((filled_quantity >= (0)::numeric)),
  constraint book_order_price_raw_check CHECK ((price_raw >= (0)::numeric)),
  constraint book_order_quantity_check CHECK ((quantity > (0)::numeric)),
  constraint book_order_standard_check CHECK ((standard = ANY (ARRAY['erc721'::text, 'erc1155'::text]))),
  constraint book_order_status_check CHECK ((status = ANY (ARRAY['active'::text, 'filled'::text, 'cancelled'::text, 'expired'::text]))),
  constraint book_order_pkey PRIMARY KEY (id)
);
CREATE INDEX book_order_active_by_buyer_total ON main.book_order USING btree (collection_id, buyer_total_raw) WHERE ((status = 'active'::text) AND (dormant IS NULL) AND (price_raw > (0)::numeric) AND (buyer_total_raw IS NOT NULL));
CREATE INDEX book_order_active_by_expiry ON main.book_order USING btree (expires_at) WHERE ((status = 'active'::text) AND (expires_at IS NOT NULL));
CREATE INDEX book_order_active_by_price ON main.book_order USING btree (collection_id, price_raw, id) WHERE ((status = 'active'::text) AND (dormant IS NULL) AND (price_raw > (0)::numeric));
CREATE INDEX book_order_active_by_token ON main.book_order USING btree (collection_id, token_id) WHERE ((status = 'active'::text) AND (dormant IS NULL) AND (price_raw > (0)::numeric));
CREATE INDEX book_order_active_without_total ON main.book_order USING btree (collection_id, price_raw, id) WHERE ((status = 'active'::text) AND (dormant IS NULL) AND (price_raw > (0)::numeric) AND (buyer_total_raw IS NULL));
CREATE INDEX book_order_by_account ON main.book_order USING btree (seller, collection_id, token_id) WHERE ((status = 'active'::text) AND (dormant IS NULL) AND (price_raw > (0)::numeric));
CREATE INDEX book_order_by_asset ON main.book_order USING btree (collection_id, token_id);
CREATE UNIQUE INDEX book_order_by_hash ON main.book_order USING btree (chain, order_hash) WHERE (order_hash IS NOT NULL);
CREATE INDEX book_order_by_seller ON main.book_order USING btree (chain, seller) WHERE (order_hash IS NOT NULL);

create table main.book_start (
  starts_at timestamp with time zone not null,
  chain text collate "C" not null,
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  constraint book_start_pkey PRIMARY KEY (starts_at, collection_id, asset)
);

create table main.catalog_change (
  seq bigint not null,
  collection_id text collate "C" not null,
  asset text collate "C",
  constraint catalog_change_pkey PRIMARY KEY (seq)
);

create table main.chain_block (
  chain text collate "C" not null,
  number bigint not null,
  hash text not null,
  time timestamp with time zone not null,
  applied_at timestamp with time zone,
  constraint chain_block_pkey PRIMARY KEY (chain, number)
);

create table main.chain_cursor (
  chain text collate "C" not null,
  block_number bigint not null,
  block_hash text not null,
  block_time timestamp with time zone not null,
  revision bigint default 0 not null,
  reorgs bigint default 0 not null,
  note text,
  updated_at timestamp with time zone not null,
  constraint chain_cursor_pkey PRIMARY KEY (chain)
);

create table main.chain_event (
  seq bigint default nextval('main.chain_seq'::regclass) not null,
  chain text collate "C" not null,
  block_number bigint not null,
  log_index integer not null,
  part integer not null,
  block_time timestamp with time zone not null,
  tx text not null,
  kind text not null,
  contract text collate "C" not null,
  token_id text collate "C",
  order_hash text collate "C",
  account text collate "C",
  details jsonb not null,
  constraint chain_event_pkey PRIMARY KEY (chain, block_number, log_index, part)
);
CREATE INDEX chain_event_by_account ON main.chain_event USING btree (chain, contract, account, block_number, log_index) WHERE (kind = ANY (ARRAY['approval-for-all'::text, 'counter-incremented'::text]));
CREATE INDEX chain_event_by_bid ON main.chain_event USING btree (chain, contract, token_id, block_number, log_index) WHERE (kind = 'token-bid'::text);
CREATE INDEX chain_event_by_cancelled_nonce ON main.chain_event USING btree (chain, contract, account, (((details ->> 'nonce'::text))::numeric)) WHERE (kind = 'nonce-cancelled'::text);
CREATE INDEX chain_event_by_nonce ON main.chain_event USING btree (chain, contract, account) WHERE (kind = 'nonce-cancelled'::text);
CREATE INDEX chain_event_by_order ON main.chain_event USING btree (chain, order_hash) WHERE (order_hash IS NOT NULL);
CREATE INDEX chain_event_by_sender ON main.chain_event USING btree (chain, account, contract) WHERE (kind = 'transfer'::text);
CREATE UNIQUE INDEX chain_event_by_seq ON main.chain_event USING btree (chain, seq);
CREATE INDEX chain_event_by_token ON main.chain_event USING btree (chain, contract, token_id, block_number, log_index, part) WHERE (kind = ANY (ARRAY['transfer'::text, 'token-approval'::text]));

create table main.chain_reorg (
  seq bigint default nextval('main.chain_seq'::regclass) not null,
  chain text collate "C" not null,
  ancestor bigint not null,
  depth integer not null,
  created_at timestamp with time zone not null,
  affected jsonb,
  since timestamp with time zone,
  collection_ids text[],
  corrected bigint[],
  constraint chain_reorg_pkey PRIMARY KEY (chain, seq)
);

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
  tokens_complete boolean default false not null,
  sales_complete boolean,
  listings_complete boolean,
  constraint collection_royalty_bps_check CHECK (((royalty_bps >= 0) AND (royalty_bps <= 10000))),
  constraint collection_snapshot_floor_raw_check CHECK ((snapshot_floor_raw >= (0)::numeric)),
  constraint collection_snapshot_owners_check CHECK ((snapshot_owners >= 0)),
  constraint collection_snapshot_supply_check CHECK ((snapshot_supply >= 0)),
  constraint collection_pkey PRIMARY KEY (id),
  constraint collection_slug_key UNIQUE (slug)
);
CREATE INDEX collection_by_contract ON main.collection USING btree (contract_address) WHERE (contract_address IS NOT NULL);
CREATE INDEX collection_by_name ON main.collection USING btree ("left"(lower((name COLLATE "C")), 100), id);
CREATE INDEX collection_by_trigrams ON main.collection USING gin (main.trigrams("left"(name, 200)));

create table main.collection_book (
  collection_id text collate "C" not null,
  listed_assets bigint default 0 not null,
  floor_raw numeric(78,0),
  constraint collection_book_listed_assets_check CHECK ((listed_assets >= 0)),
  constraint collection_book_pkey PRIMARY KEY (collection_id)
);

create table main.collection_metadata (
  collection_id text collate "C" not null,
  name text,
  image text,
  banner text,
  description text,
  royalty_bps integer,
  due_at timestamp with time zone,
  fetched_at timestamp with time zone,
  attempts integer default 0 not null,
  failure text collate "C",
  host text collate "C",
  uri_digest text collate "C",
  constraint collection_metadata_royalty_bps_check CHECK (((royalty_bps >= 0) AND (royalty_bps <= 10000))),
  constraint collection_metadata_pkey PRIMARY KEY (collection_id)
);
CREATE INDEX collection_metadata_by_name ON main.collection_metadata USING btree ("left"(lower((name COLLATE "C")), 100), collection_id) WHERE (name IS NOT NULL);
CREATE INDEX collection_metadata_by_trigrams ON main.collection_metadata USING gin (main.trigrams("left"(name, 200))) WHERE (name IS NOT NULL);

create table main.delivery (
  id bigint not null,
  webhook_id text collate "C" not null,
  event_id text collate "C" not null,
  state text default 'pending'::text not null,
  attempts integer default 0 not null,
  due_at timestamp with time zone not null,
  leased_until timestamp with time zone,
  claims integer default 0 not null,
  last_attempt_at timestamp with time zone,
  last_status integer,
  last_error text,
  last_duration_ms integer,
  delivered_at timestamp with time zone,
  created_at timestamp with time zone not null,
  public_id text collate "C" default ('dlv_'::text || replace((gen_random_uuid())::text, '-'::text, ''::text)),
  rescheduled_at timestamp with time zone,
  constraint delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text]))),
  constraint delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES main.event(id) ON DELETE CASCADE,
  constraint delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES main.webhook(id) ON DELETE CASCADE,
  constraint delivery_pkey PRIMARY KEY (id),
  constraint delivery_webhook_id_event_id_key UNIQUE (webhook_id, event_id)
);
CREATE INDEX delivery_by_event ON main.delivery USING btree (event_id);
CREATE INDEX delivery_by_webhook ON main.delivery USING btree (webhook_id, id DESC);
CREATE INDEX delivery_dead ON main.delivery USING btree (webhook_id, id) WHERE (state = 'dead'::text);
CREATE INDEX delivery_due ON main.delivery USING btree (webhook_id, due_at, id) WHERE (state = 'pending'::text);
CREATE UNIQUE INDEX delivery_public_id ON main.delivery USING btree (public_id);

create table main.event (
  id text collate "C" not null,
  sequence bigint not null,
  shop_id text collate "C" not null,
  type text not null,
  data text not null,
  created_at timestamp with time zone not null,
  fanned_out boolean default false not null,
  constraint event_pkey PRIMARY KEY (id),
  constraint event_sequence_key UNIQUE (sequence)
);
CREATE INDEX event_by_age ON main.event USING btree (created_at);
CREATE INDEX event_by_shop ON main.event USING btree (shop_id, created_at);
CREATE INDEX event_to_fan_out ON main.event USING btree (sequence) WHERE (NOT fanned_out);

create table main.follow (
  collection_id text collate "C" not null,
  chain text collate "C" not null,
  contract_address text collate "C" not null,
  standard text,
  from_block bigint,
  read_to_block bigint,
  joined boolean default false not null,
  created_at timestamp with time zone not null,
  unindexed boolean default false not null,
  constraint follow_standard_check CHECK ((standard = ANY (ARRAY['erc721'::text, 'erc1155'::text]))),
  constraint follow_pkey PRIMARY KEY (collection_id)
);
CREATE INDEX follow_by_chain ON main.follow USING btree (chain, contract_address);

create table main.follow_name (
  collection_id text collate "C" not null,
  vendor text collate "C" not null,
  name text not null,
  constraint follow_name_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES main.follow(collection_id) ON DELETE CASCADE,
  constraint follow_name_pkey PRIMARY KEY (collection_id, vendor)
);

create table main.follow_run (
  task text collate "C" not null,
  collection_id text collate "C" not null,
  tried_at timestamp with time zone not null,
  done_at timestamp with time zone,
  constraint follow_run_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES main.follow(collection_id) ON DELETE CASCADE,
  constraint follow_run_pkey PRIMARY KEY (task, collection_id)
);

create table main.holding (
  collection_id text collate "C" not null,
  token_id text collate "C" not null,
  holder text collate "C" not null,
  quantity numeric(78,0) not null,
  constraint holding_pkey PRIMARY KEY (collection_id, token_id, holder)
);
CREATE INDEX holding_by_account ON main.holding USING btree (holder, collection_id);

create table main.idempotency (
  key_id text collate "C" not null,
  idempotency_key text collate "C" not null,
  request_digest bytea not null,
  status integer not null,
  headers text not null,
  body text not null,
  created_at timestamp with time zone not null,
  constraint idempotency_pkey PRIMARY KEY (key_id, idempotency_key)
);
CREATE INDEX idempotency_by_age ON main.idempotency USING btree (created_at);

create table main.import (
  id text collate "C" not null,
  key_id text collate "C",
  shop_id text collate "C",
  file text,
  format text not null,
  replaces boolean not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  error text,
  counts jsonb,
  undo_state text,
  undo_at timestamp with time zone,
  undo_kept boolean default true not null,
  constraint import_undo_state_check CHECK ((undo_state = ANY (ARRAY['undoing'::text, 'partly undone'::text, 'undone'::text]))),
  constraint import_pkey PRIMARY KEY (id)
);
CREATE INDEX import_by_age ON main.import USING btree (started_at) WHERE undo_kept;

create table main.import_change (
  import_id text collate "C" not null,
  seq bigint not null,
  kind text not null,
  rows integer not null,
  keys text[] not null,
  hashes bigint[] not null,
  images jsonb[] not null,
  constraint import_change_pkey PRIMARY KEY (import_id, seq)
);

create table main.import_log (
  import_id text collate "C" not null,
  closed boolean default false not null,
  undone jsonb default '{}'::jsonb not null,
  constraint import_log_pkey PRIMARY KEY (import_id)
);

create table main.key_usage (
  key_id text collate "C" not null,
  day date not null,
  requests bigint not null,
  constraint key_usage_key_id_fkey FOREIGN KEY (key_id) REFERENCES main.api_key(id) ON DELETE CASCADE,
  constraint key_usage_pkey PRIMARY KEY (key_id, day)
);

create table main.last_buyer_floor (
  collection_id text collate "C" not null,
  floor_raw numeric(78,0) not null,
  observed_at timestamp with time zone not null,
  ask_raw numeric(78,0),
  constraint last_buyer_floor_pkey PRIMARY KEY (collection_id)
);

create table main.market_change (
  seq bigint not null,
  kind text collate "C" not null,
  at timestamp with time zone not null,
  chain text collate "C" not null,
  collection_id text collate "C",
  asset text collate "C",
  price_raw numeric(78,0),
  from_account text collate "C",
  to_account text collate "C",
  order_id text collate "C",
  marketplace text collate "C",
  tx text,
  reason text collate "C",
  block_number bigint,
  fact text collate "C",
  facts text[],
  constraint market_change_pkey PRIMARY KEY (seq)
);

create table main.metadata_announcement (
  seq bigint not null,
  collection_id text collate "C" not null,
  from_id numeric(78,0) not null,
  to_id numeric(78,0) not null,
  constraint metadata_announcement_pkey PRIMARY KEY (seq),
  constraint metadata_announcement_collection_id_from_id_to_id_key UNIQUE (collection_id, from_id, to_id)
);

create table main.migration (
  name text collate "C" not null,
  digest text not null,
  applied_at timestamp with time zone default now() not null,
  version_min text,
  constraint migration_pkey PRIMARY KEY (name)
);

create table main.offerer_counter (
  chain text collate "C" not null,
  protocol text collate "C" not null,
  offerer text collate "C" not null,
  counter numeric(78,0) not null,
  constraint offerer_counter_pkey PRIMARY KEY (chain, protocol, offerer)
);

create table main.operator_approval (
  collection_id text collate "C" not null,
  owner text collate "C" not null,
  operator text collate "C" not null,
  constraint operator_approval_pkey PRIMARY KEY (collection_id, owner, operator)
);

create table main.order_cancel (
  order_id text collate "C" not null,
  cancelled_by text not null,
  signature text,
  created_at timestamp with time zone not null,
  constraint order_cancel_cancelled_by_check CHECK ((cancelled_by = ANY (ARRAY['offerer'::text, 'operator'::text]))),
  constraint order_cancel_pkey PRIMARY KEY (order_id)
);

create table main.product (
  id text collate "C" not null,
  shop_id text collate "C" not null,
  name text not null,
  slug text collate "C" not null,
  price text not null,
  type text not null,
  description text,
  image text,
  more_images text[] not null,
  inventory integer not null,
  track_inventory boolean not null,
  requires_shipping boolean not null,
  weight_grams double precision not null,
  collections text[] not null,
  version integer default 1 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint product_inventory_check CHECK ((inventory >= 0)),
  constraint product_type_check CHECK ((type = ANY (ARRAY['physical'::text, 'digital'::text, 'nft'::text]))),
  constraint product_weight_grams_check CHECK ((weight_grams >= (0)::double precision)),
  constraint product_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES main.shop(id),
  constraint product_pkey PRIMARY KEY (id),
  constraint product_shop_id_slug_key UNIQUE (shop_id, slug)
);
CREATE INDEX product_by_shop ON main.product USING btree (shop_id, id DESC);

create table main.rate (
  symbol text collate "C" not null,
  usd double precision not null,
  at timestamp with time zone not null,
  constraint rate_usd_check CHECK ((usd > (0)::double precision)),
  constraint rate_pkey PRIMARY KEY (symbol)
);

create table main.recent_view (
  collection_id text collate "C" not null,
  asset text collate "C",
  viewed_at timestamp with time zone not null,
  refreshed_at timestamp with time zone,
  constraint recent_view_collection_id_asset_key UNIQUE NULLS NOT DISTINCT (collection_id, asset)
);
CREATE INDEX recent_view_by_time ON main.recent_view USING btree (viewed_at);

create table main.request_budget (
  upstream text collate "C" not null,
  tokens double precision not null,
  at timestamp with time zone not null,
  constraint request_budget_pkey PRIMARY KEY (upstream)
);

create table main.reread_range (
  id bigint not null,
  chain text collate "C" not null,
  from_block bigint not null,
  to_block bigint not null,
  since timestamp with time zone not null,
  due_at timestamp with time zone not null,
  constraint reread_range_check CHECK ((to_block >= from_block)),
  constraint reread_range_pkey PRIMARY KEY (id)
);
CREATE INDEX reread_range_by_due ON main.reread_range USING btree (chain, due_at);

create table main.secret (
  name text collate "C" not null,
  value bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint secret_pkey PRIMARY KEY (name)
);

create table main.service_start (
  id bigint not null,
  at timestamp with time zone default now() not null,
  command text not null,
  host text not null,
  version text not null,
  settings jsonb not null,
  constraint service_start_pkey PRIMARY KEY (id)
);

create table main.shop (
  id text collate "C" not null,
  name text not null,
  created_at timestamp with time zone not null,
  constraint shop_pkey PRIMARY KEY (id),
  constraint shop_name_key UNIQUE (name)
);

create table main.sync_task (
  name text collate "C" not null,
  period_ms bigint not null,
  holder text,
  leased_until timestamp with time zone,
  due_at timestamp with time zone not null,
  nudged boolean default false not null,
  progress jsonb,
  last_started timestamp with time zone,
  last_ended timestamp with time zone,
  last_ok timestamp with time zone,
  failures integer default 0 not null,
  last_error text,
  result jsonb,
  upstreams jsonb,
  constraint sync_task_pkey PRIMARY KEY (name)
);

create table main.token_approval (
  collection_id text collate "C" not null,
  token_id text collate "C" not null,
  operator text collate "C" not null,
  constraint token_approval_pkey PRIMARY KEY (collection_id, token_id)
);

create table main.webhook (
  id text collate "C" not null,
  shop_id text collate "C" not null,
  url text not null,
  events text[] not null,
  description text,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamp with time zone,
  enabled boolean default true not null,
  disabled_reason text,
  disabled_at timestamp with time zone,
  failing_since timestamp with time zone,
  version integer default 1 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  created_sequence bigint default nextval('main.event_sequence_seq'::regclass) not null,
  disabled_sequence bigint,
  earlier_secrets text[] default '{}'::text[] not null,
  earlier_secrets_until timestamp with time zone[] default '{}'::timestamp with time zone[] not null,
  constraint webhook_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES main.shop(id),
  constraint webhook_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_by_shop ON main.webhook USING btree (shop_id, id);

create schema indexer;

create table indexer.chain_cursor (
  chain text collate "C" not null,
  seq bigint not null,
  revision bigint default 0 not null,
  covered_to timestamp with time zone,
  covered_revision bigint,
  constraint chain_cursor_pkey PRIMARY KEY (chain)
);

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

create table indexer.collection_figures (
  collection_id text collate "C" not null,
  listed_assets bigint default 0 not null,
  mirror_floor_raw numeric(78,0),
  tokens bigint default 0 not null,
  chain_tokens bigint default 0 not null,
  holders bigint default 0 not null,
  has_chain_holders boolean default false not null,
  recorded boolean default false not null,
  chain text collate "C" default ''::text not null,
  launched boolean default false not null,
  created_at timestamp with time zone,
  snapshot_floor_raw numeric(78,0),
  snapshot_volume double precision,
  own_listed_assets bigint default 0 not null,
  own_floor_raw numeric(78,0),
  volume_rank double precision default '-Infinity'::double precision not null,
  floor_rank numeric default '-Infinity'::numeric not null,
  ranks_valid_until timestamp with time zone,
  trait_sets bigint default 0 not null,
  trait_listings bigint default 0 not null,
  point_at timestamp with time zone,
  point_floor_raw numeric(78,0),
  point_listed bigint,
  own_known boolean default false not null,
  sales_complete boolean default false not null,
  recorded_from timestamp with time zone,
  constraint collection_figures_chain_tokens_check CHECK ((chain_tokens >= 0)),
  constraint collection_figures_holders_check CHECK ((holders >= 0)),
  constraint collection_figures_listed_assets_check CHECK ((listed_assets >= 0)),
  constraint collection_figures_tokens_check CHECK ((tokens >= 0)),
  constraint collection_figures_trait_listings_check CHECK ((trait_listings >= 0)),
  constraint collection_figures_trait_sets_check CHECK ((trait_sets >= 0)),
  constraint collection_figures_pkey PRIMARY KEY (collection_id)
);
CREATE INDEX collection_figures_by_floor ON indexer.collection_figures USING btree (chain, launched DESC, floor_rank DESC, collection_id) WHERE recorded;
CREATE INDEX collection_figures_by_time ON indexer.collection_figures USING btree (chain, launched DESC, created_at DESC, collection_id) WHERE recorded;
CREATE INDEX collection_figures_by_validity ON indexer.collection_figures USING btree (ranks_valid_until) WHERE (ranks_valid_until IS NOT NULL);
CREATE INDEX collection_figures_by_volume ON indexer.collection_figures USING btree (chain, launched DESC, volume_rank DESC, collection_id) WHERE recorded;
CREATE INDEX collection_figures_with_chain_holders ON indexer.collection_figures USING btree (collection_id) WHERE has_chain_holders;

create table indexer.collection_rarity (
  collection_id text collate "C" not null,
  revision bigint default 0 not null,
  state text collate "C",
  ranked_revision bigint,
  tokens bigint,
  generation integer default 0 not null,
  kind text collate "C",
  source text collate "C",
  ranked_at timestamp with time zone,
  due_at timestamp with time zone default '1970-01-01 00:00:00+00'::timestamp with time zone not null,
  constraint collection_rarity_state_check CHECK ((state = ANY (ARRAY['ranked'::text, 'reported'::text, 'incomplete'::text, 'untraited'::text, 'too-large'::text]))),
  constraint collection_rarity_pkey PRIMARY KEY (collection_id)
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

create table indexer.coverage (
  collection_id text collate "C" not null,
  subject text collate "C" not null,
  source text collate "C" not null,
  kind text not null,
  from_time timestamp with time zone,
  to_time timestamp with time zone not null,
  constraint coverage_kind_check CHECK ((kind = ANY (ARRAY['chain'::text, 'scan'::text, 'imported'::text]))),
  constraint coverage_subject_check CHECK ((subject = ANY (ARRAY['listings'::text, 'sales'::text, 'tokens'::text, 'owners'::text]))),
  constraint coverage_pkey PRIMARY KEY (collection_id, subject, source)
);

create table indexer.holder (
  collection_id text collate "C" not null,
  owner text collate "C" not null,
  tokens bigint not null,
  constraint holder_tokens_check CHECK ((tokens > 0)),
  constraint holder_pkey PRIMARY KEY (collection_id, owner)
);
CREATE INDEX holder_by_tokens ON indexer.holder USING btree (collection_id, tokens DESC, owner);

create table indexer.import_change (
  import_id text collate "C" not null,
  seq bigint not null,
  kind text not null,
  rows integer not null,
  keys text[] not null,
  hashes bigint[] not null,
  images jsonb[] not null,
  constraint import_change_pkey PRIMARY KEY (import_id, seq)
);

create table indexer.import_log (
  import_id text collate "C" not null,
  closed boolean default false not null,
  undone jsonb default '{}'::jsonb not null,
  constraint import_log_pkey PRIMARY KEY (import_id)
);

create table indexer.judged_collection (
  collection_id text collate "C" not null,
  chain text collate "C" not null,
  followed_at timestamp with time zone not null,
  state text collate "C" not null,
  joined_seq bigint not null,
  after_asset text collate "C",
  after_key uuid,
  constraint judged_collection_state_check CHECK ((state = ANY (ARRAY['joining'::text, 'joined'::text, 'leaving'::text]))),
  constraint judged_collection_pkey PRIMARY KEY (collection_id)
);
CREATE INDEX judged_collection_by_chain ON indexer.judged_collection USING btree (chain, collection_id);

create table indexer.listed_asset (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  listing_key uuid not null,
  price_raw numeric(78,0) not null,
  expires_at timestamp with time zone,
  own boolean default false not null,
  constraint listed_asset_pkey PRIMARY KEY (collection_id, asset)
);
CREATE INDEX listed_asset_by_expiry ON indexer.listed_asset USING btree (collection_id, expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX listed_asset_by_price ON indexer.listed_asset USING btree (collection_id, price_raw) WHERE (NOT own);

create table indexer.listed_trait (
  trait_id integer not null,
  price_raw numeric(78,0) not null,
  asset text collate "C" not null,
  collection_id text collate "C" not null,
  constraint listed_trait_pkey PRIMARY KEY (collection_id, trait_id, price_raw, asset)
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
  retired_at timestamp with time zone,
  undeliverable text collate "C",
  operator text collate "C",
  protocol_address text collate "C",
  counter numeric(78,0),
  quantity numeric(78,0),
  partial boolean,
  ended_at timestamp with time zone,
  closed_at timestamp with time zone,
  constraint listing_buyer_total_raw_check CHECK ((buyer_total_raw >= (0)::numeric)),
  constraint listing_counter_check CHECK ((counter >= (0)::numeric)),
  constraint listing_price_raw_check CHECK ((price_raw >= (0)::numeric)),
  constraint listing_quantity_check CHECK ((quantity > (0)::numeric)),
  constraint listing_status_check CHECK ((status = ANY (ARRAY['active'::text, 'filled'::text, 'cancelled'::text, 'expired'::text]))),
  constraint listing_undeliverable_check CHECK ((undeliverable = ANY (ARRAY['pending'::text, 'no-balance'::text, 'not-approved'::text, 'counter'::text]))),
  constraint listing_pkey PRIMARY KEY (collection_id, key)
);
CREATE INDEX listing_active_by_expiry ON indexer.listing USING btree (expires_at) WHERE ((status = 'active'::text) AND (expires_at IS NOT NULL));
CREATE INDEX listing_by_account ON indexer.listing USING btree (seller, collection_id, asset) WHERE ((status = 'active'::text) AND (price_raw > (0)::numeric) AND (undeliverable IS NULL));
CREATE INDEX listing_by_asset ON indexer.listing USING btree (collection_id, asset, price_raw);
CREATE INDEX listing_by_id ON indexer.listing USING btree (id);
CREATE INDEX listing_by_order_hash ON indexer.listing USING btree (order_hash, chain) WHERE (order_hash IS NOT NULL);
CREATE INDEX listing_by_signer ON indexer.listing USING btree (chain, seller) WHERE ((operator IS NOT NULL) OR (counter IS NOT NULL));
CREATE INDEX listing_hidden ON indexer.listing USING btree (collection_id, key) WHERE (undeliverable IS NOT NULL);
CREATE INDEX listing_listed_by_buyer_total ON indexer.listing USING btree (collection_id, COALESCE(buyer_total_raw, price_raw)) WHERE ((status = 'active'::text) AND (price_raw > (0)::numeric) AND (undeliverable IS NULL));
CREATE INDEX listing_listed_by_price ON indexer.listing USING btree (collection_id, price_raw, id, key) WHERE ((status = 'active'::text) AND (price_raw > (0)::numeric) AND (undeliverable IS NULL));
CREATE INDEX listing_listed_without_total ON indexer.listing USING btree (collection_id, source, price_raw) WHERE ((status = 'active'::text) AND (price_raw > (0)::numeric) AND (undeliverable IS NULL) AND (buyer_total_raw IS NULL));
CREATE INDEX listing_pending ON indexer.listing USING btree (chain, collection_id, key) WHERE (undeliverable = 'pending'::text);

create table indexer.listing_snapshot (
  source text collate "C" not null,
  collection_id text collate "C" not null,
  taken_at timestamp with time zone not null,
  listings integer not null,
  retired integer not null,
  doubts integer not null,
  doubted_since timestamp with time zone,
  constraint listing_snapshot_pkey PRIMARY KEY (source, collection_id)
);

create table indexer.market_change (
  seq bigint not null,
  kind text collate "C" not null,
  at timestamp with time zone not null,
  chain text collate "C" not null,
  collection_id text collate "C",
  asset text collate "C",
  price_raw numeric(78,0),
  from_account text collate "C",
  to_account text collate "C",
  order_id text collate "C",
  marketplace text collate "C",
  tx text,
  reason text collate "C",
  block_number bigint,
  fact text collate "C",
  facts text[],
  constraint market_change_pkey PRIMARY KEY (seq)
);

create table indexer.market_hour (
  collection_id text collate "C" not null,
  hour timestamp with time zone not null,
  floor_high_raw numeric(78,0),
  floor_low_raw numeric(78,0),
  floor_close_raw numeric(78,0),
  listed bigint,
  constraint market_hour_pkey PRIMARY KEY (collection_id, hour) INCLUDE (floor_high_raw, floor_low_raw, floor_close_raw, listed)
);

create table indexer.market_point (
  collection_id text collate "C" not null,
  at timestamp with time zone not null,
  seq bigint not null,
  floor_raw numeric(78,0),
  listed bigint,
  key uuid default gen_random_uuid() not null,
  constraint market_point_pkey PRIMARY KEY (collection_id, at, seq)
);
CREATE INDEX market_point_by_time ON indexer.market_point USING btree (at);

create table indexer.migration (
  name text collate "C" not null,
  digest text not null,
  applied_at timestamp with time zone default now() not null,
  version_min text,
  constraint migration_pkey PRIMARY KEY (name)
);

create table indexer.own_asset (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  expires_at timestamp with time zone,
  price_raw numeric(78,0),
  price_until timestamp with time zone,
  constraint own_asset_pkey PRIMARY KEY (collection_id, asset)
);
CREATE INDEX own_asset_by_expiry ON indexer.own_asset USING btree (collection_id, expires_at) WHERE (expires_at IS NOT NULL);

create table indexer.rarity_rank (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  generation integer not null,
  rank bigint not null,
  constraint rarity_rank_rank_check CHECK ((rank > 0)),
  constraint rarity_rank_collection_id_asset_fkey FOREIGN KEY (collection_id, asset) REFERENCES indexer.token(collection_id, asset) ON DELETE CASCADE,
  constraint rarity_rank_pkey PRIMARY KEY (collection_id, asset, generation)
);
CREATE INDEX rarity_rank_by_rank ON indexer.rarity_rank USING btree (collection_id, generation, rank, length(asset), asset);

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
  block_number bigint,
  constraint sale_pkey PRIMARY KEY (collection_id, key)
);
CREATE INDEX sale_by_asset ON indexer.sale USING btree (collection_id, asset, sold_at DESC, key DESC);
CREATE INDEX sale_by_block ON indexer.sale USING btree (chain, block_number) WHERE (block_number IS NOT NULL);
CREATE INDEX sale_by_time ON indexer.sale USING btree (collection_id, sold_at DESC, key DESC);
CREATE INDEX sale_by_transaction ON indexer.sale USING btree (collection_id, tx) WHERE ((tx IS NOT NULL) AND ((block_number IS NOT NULL) OR (log_index IS NULL) OR (listing_id IS NULL)));
CREATE INDEX sale_unpriced ON indexer.sale USING btree (chain) WHERE (price_raw IS NULL);

create table indexer.sale_hour (
  collection_id text collate "C" not null,
  hour timestamp with time zone not null,
  volume_raw numeric not null,
  sales bigint not null,
  unread bigint default 0 not null,
  constraint sale_hour_pkey PRIMARY KEY (collection_id, hour) INCLUDE (volume_raw, sales)
);
CREATE INDEX sale_hour_unread ON indexer.sale_hour USING btree (collection_id, hour) WHERE (unread > 0);

create table indexer.sale_total (
  collection_id text collate "C" not null,
  volume_raw numeric not null,
  sales bigint not null,
  unread bigint default 0 not null,
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
  owner_block bigint,
  burned boolean default false not null,
  rarity_source text collate "C",
  traits jsonb,
  constraint token_rarity_rank_check CHECK ((rarity_rank >= 1)),
  constraint token_pkey PRIMARY KEY (collection_id, asset)
);
CREATE INDEX token_by_account ON indexer.token USING btree (owner, collection_id, asset) WHERE (NOT burned);
CREATE INDEX token_by_id ON indexer.token USING btree (collection_id, length(asset), asset) WHERE (NOT burned);
CREATE INDEX token_by_mint ON indexer.token USING btree (asset, collection_id) WHERE ((chain = 'solana'::text) AND (NOT burned));
CREATE INDEX token_by_name ON indexer.token USING btree (chain, "left"(lower((name COLLATE "C")), 100), collection_id, asset) WHERE ((name IS NOT NULL) AND (NOT burned));
CREATE INDEX token_by_owner_block ON indexer.token USING btree (chain, owner_block) WHERE (owner_block IS NOT NULL);
CREATE INDEX token_by_rank ON indexer.token USING btree (collection_id, rarity_rank, length(asset), asset) WHERE ((rarity_rank IS NOT NULL) AND (NOT burned));
CREATE INDEX token_unranked ON indexer.token USING btree (collection_id, length(asset), asset) WHERE ((rarity_rank IS NULL) AND (NOT burned));

create table indexer.token_metadata (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  source text collate "C" not null,
  name text,
  image text,
  description text,
  due_at timestamp with time zone,
  fetched_at timestamp with time zone,
  attempts integer default 0 not null,
  failure text collate "C",
  host text collate "C",
  uri_digest text collate "C",
  constraint token_metadata_source_check CHECK ((source = ANY (ARRAY['chain'::text, 'das'::text, 'import'::text]))),
  constraint token_metadata_collection_id_asset_fkey FOREIGN KEY (collection_id, asset) REFERENCES indexer.token(collection_id, asset) ON DELETE CASCADE,
  constraint token_metadata_pkey PRIMARY KEY (collection_id, asset)
);
CREATE INDEX token_metadata_by_chain ON indexer.token_metadata USING btree (split_part(collection_id, '_'::text, 1), "left"(lower((name COLLATE "C")), 100), collection_id, asset) WHERE (name IS NOT NULL);
CREATE INDEX token_metadata_by_name ON indexer.token_metadata USING btree ("left"(lower((name COLLATE "C")), 100), collection_id, asset) WHERE (name IS NOT NULL);
CREATE INDEX token_metadata_due ON indexer.token_metadata USING btree (collection_id, due_at, asset) WHERE (due_at IS NOT NULL);
CREATE INDEX token_metadata_failed ON indexer.token_metadata USING btree (collection_id, failure, host) WHERE (failure IS NOT NULL);

create table indexer.token_trait (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  name text collate "C" not null,
  value text collate "C" not null,
  kind text collate "C" not null,
  position smallint not null,
  constraint token_trait_kind_check CHECK ((kind = ANY (ARRAY['text'::text, 'number'::text, 'date'::text]))),
  constraint token_trait_collection_id_asset_fkey FOREIGN KEY (collection_id, asset) REFERENCES indexer.token_metadata(collection_id, asset) ON DELETE CASCADE,
  constraint token_trait_pkey PRIMARY KEY (collection_id, asset, name, value)
);
CREATE INDEX token_trait_by_value ON indexer.token_trait USING btree (collection_id, name, value, asset);

create table indexer.trait (
  id integer default nextval('indexer.trait_id_seq'::regclass) not null,
  collection_id text collate "C" not null,
  name text collate "C" not null,
  value text collate "C" not null,
  tokens bigint default 0 not null,
  listed bigint default 0 not null,
  constraint trait_listed_check CHECK ((listed >= 0)),
  constraint trait_tokens_check CHECK ((tokens >= 0)),
  constraint trait_pkey PRIMARY KEY (collection_id, id),
  constraint trait_collection_id_name_value_key UNIQUE (collection_id, name, value)
);
CREATE INDEX trait_by_tokens ON indexer.trait USING btree (collection_id, name, tokens DESC, value);
CREATE INDEX trait_unused ON indexer.trait USING btree (collection_id) WHERE (tokens = 0);

create table indexer.trait_listing (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  price_raw numeric(78,0) not null,
  expires_at timestamp with time zone,
  trait_ids integer[] not null,
  constraint trait_listing_pkey PRIMARY KEY (collection_id, asset)
);
CREATE INDEX trait_listing_by_expiry ON indexer.trait_listing USING btree (collection_id, expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX trait_listing_by_traits ON indexer.trait_listing USING gin (trait_ids) WITH (fastupdate=off);

create table indexer.trait_set (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  trait_ids integer[] not null,
  constraint trait_set_pkey PRIMARY KEY (collection_id, asset)
);
CREATE INDEX trait_set_by_id ON indexer.trait_set USING btree (collection_id, length(asset), asset) INCLUDE (trait_ids);
CREATE INDEX trait_set_by_traits ON indexer.trait_set USING gin (trait_ids) WITH (fastupdate=off);
