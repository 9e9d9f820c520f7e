-- The schema `indexer`: what is observed elsewhere, and what is derived from it. It may be in another database than the
-- primary, so nothing here refers to the primary, and a failed indexer does not affect the primary. This file is the
-- schema of version 0.1.0. Later changes are in numbered files beside it (src/platform/database/migrate.ts).
--
-- 1. Listings         4. Figures of collections     7. Rarity ranks        10. Imports
-- 2. Sales            5. Metadata and traits        8. History             11. Functions
-- 3. Tokens           6. Numbered traits            9. What is covered
--
-- The primary keys begin with the collection, so that the rows of a collection are neighbours in the index, and the
-- tables can be distributed by collection over the nodes of a Citus cluster. Writers lock the collection's row in
-- `collection_figures` before they write its rows. Amounts (`…_raw`) are in base units of the native currency. An
-- `asset` is a token id in decimal or, on Solana, a mint. Texts that are compared or indexed have the collation "C": they
-- are sorted in the same order by every database, and an entry of an index costs less than with the rules of a language.

-- ============================================================================ 1. Listings

-- Listings of external marketplaces, and the service's own listings on Solana.
create table indexer.listing (
  -- A digest of the fields that identify the listing.
  key              uuid not null,
  -- Consists of the name of the marketplace, `_` and a digest (src/market/index/row-keys.ts), or is the id that a record
  -- states.
  id               text collate "C" not null,
  source           text collate "C" not null,
  chain            text collate "C" not null,
  collection_id    text collate "C" not null,
  asset            text collate "C" not null,
  price_raw        numeric(78, 0) not null check (price_raw >= 0),
  -- What the buyer pays in all. Null if the marketplace does not report it.
  buyer_total_raw  numeric(78, 0) check (buyer_total_raw >= 0),
  seller           text collate "C" not null,
  order_hash       text collate "C",
  status           text collate "C" not null check (status in ('active', 'filled', 'cancelled', 'expired')),
  listed_at        timestamptz not null,
  -- Null if the listing does not expire.
  expires_at       timestamptz,
  tx               text collate "C",
  -- When the listing was retired: it was missing from a complete snapshot of its marketplace, or the own order book has
  -- the same order. A retired listing has the status `cancelled`. It becomes active again if its marketplace reports it
  -- as active again. A listing that the marketplace itself reported as ended is not retired, and stays ended. Null if
  -- the listing is not retired.
  retired_at       timestamptz,
  -- Why an active listing is dormant: by the log of its followed chain, the listing cannot be filled. `pending`: the
  -- listing has not been compared with the chain's log yet. `no-balance`: the seller does not hold the token.
  -- `not-approved`: the account that transfers the token for the order is not approved. `counter` is allowed, but never
  -- stored. Null if the listing is not dormant, or not active.
  dormant          text collate "C" check (dormant in ('pending', 'no-balance', 'not-approved', 'counter')),
  -- The columns down to `partial` are terms of the signed order of the listing. A judged listing is one whose state is
  -- derived from the log of its followed chain and these terms. A term is null if no marketplace has reported it. The
  -- account that transfers the token when the order is filled. The seller must have approved this account.
  operator         text collate "C",
  -- The address of the protocol contract for which the order is signed.
  protocol_address text collate "C",
  -- The counter of the seller with which the order is signed. If the seller increments the counter on the chain, the
  -- order is cancelled.
  counter          numeric(78, 0) check (counter >= 0),
  -- The number of units offered. Null is treated as one unit.
  quantity         numeric(78, 0) check (quantity > 0),
  -- Whether the order may be filled in parts. Null is treated as false.
  partial          boolean,
  -- How many of several units were bought, by the log of its followed chain. Null if the listing is not judged, and if it
  -- offers one unit.
  filled_quantity  numeric(78, 0) check (filled_quantity >= 0),
  -- The time of the block that ended the listing. Null if no block has ended the listing. The status of the listing
  -- then does not come from the chain.
  ended_at         timestamptz,
  -- When a listing that has ended was filled or cancelled, as its record states.
  closed_at        timestamptz,
  primary key (collection_id, key)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- By default PostgreSQL vacuums a table when a fifth of its rows are dead, and analyzes it when a tenth has changed. In
-- a table of millions of listings, a few per cent of the rows die each day. Many of the dead rows are at the cheap end
-- of the indexes by price, where reads begin. With the default, the dead rows of several days would stay there. The
-- same holds for the other tables with this setting.

create index listing_listed_by_price on indexer.listing (collection_id, price_raw, id, key)
  where status = 'active' and price_raw > 0 and dormant is null;
create index listing_listed_by_buyer_total on indexer.listing (collection_id, coalesce(buyer_total_raw, price_raw))
  where status = 'active' and price_raw > 0 and dormant is null;
-- The buyer floor needs the cheapest of the service's own listings on Solana, which have no buyer total. Without this
-- index, PostgreSQL would read all listed rows of a collection to find these listings.
create index listing_listed_without_total on indexer.listing (collection_id, source, price_raw)
  where status = 'active' and price_raw > 0 and dormant is null and buyer_total_raw is null and chain = 'solana';
create index listing_by_asset on indexer.listing (collection_id, asset, price_raw);
create index listing_active_by_expiry on indexer.listing (expires_at)
  where status = 'active' and expires_at is not null;
create index listing_by_order_hash on indexer.listing (order_hash, chain) where order_hash is not null;
-- Finds a listing by the id that the interfaces serve.
create index listing_by_id on indexer.listing (id);
-- For the list of the assets that a wallet has listed, in all collections.
create index listing_by_account on indexer.listing (seller, collection_id, asset)
  where status = 'active' and price_raw > 0 and dormant is null;
-- For the lists of orders by time: those that can be filled, and those of one status in a collection or of a seller. The last
-- two columns let PostgreSQL leave out dormant listings and other sources without reading the table.
create index listing_listed_by_time on indexer.listing (listed_at, key, collection_id)
  where status = 'active' and price_raw > 0 and dormant is null;
create index listing_of_collection_by_time on indexer.listing (collection_id, status, listed_at, key, dormant, source);
create index listing_of_account_by_time on indexer.listing (seller, status, listed_at, key, collection_id, dormant, source);
-- For the list of the orders of a collection that expire soon.
create index listing_listed_by_expiry on indexer.listing (collection_id, expires_at, key)
  where status = 'active' and price_raw > 0 and dormant is null and expires_at is not null;
create index listing_pending on indexer.listing (chain, collection_id, key) where dormant = 'pending';
create index listing_dormant on indexer.listing (collection_id, key) where dormant is not null;

-- The last snapshot of each collection at each marketplace. A snapshot that lacks too many of the expected listings is
-- probably incomplete. Such a snapshot is doubted: it retires no listings.
create table indexer.listing_snapshot (
  -- The marketplace. For snapshots that contain only the cheapest listings, ` cheapest` is appended.
  source        text collate "C" not null,
  collection_id text collate "C" not null,
  taken_at      timestamptz not null,
  -- The number of listings in the snapshot.
  listings      integer not null,
  -- The number of listings that the snapshot retired.
  retired       integer not null,
  -- How many snapshots in a row, including the last, were doubted. 0 if the last snapshot was accepted.
  doubts        integer not null,
  -- When the first of these doubted snapshots was taken. Null if `doubts` is 0.
  doubted_since timestamptz,
  primary key (source, collection_id)
);

-- The collections whose listings are judged by the log of their chain.
create table indexer.judged_collection (
  collection_id text collate "C" primary key,
  chain         text collate "C" not null,
  -- When the follow of the collection was created. If the collection is unfollowed and followed again, the time of the
  -- new follow differs from this time. The listings of the collection are then judged again.
  followed_at   timestamptz not null,
  -- joining: the stored listings of the collection are being judged. joined: all of them are judged. leaving: the
  -- collection is no longer followed, and its dormant listings are being made visible again.
  state         text collate "C" not null check (state in ('joining', 'joined', 'leaving')),
  -- The sequence number of the last entry in the chain's log when the state became `joining`. Up to this entry the log
  -- has the complete past of the collection.
  joined_seq    bigint not null,
  -- In the state `joining`, the asset of the last listing that was judged. Null before the first listing is judged, and
  -- after the last.
  after_asset   text collate "C",
  -- The key of the same listing, null in the same cases.
  after_key     uuid
);

create index judged_collection_by_chain on indexer.judged_collection (chain, collection_id);

-- The listed assets: for each asset with listings in the mirror that a buyer can fill, the cheapest of these listings.
create table indexer.listed_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  listing_key   uuid not null,
  price_raw     numeric(78, 0) not null,
  -- When this listing expires. Null if it does not expire.
  expires_at    timestamptz,
  -- True if the own order book lists the asset too. The row then does not count in `collection_figures`.
  own           boolean not null default false,
  primary key (collection_id, asset)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

create index listed_asset_by_price on indexer.listed_asset (collection_id, price_raw) where not own;
create index listed_asset_by_expiry on indexer.listed_asset (collection_id, expires_at) where expires_at is not null;

-- The assets that the own order book lists, copied from the primary database.
create table indexer.own_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- The latest expiry time of the asset's orders. Null if one of these orders does not expire.
  expires_at    timestamptz,
  -- The price of the asset's cheapest own order. Null until it is copied.
  price_raw     numeric(78, 0),
  -- When this order expires; null if it does not expire.
  price_until   timestamptz,
  primary key (collection_id, asset)
);

create index own_asset_by_expiry on indexer.own_asset (collection_id, expires_at) where expires_at is not null;

-- ============================================================================ 2. Sales

-- Completed sales.
create table indexer.sale (
  -- A digest of the fields that identify the sale. Sales with the same time are sorted by `key`. A sale that is stored
  -- again gets the same key, so this order does not change.
  key           uuid not null,
  source        text collate "C" not null,
  chain         text collate "C" not null,
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- The text that was received.
  price         text not null,
  -- The price in base units. Null if `price` cannot be interpreted as an amount in the native currency.
  price_raw     numeric(78, 0),
  seller        text collate "C",
  buyer         text collate "C",
  sold_at       timestamptz not null,
  listing_id    text collate "C",
  tx            text collate "C",
  log_index     integer,
  -- The units that were sold, of one token or of several. Null if their number is not known.
  quantity      numeric(78, 0) check (quantity > 0),
  -- The tokens of a bundle, as `[{"asset", "quantity"}]`. Null if they are not known, and for other sales.
  tokens        jsonb,
  -- The block of a sale that was read from a chain. If a reorganisation removes the block, the sale is deleted. Null
  -- for a reported sale.
  block_number  bigint,
  primary key (collection_id, key)
) with (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

create index sale_by_time on indexer.sale (collection_id, sold_at desc, key desc);
create index sale_by_asset on indexer.sale (collection_id, asset, sold_at desc, key desc);
create index sale_by_block on indexer.sale (chain, block_number) where block_number is not null;
-- For counting the sales by chain that have no price in base units.
create index sale_unpriced on indexer.sale (chain) where price_raw is null;
-- Statements use this index to find sales by their transaction. Three kinds of sales are looked up in this way:
-- - a sale that was read from a chain (`block_number` is set), to recognise the reports of marketplaces about the
--   same sale;
-- - a report without a log index, because the sale replaces its report when the sale is read from the chain;
-- - a sale without a listing id, because it gets the id of the listing that it filled.
-- The index has no entry for a sale without a transaction, and none for a reported sale that has both a log index and a
-- listing id.
create index sale_by_transaction on indexer.sale (collection_id, tx)
  where tx is not null and (block_number is not null or log_index is null or listing_id is null);

-- Volume and number of the sales of a collection in each hour. The transaction that stores sales also updates these
-- sums. Which sales count is the rule of src/market/index/queries/sale-rule.ts.
create table indexer.sale_hour (
  collection_id text collate "C" not null,
  -- The start of the hour in UTC.
  hour          timestamptz not null,
  -- A sale without a price in base units has no part in the volume, and counts in `sales`.
  volume_raw    numeric not null,
  sales         bigint not null,
  -- How many of the counted sales have a price or a currency that cannot be read. While it is above zero, the volume is
  -- not known.
  unread        bigint not null default 0,
  -- The key includes the other columns, so that PostgreSQL reads the hours of a collection from the index and not from
  -- the table. In the table, rows are in the order of time, over all collections. Therefore nearly every hour of one
  -- collection is on a different page.
  primary key (collection_id, hour) include (volume_raw, sales)
) with (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
-- PostgreSQL reads a row from the index alone only if a vacuum has visited the row's page since the page was last
-- changed. By default a vacuum begins only when the new rows are a fifth of the table.

-- Through this index, reads find the few hours with unread sales. They read the other sums from the index of the
-- primary key.
create index sale_hour_unread on indexer.sale_hour (collection_id, hour) where unread > 0;

-- Volume and number of the same sales over all time. One row for each collection.
create table indexer.sale_total (
  collection_id text collate "C" primary key,
  volume_raw    numeric not null,
  sales         bigint not null,
  unread        bigint not null default 0
);

-- ============================================================================ 3. Tokens

create table indexer.token (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  chain         text collate "C" not null,
  name          text,
  image         text,
  -- The rank that a source reports. Ranks that are computed from traits are in `rarity_rank`.
  rarity_rank   bigint check (rarity_rank >= 1),
  owner         text collate "C",
  -- The block of the token's last transfer or token approval in the chain's log. Null if the log has no event of the
  -- token.
  owner_block   bigint,
  -- True if the chain's log has events of the token, and no account holds the token.
  burned        boolean not null default false,
  -- The source that reported `rarity_rank`: a marketplace, or `import`. Null if there is no rank, or if the source is
  -- not known.
  rarity_source text collate "C",
  -- Imported traits, an array of objects with the fields name, value and kind. Null if no traits were imported. The
  -- traits are copied to `token_trait` if no metadata of the token was read from its contract or from a DAS endpoint.
  -- Such a token has a row with the source `import` in `token_metadata`.
  traits        jsonb,
  primary key (collection_id, asset)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

create index token_by_owner_block on indexer.token (chain, owner_block) where owner_block is not null;
-- For the list of a collection's tokens in the order of ids. The length comes first, so that decimal ids are in numeric
-- order.
create index token_by_id on indexer.token (collection_id, length(asset), asset) where not burned;
-- For the list of a collection's tokens in the order of rarity ranks, and of its tokens without a rank in the order of
-- ids.
create index token_by_rank on indexer.token (collection_id, rarity_rank, length(asset), asset)
  where rarity_rank is not null and not burned;
create index token_unranked on indexer.token (collection_id, length(asset), asset)
  where rarity_rank is null and not burned;
-- For the list of the tokens that a wallet holds, in all collections.
create index token_by_account on indexer.token (owner, collection_id, asset) where not burned;
-- For the search of tokens by the beginning of a name.
create index token_by_name on indexer.token (chain, left(lower(name collate "C"), 100), collection_id, asset)
  where name is not null and not burned;
-- The same in one collection.
create index token_of_collection_by_name on indexer.token (collection_id, left(lower(name collate "C"), 100), asset)
  where name is not null and not burned;
-- For the search of Solana tokens by mint, which is the `asset` of a Solana token.
create index token_by_mint on indexer.token (asset, collection_id) where chain = 'solana' and not burned;

-- How many tokens of a collection each holder has. A holder without tokens has no row.
create table indexer.holder (
  collection_id text collate "C" not null,
  owner         text collate "C" not null,
  tokens        bigint not null check (tokens > 0),
  primary key (collection_id, owner)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

create index holder_by_tokens on indexer.holder (collection_id, tokens desc, owner);
-- For the list of the collections of a wallet.
create index holder_by_owner on indexer.holder (owner, collection_id, tokens);

-- ============================================================================ 4. Figures of collections

-- Figures of each collection, kept up to date in the transaction that changes them, so that no read counts the rows of
-- a collection.
create table indexer.collection_figures (
  collection_id      text collate "C" primary key,
  -- The columns down to `has_chain_holders` are maintained from rows of this schema. The number of assets with a
  -- listing in the mirror. Assets that the own order book lists do not count.
  listed_assets      bigint not null default 0 check (listed_assets >= 0),
  -- The lowest price of these assets in the mirror. Null if there are none.
  mirror_floor_raw   numeric(78, 0),
  -- The number of tokens that are not burned.
  tokens             bigint not null default 0 check (tokens >= 0),
  -- How many of these tokens have events in the chain's log.
  chain_tokens       bigint not null default 0 check (chain_tokens >= 0),
  -- The number of rows of the collection in `holder`.
  holders            bigint not null default 0 check (holders >= 0),
  -- True if the holders of the collection come from the log of its chain, which is the case for a followed collection.
  -- The holders are then not counted from the owners of tokens: a source may report an owner of a token that does not
  -- exist, and several accounts may hold one token (ERC-1155).
  has_chain_holders  boolean not null default false,
  -- The columns down to `own_floor_raw` are copied from the primary database. Whether the collection has a collection
  -- record.
  recorded           boolean not null default false,
  -- Empty if the collection is on no chain.
  chain              text collate "C" not null default '',
  launched           boolean not null default false,
  created_at         timestamptz,
  -- The floor of the collection's snapshot.
  snapshot_floor_raw numeric(78, 0),
  -- The all-time volume of the collection's snapshot, in native units.
  snapshot_volume    double precision,
  -- The number of assets that the own order book lists.
  own_listed_assets  bigint not null default 0,
  -- The lowest ask of the own order book. Null if it lists no asset.
  own_floor_raw      numeric(78, 0),
  -- The ranking key of the list of collections by volume, in native units. Minus infinity if the volume is unknown.
  volume_rank        double precision not null default '-Infinity',
  -- The ranking key of the list of collections by floor. Minus infinity if the floor is unknown.
  floor_rank         numeric not null default '-Infinity',
  -- When the sweep must compute the ranking keys again: after a change of the collection, when a reported figure becomes
  -- too old or a listing expires, or when time has passed for the keys of windows. Null for never.
  ranks_valid_until  timestamptz,
  -- The number of rows that the collection has in `trait_set`, and in `trait_listing`.
  trait_sets         bigint not null default 0 check (trait_sets >= 0),
  trait_listings     bigint not null default 0 check (trait_listings >= 0),
  -- The time, the floor, the number of listed assets and the top bid of the collection's last point in `market_point`. All
  -- are null before the first point.
  point_at           timestamptz,
  point_floor_raw    numeric(78, 0),
  point_listed       bigint,
  point_top_bid_raw  numeric(78, 0),
  -- The copy of main.collection_book.top_bid_raw.
  top_bid_raw        numeric(78, 0),
  -- Copied from the primary: whether the own order book has an order of the collection, of any status. Only then the
  -- book is known to be empty when it has none.
  own_known          boolean not null default false,
  -- The copy of main.collection.sales_complete.
  sales_complete     boolean not null default false,
  -- The first hour of `market_hour` with recorded figures. Earlier hours were derived from imported listings. Null if
  -- no hour was derived.
  recorded_from      timestamptz,
  -- The ranking keys by the volume of the last hour, 24 hours, seven days and 30 days, in native units; by the number of
  -- sales of all time and of these windows; and by the change of the floor in each window, 0.05 for 5 % more. Minus
  -- infinity if the figure is unknown. These keys have no index. A list in their order reads all collections of a chain.
  volume_hour_rank   double precision not null default '-Infinity',
  volume_day_rank    double precision not null default '-Infinity',
  volume_week_rank   double precision not null default '-Infinity',
  volume_month_rank  double precision not null default '-Infinity',
  sales_rank         double precision not null default '-Infinity',
  sales_hour_rank    double precision not null default '-Infinity',
  sales_day_rank     double precision not null default '-Infinity',
  sales_week_rank    double precision not null default '-Infinity',
  sales_month_rank   double precision not null default '-Infinity',
  change_hour_rank   double precision not null default '-Infinity',
  change_day_rank    double precision not null default '-Infinity',
  change_week_rank   double precision not null default '-Infinity',
  change_month_rank  double precision not null default '-Infinity'
);

create index collection_figures_by_volume on indexer.collection_figures (chain, launched desc, volume_rank desc, collection_id)
  where recorded;
create index collection_figures_by_floor on indexer.collection_figures (chain, launched desc, floor_rank desc, collection_id)
  where recorded;
create index collection_figures_by_time on indexer.collection_figures (chain, launched desc, created_at desc, collection_id)
  where recorded;
create index collection_figures_by_validity on indexer.collection_figures (ranks_valid_until)
  where recorded and ranks_valid_until is not null;
create index collection_figures_with_chain_holders on indexer.collection_figures (collection_id)
  where has_chain_holders;

-- The newest stats record of each collection. `at`: the time of the record. A figure is null if the record lacks it.
create table indexer.collection_stats (
  collection_id text collate "C" primary key,
  owners        bigint,
  listed_count  bigint,
  supply        bigint,
  floor_raw     numeric(78, 0),
  at            timestamptz not null
);

-- The newest analytics record of each collection. `at`: the time of the record. The volumes are in native units. A
-- figure is null if the record lacks it.
create table indexer.collection_analytics (
  collection_id    text collate "C" primary key,
  floor_raw        numeric(78, 0),
  volume_all_time  double precision,
  volume_seven_day double precision,
  volume_day       double precision,
  sales_all_time   bigint,
  sales_seven_day  bigint,
  sales_day        bigint,
  at               timestamptz not null
);

-- ============================================================================ 5. Metadata and traits

-- The metadata of tokens, and the state of reading it. The metadata is read from what the contract states (`source` is
-- `chain`) or from a DAS endpoint (`das`), or was imported (`import`). After a failed read, `name`, `image` and
-- `description` keep the values of the last successful read.
create table indexer.token_metadata (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  source        text collate "C" not null check (source in ('chain', 'das', 'import')),
  name          text,
  image         text,
  description   text,
  -- When the metadata is to be read next. Null if no read is planned.
  due_at        timestamptz,
  -- When the metadata was last read successfully. Null if it never was.
  fetched_at    timestamptz,
  -- How many reads in a row have failed.
  attempts      integer not null default 0,
  -- Why the last read failed. Null if it succeeded, or if there was no read.
  failure       text collate "C",
  -- The host from which the metadata was last requested; `data` for a data URI. Null if there is none, for example for
  -- the source `das`.
  host          text collate "C",
  -- A digest of the URI from which the metadata was read. Null if the metadata was not read from a URI.
  uri_digest    text collate "C",
  primary key (collection_id, asset),
  foreign key (collection_id, asset) references indexer.token on delete cascade
);

create index token_metadata_due on indexer.token_metadata (collection_id, due_at, asset) where due_at is not null;
create index token_metadata_failed on indexer.token_metadata (collection_id, failure, host) where failure is not null;
-- For the search of tokens by the beginning of a name, in one collection.
create index token_metadata_by_name on indexer.token_metadata (collection_id, left(lower(name collate "C"), 100), asset)
  where name is not null;
-- The same on one chain: a collection id begins with the name of the chain and `_`.
create index token_metadata_by_chain on indexer.token_metadata
  (split_part(collection_id, '_', 1), left(lower(name collate "C"), 100), collection_id, asset) where name is not null;

-- The traits of tokens.
create table indexer.token_trait (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  name          text collate "C" not null,
  -- The text in the metadata, also for a number or a date.
  value         text collate "C" not null,
  kind          text collate "C" not null check (kind in ('text', 'number', 'date')),
  -- The place of the trait in the metadata of the token; the first is 0.
  position      smallint not null,
  primary key (collection_id, asset, name, value),
  foreign key (collection_id, asset) references indexer.token_metadata on delete cascade
);

create index token_trait_by_value on indexer.token_trait (collection_id, name, value, asset);

-- ============================================================================ 6. Numbered traits

-- Tables that number the traits of each collection. From these tables the service reads the tokens that a filter by
-- traits selects, and the figures of each trait. The tables are derived from token_trait, token_metadata, token,
-- listed_asset and own_asset. Each transaction that writes these source tables also updates the derived tables, and
-- holds the lock on the collection's figures.

-- The ids of traits come from a sequence and not from an identity column, because on a Citus cluster the identity
-- column of a distributed table must be a bigint. The ids are unique over all collections.
create sequence indexer.trait_id_seq as integer;

-- One row for each trait of a collection. `id` is the number of the trait.
create table indexer.trait (
  id            integer not null default nextval('indexer.trait_id_seq'),
  collection_id text collate "C" not null,
  name          text collate "C" not null,
  value         text collate "C" not null,
  -- The number of tokens in trait_set that have the trait.
  tokens        bigint not null default 0 check (tokens >= 0),
  -- The number of tokens in trait_listing that have the trait.
  listed        bigint not null default 0 check (listed >= 0),
  primary key (collection_id, id),
  unique (collection_id, name, value)
);
alter sequence indexer.trait_id_seq owned by indexer.trait.id;

create index trait_by_tokens on indexer.trait (collection_id, name, tokens desc, value);
create index trait_unused on indexer.trait (collection_id) where tokens = 0;

-- One row for each token that is not burned and whose metadata was read.
create table indexer.trait_set (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- The token's traits, in the order of the metadata. Empty if the token has no traits.
  trait_ids     integer[] not null,
  primary key (collection_id, asset)
);

create index trait_set_by_traits on indexer.trait_set using gin (trait_ids) with (fastupdate = off);
-- For lists of the tokens with given traits, in the order of ids, when many tokens have these traits. The index
-- includes `trait_ids`, so PostgreSQL checks the traits in the index and does not read the table.
create index trait_set_by_id on indexer.trait_set (collection_id, length(asset), asset) include (trait_ids);

-- One row for each token in trait_set that is listed.
create table indexer.trait_listing (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- The price of the token's cheapest own order. If the own order book does not list the token, the price of its row in
  -- listed_asset.
  price_raw     numeric(78, 0) not null,
  -- When this order or listing expires; null if it does not expire.
  expires_at    timestamptz,
  trait_ids     integer[] not null,
  primary key (collection_id, asset)
);

create index trait_listing_by_expiry on indexer.trait_listing (collection_id, expires_at) where expires_at is not null;
-- For lists of listed tokens that are filtered by several traits. With this index, PostgreSQL does not read the tokens
-- that are not listed.
create index trait_listing_by_traits on indexer.trait_listing using gin (trait_ids) with (fastupdate = off);

-- One row for each trait of each token in trait_listing. For the list of the listed tokens with a given trait, in the
-- order of prices.
create table indexer.listed_trait (
  trait_id      integer not null,
  price_raw     numeric(78, 0) not null,
  asset         text collate "C" not null,
  collection_id text collate "C" not null,
  primary key (collection_id, trait_id, price_raw, asset)
);

-- ============================================================================ 7. Rarity ranks

-- The state of computing the rarity ranks of a collection's tokens from their traits. An examination decides whether
-- the ranks can be computed, and then computes them.
create table indexer.collection_rarity (
  collection_id   text collate "C" primary key,
  -- Incremented when traits of the collection change.
  revision        bigint not null default 0,
  -- The result of the last examination; null before the first. ranked: the ranks were computed. reported: a source
  -- reports ranks. incomplete: not all tokens are known, or the metadata of too many tokens was never read. untraited:
  -- no token has traits. too-large: too many tokens or different traits.
  state           text collate "C" check (state in ('ranked', 'reported', 'incomplete', 'untraited', 'too-large')),
  -- The value of `revision` that was read before the last examination. Null before the first.
  ranked_revision bigint,
  -- The number of stored tokens at the last examination. Null before the first.
  tokens          bigint,
  -- The rows of `rarity_rank` with this generation are served. 0: no computed ranks are served.
  generation      integer not null default 0,
  -- The next three columns describe the last computation of ranks. They are null before the first. The kind of source
  -- from which the list of the collection's tokens came, such as `chain`.
  kind            text collate "C",
  -- The source of this list. May be null.
  source          text collate "C",
  ranked_at       timestamptz,
  -- The collection is not examined again before this time.
  due_at          timestamptz not null default 'epoch'
);

-- Computed ranks. 1 is the rarest. Each computation stores its ranks under a new generation. These ranks are served
-- together, as soon as `collection_rarity.generation` is set to the new generation.
create table indexer.rarity_rank (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  generation    integer not null,
  rank          bigint not null check (rank > 0),
  primary key (collection_id, asset, generation),
  foreign key (collection_id, asset) references indexer.token on delete cascade
);

create index rarity_rank_by_rank on indexer.rarity_rank (collection_id, generation, rank, length(asset), asset);

-- ============================================================================ 8. History

-- The history of the floor, of the number of listed assets and of the top bid of each collection. Each change of one of
-- these figures adds a point. A point is deleted when it is so old that no reorganisation can take it back. The rows of market_hour
-- are kept permanently.
create table indexer.market_point (
  collection_id text collate "C" not null,
  at            timestamptz not null,
  seq           bigint not null generated always as identity,
  -- Null if there is no floor, or if it is not known.
  floor_raw     numeric(78, 0),
  -- The number of listed assets. Null if it is not known.
  listed        bigint,
  -- The highest proceeds of the bids for any token of the collection. Null if there is none.
  top_bid_raw   numeric(78, 0),
  -- Identifies the point in the activity log.
  key           uuid not null default gen_random_uuid(),
  primary key (collection_id, at, seq)
);

create index market_point_by_time on indexer.market_point (at);

-- One row for each hour that has points.
create table indexer.market_hour (
  collection_id   text collate "C" not null,
  -- The start of the hour in UTC.
  hour            timestamptz not null,
  -- The highest and the lowest floor of the hour's points. Null if none of them has a floor.
  floor_high_raw  numeric(78, 0),
  floor_low_raw   numeric(78, 0),
  -- The floor, the number of listed assets and the top bid of the hour's last point. Null if this point lacks the figure.
  floor_close_raw numeric(78, 0),
  listed          bigint,
  top_bid_raw     numeric(78, 0),
  -- The key includes the other columns for the same reason as that of `sale_hour`.
  primary key (collection_id, hour) include (floor_high_raw, floor_low_raw, floor_close_raw, listed, top_bid_raw)
) with (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);

-- The changes of listings, sales and floors that are not merged into main.activity yet. The columns are described at
-- `main.market_change`.
create table indexer.market_change (
  seq           bigint generated always as identity primary key,
  kind          text collate "C" not null,
  at            timestamptz not null,
  chain         text collate "C" not null,
  collection_id text collate "C",
  asset         text collate "C",
  price_raw     numeric(78, 0),
  from_account  text collate "C",
  to_account    text collate "C",
  order_id      text collate "C",
  marketplace   text collate "C",
  tx            text collate "C",
  reason        text collate "C",
  block_number  bigint,
  log_index     integer,
  quantity      numeric(78, 0),
  payment       text,
  tokens        jsonb,
  fact          text collate "C",
  facts         text[]
);

-- ============================================================================ 9. What is covered

-- Which part of a collection's history a source has delivered without a gap. The coverage of the owners is stored apart
-- from the coverage of the tokens, because a source may list all tokens of a collection without their owners.
create table indexer.coverage (
  collection_id text collate "C" not null,
  subject       text collate "C" not null check (subject in ('listings', 'sales', 'tokens', 'owners')),
  -- A chain, a vendor or `import`.
  source        text collate "C" not null,
  -- The part was read from the chain (`chain`), read from the vendor (`scan`) or imported (`imported`).
  kind          text not null check (kind in ('chain', 'scan', 'imported')),
  -- Null if the part begins with the beginning of the history.
  from_time     timestamptz,
  -- The coverage of a row of the kind `chain` ends at the `covered_to` of its chain.
  to_time       timestamptz not null,
  primary key (collection_id, subject, source)
);

-- How much of each chain's log has been written into this schema.
create table indexer.chain_cursor (
  chain            text collate "C" primary key,
  -- The sequence number (`seq`) of the last entry of the log that was written into this schema.
  seq              bigint not null,
  -- Each transaction that writes data from the chain's log into this schema increments this number.
  revision         bigint not null default 0,
  -- The log of the chain has been written into this schema up to the block with this time. Null before the first write.
  covered_to       timestamptz,
  -- The value that `main.chain_cursor.revision` had when `covered_to` was stored. The revision changes with the set of
  -- followed collections. Null before the first write.
  covered_revision bigint
);

-- ============================================================================ 10. Imports

-- What each import has changed in this schema. The columns are described at the tables of these names in the schema
-- `main`.

create table indexer.import_log (
  import_id text collate "C" primary key,
  closed    boolean not null default false,
  undone    jsonb not null default '{}'
);

create table indexer.import_change (
  import_id text collate "C" not null,
  seq       bigint not null,
  kind      text not null,
  rows      integer not null,
  keys      text[] not null,
  hashes    bigint[] not null,
  images    jsonb[] not null,
  primary key (import_id, seq)
);
alter table indexer.import_change alter column keys set storage external, alter column hashes set storage external;

-- ============================================================================ 11. Functions

-- Functions for what no single statement can do on all nodes of a Citus cluster. The node that received a statement
-- runs the functions that the statement calls.

-- Locks the figures of collections until the transaction ends, in the order of ids. On a cluster, one statement can
-- lock rows of one node only. Therefore the function locks one row after the other, in the order of the array `ids`,
-- which must be sorted. Each statement for one row is a message to a node, and most collections have a row of figures
-- already. Therefore it tries to lock the row first, and inserts the row only if it does not exist. The two settings
-- are for the rest of the transaction. A statement that updates or deletes rows of several collections would lock
-- shards against all other such statements, and two transactions that write the same tables in different orders would
-- deadlock. After the figures are locked, these locks are not needed: no other transaction writes rows of the same
-- collections. And a statement that changes rows of several shards could use several connections to a node. Later
-- statements of the transaction would then be refused ("placements that were modified over multiple connections").
create function indexer.lock_figures(ids text[]) returns void language plpgsql as $$
declare
  touched text;
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    insert into indexer.collection_figures (collection_id)
    select id from unnest(ids) as touched (id) order by id collate "C" on conflict do nothing;
    perform 1 from indexer.collection_figures where collection_id = any(ids) order by collection_id for update;
  else
    perform set_config('citus.enable_deadlock_prevention', 'off', true);
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
    foreach touched in array ids loop
      perform 1 from indexer.collection_figures where collection_id = touched for update;
      if not found then
        insert into indexer.collection_figures (collection_id) values (touched) on conflict do nothing;
        perform 1 from indexer.collection_figures where collection_id = touched for update;
      end if;
    end loop;
  end if;
end $$;

-- Returns the chains of the collections that have a collection record. The recursive statement searches an index once
-- for each chain. A cluster cannot run a recursive statement over all nodes, so on a cluster the function reads the
-- chain of every such collection.
create function indexer.ranked_chains() returns setof text language plpgsql stable as $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    return query with recursive ranked (chain) as (
      (select chain from indexer.collection_figures where recorded order by chain limit 1)
      union all
      select (select figures.chain from indexer.collection_figures as figures
              where recorded and figures.chain > ranked.chain order by figures.chain limit 1)
      from ranked where ranked.chain is not null
    ) select chain from ranked where chain is not null;
  else
    return query select distinct figures.chain from indexer.collection_figures as figures where recorded;
  end if;
end $$;

-- Creates the functions ranked_by_volume_rank, ranked_by_floor_rank and ranked_by_created_at. Each returns collections
-- of the chain `of_chain` in the descending order of the key in its name. Launched collections come before the others.
-- A result has up to three parts, each of at most `row_limit` rows:
-- 1. the collections whose `launched` is `is_launched`, whose key is `equal` and whose id sorts after `after_id`;
-- 2. the collections whose `launched` is `is_launched` and whose key is less than `bound`;
-- 3. if `is_launched` is true, the collections that are not launched.
do $do$
declare
  sort record;
begin
  for sort in select * from (values ('volume_rank', 'float8'), ('floor_rank', 'numeric'), ('created_at', 'timestamptz')) as sorts (name, type) loop
    execute format($create$
      create function indexer.ranked_by_%1$s(of_chain text, equal %2$s, bound %2$s, is_launched boolean, after_id text, row_limit integer)
      returns table (collection_id text, chain text, launched boolean, key %2$s) language plpgsql stable as $$
      begin
        return query select figures.collection_id, figures.chain, figures.launched, figures.%1$s from indexer.collection_figures as figures
          where recorded and figures.chain = of_chain collate "C" and figures.launched = is_launched and figures.%1$s = equal
            and figures.collection_id > after_id collate "C"
          order by figures.%1$s desc, figures.collection_id limit row_limit;
        return query select figures.collection_id, figures.chain, figures.launched, figures.%1$s from indexer.collection_figures as figures
          where recorded and figures.chain = of_chain collate "C" and figures.launched = is_launched and figures.%1$s < bound
          order by figures.%1$s desc, figures.collection_id limit row_limit;
        if is_launched then
          return query select figures.collection_id, figures.chain, figures.launched, figures.%1$s from indexer.collection_figures as figures
            where recorded and figures.chain = of_chain collate "C" and figures.launched = false
            order by figures.%1$s desc, figures.collection_id limit row_limit;
        end if;
      end $$
    $create$, sort.name, sort.type);
  end loop;
end $do$;
