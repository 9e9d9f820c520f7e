-- The schema `main`: what the service itself is the authority for. This file is the schema of version 0.1.0. Later
-- changes are in numbered files beside it (src/platform/database/migrate.ts).
--
-- 1. Collections              5. The chain log             9. Shops and their stock
-- 2. The own order book       6. State from the log       10. Events and webhooks
-- 3. The copy in the indexer  7. The activity log         11. The running service
-- 4. Followed collections     8. Imports
--
-- Ids and the other texts by which pages are sorted have the C collation, so that both database engines sort and
-- compare them in the same way. Amounts (`…_raw`) are in base units of the native currency, except those of a bid in
-- another currency. An `asset` is a token id in decimal or, on Solana, a mint.

-- ============================================================================ 1. Collections

-- The collection records. The id is `<chain>_<address>`, or the slug if there is no address.
create table main.collection (
  id                 text collate "C" primary key,
  chain              text collate "C",
  contract_address   text collate "C",
  slug               text collate "C" unique,
  name               text not null,
  image              text,
  banner             text,
  description        text,
  token_standard     text,
  royalty_bps        integer check (royalty_bps between 0 and 10000),
  launched           boolean not null default false,
  created_at         timestamptz not null,
  -- The snapshot: figures that the record states. The volume is in native units.
  snapshot_floor_raw numeric(78, 0) check (snapshot_floor_raw >= 0),
  snapshot_volume    double precision,
  snapshot_supply    bigint check (snapshot_supply >= 0),
  snapshot_owners    bigint check (snapshot_owners >= 0),
  -- True if all tokens of the collection are imported.
  tokens_complete    boolean not null default false,
  -- True if all sales of the collection are imported, from the first one on. Null if the record does not say so.
  sales_complete     boolean,
  -- True if the imported listings are all listings of the collection, also those that have ended. Null if the record
  -- does not say so.
  listings_complete  boolean
);

create index collection_by_contract on main.collection (contract_address) where contract_address is not null;

-- The metadata of followed collections that was read from their contracts. A field of this table is served if the same
-- field of the collection record is null. The column `name` is served if the name in the record is only the contract
-- address.
create table main.collection_metadata (
  collection_id text collate "C" primary key,
  name          text,
  image         text,
  banner        text,
  description   text,
  royalty_bps   integer check (royalty_bps between 0 and 10000),
  -- When the metadata is read again.
  due_at        timestamptz,
  -- When the metadata was last read successfully; null if it never was.
  fetched_at    timestamptz,
  -- The number of failed reads since the last successful read.
  attempts      integer not null default 0,
  -- Why the last read failed; null if it succeeded.
  failure       text collate "C",
  -- The host from which the document was requested; null if no document was requested.
  host          text collate "C",
  -- A digest of the URI of the document; null if the last read found no URI.
  uri_digest    text collate "C"
);

-- Search of collections by name. Accents of Latin, Greek and Cyrillic letters are left out. Each word of a name gets two
-- spaces before it and one space after it. Every three successive characters of the result are a trigram. Each character
-- of Chinese, Japanese and Korean script is a part of its own too, because one character is a word.
-- src/market/explore/trigrams.ts computes the same parts. The C collation converts only ASCII letters to lower case, so
-- both database engines return the same parts in every locale.
create function main.trigrams(text) returns text[] language sql immutable strict parallel safe as $$
  with folded as materialized (
    select lower(normalize(regexp_replace(normalize($1, nfd), '[\u0300-\u036f]', '', 'g'), nfc) collate "C") as text
  )
  select coalesce(array_agg(distinct part), '{}') from (
    select substr(padded.word, place, 3) as part from (
      select '  ' || word || ' ' as word from folded, regexp_split_to_table(folded.text, '[ -/:-@\[-`{-~]+') as word where word <> ''
    ) as padded cross join lateral generate_series(1, length(padded.word) - 2) as place
    union all
    select found[1] from folded, regexp_matches(folded.text, '[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]', 'g') as found
  ) as parts
$$;

create index collection_by_name on main.collection (left(lower(name collate "C"), 100), id);
create index collection_by_trigrams on main.collection using gin (main.trigrams(left(name, 200)));
create index collection_metadata_by_name on main.collection_metadata (left(lower(name collate "C"), 100), collection_id)
  where name is not null;
create index collection_metadata_by_trigrams on main.collection_metadata using gin (main.trigrams(left(name, 200)))
  where name is not null;

-- The changes of metadata that contracts have announced, for the tokens from `from_id` to `to_id`, both included. A row
-- is deleted after the indexer has stored that the metadata of these tokens must be read again.
create table main.metadata_announcement (
  seq           bigint generated always as identity primary key,
  collection_id text collate "C" not null,
  from_id       numeric(78, 0) not null,
  to_id         numeric(78, 0) not null,
  unique (collection_id, from_id, to_id)
);

-- The newest dollar rate of each native currency: `usd` dollars for one unit of the currency.
create table main.rate (
  symbol text collate "C" primary key,
  usd    double precision not null check (usd > 0),
  at     timestamptz not null
);

-- For each collection, the last buyer floor that could be read. It is served as stale while the present buyer floor
-- cannot be read. It is stored only for the chains with `keepsBuyerFloor` (src/platform/core/chains.ts).
create table main.last_buyer_floor (
  collection_id text collate "C" primary key,
  floor_raw     numeric(78, 0) not null,
  observed_at   timestamptz not null,
  -- The ask floor of the same moment. Null if it is not known.
  ask_raw       numeric(78, 0)
);

-- ============================================================================ 2. The own order book

-- The orders of the service, of both sides: an ask offers a token for a price, a bid offers a price for a token. The id of
-- an ask is `<chain>_<contract>_<tokenId>_<epochMillis>`, with the creation time in milliseconds. The id of a bid is
-- `<chain>_<contract>_bid_<orderHash>`. Clients must treat the id as opaque. The status of a signed order is derived from
-- the chain log, the signed terms, and for a bid from the funds of its bidder. A row without `order_hash` was imported
-- without a verified signature: its status is the imported status, or `expired` after the expiry time. The bids that
-- marketplaces report are rows without `order_hash` too, with a `source`: so one statement finds the best bid for a token.
-- The id of a reported bid is `<chain>_<contract>_bid_<source>:<id>`.
create table main.book_order (
  id               text collate "C" primary key,
  collection_id    text collate "C" not null,
  chain            text collate "C" not null,
  contract_address text collate "C" not null,
  -- The token that is offered or wanted; null for a bid that several tokens meet.
  token_id         text collate "C",
  -- The price of one unit: what the seller of an ask receives, and what the bidder pays.
  price_raw        numeric(78, 0) not null check (price_raw >= 0),
  -- The account that has signed the order: the seller of an ask, and the bidder of a bid.
  seller           text collate "C" not null,
  status           text collate "C" not null check (status in ('active', 'filled', 'cancelled', 'expired')),
  created_at       timestamptz not null,
  expires_at       timestamptz,
  tx               text collate "C",
  -- The parameters and the signature of a signed order.
  seaport          jsonb,
  order_hash       text collate "C",
  protocol_address text collate "C",
  order_type       smallint,
  standard         text check (standard in ('erc721', 'erc1155')),
  -- The number of units that are offered or wanted.
  quantity         numeric(78, 0) not null default 1 check (quantity > 0),
  filled_quantity  numeric(78, 0) not null default 0 check (filled_quantity >= 0),
  -- The buyer total for one unit, if the fees are part of the signed order; otherwise null.
  buyer_total_raw  numeric(78, 0) check (buyer_total_raw >= 0),
  counter          numeric(78, 0),
  starts_at        timestamptz,
  -- The account that must be approved to transfer what the order offers: the Seaport contract, or the conduit that the
  -- order names.
  operator         text collate "C",
  -- Why an active order cannot be filled now; null for every other order. An order with a reason is not listed.
  dormant          text collate "C" check (dormant in ('no-balance', 'not-approved')),
  -- When the order ended; null while the order is active. Also null for an order without `order_hash` whose end was
  -- imported.
  ended_at         timestamptz,
  side             text collate "C" not null default 'ask' check (side in ('ask', 'bid')),
  -- For a bid: what the seller keeps of the price after the fees in the order. Null for an ask.
  proceeds_raw     numeric(78, 0) check (proceeds_raw > 0),
  -- For a bid that the tokens of a set meet: the root of their Merkle tree, a row of `token_set`. Otherwise null. Of a
  -- reported bid: a digest that names the set.
  root             text collate "C",
  -- The marketplace that has reported the bid; null for an order of the service.
  source           text collate "C",
  -- The hash of the signed order, as the marketplace states it. Null for an order of the service.
  reported_hash    text collate "C",
  -- When a complete list of its marketplace lacked the bid. The bid is then `cancelled`, until it is reported again.
  retired_at       timestamptz,
  -- The contract of the currency of a bid, in whose base units `price_raw` and `proceeds_raw` are. Null for the wrapped
  -- native currency, and for an ask. Bids in different currencies are never compared.
  currency         text collate "C",
  check (token_id is not null or side = 'bid'),
  check ((proceeds_raw is not null) = (side = 'bid')),
  check (source is null or (side = 'bid' and order_hash is null)),
  check (currency is null or side = 'bid')
);

-- A listing window reads the fillable orders of a collection in the order of this index. The ask floor is the price of
-- the first entry that has not expired.
create index book_order_active_by_price on main.book_order (collection_id, price_raw, id)
  where side = 'ask' and status = 'active' and dormant is null and price_raw > 0;
create index book_order_active_by_token on main.book_order (collection_id, token_id)
  where side = 'ask' and status = 'active' and dormant is null and price_raw > 0;
create index book_order_active_by_expiry on main.book_order (expires_at)
  where status = 'active' and expires_at is not null;
create index book_order_active_by_buyer_total on main.book_order (collection_id, buyer_total_raw)
  where side = 'ask' and status = 'active' and dormant is null and price_raw > 0 and buyer_total_raw is not null;
-- Finds the cheapest order whose buyers pay platform fee and royalty on top, also in a collection whose other orders
-- include their fees.
create index book_order_active_without_total on main.book_order (collection_id, price_raw, id)
  where side = 'ask' and status = 'active' and dormant is null and price_raw > 0 and buyer_total_raw is null;
-- Finds the fillable orders of a wallet in all collections.
create index book_order_by_account on main.book_order (seller, collection_id, token_id)
  where side = 'ask' and status = 'active' and dormant is null and price_raw > 0;
-- For the lists of orders by time: those that can be filled, and those of one status in a collection or of a seller.
create index book_order_listed_by_time on main.book_order (created_at, id)
  where side = 'ask' and status = 'active' and dormant is null and price_raw > 0;
create index book_order_of_collection_by_time on main.book_order (collection_id, status, created_at, id, dormant)
  where side = 'ask';
create index book_order_of_account_by_time on main.book_order (seller, status, created_at, id, dormant)
  where side = 'ask';
-- For the list of the orders of a collection that expire soon.
create index book_order_listed_by_expiry on main.book_order (collection_id, expires_at, id)
  where side = 'ask' and status = 'active' and dormant is null and price_raw > 0 and expires_at is not null;
-- Finds whether a collection has an ask of any status.
create index book_order_by_asset on main.book_order (collection_id, token_id) where side = 'ask';
create unique index book_order_by_hash on main.book_order (chain, order_hash) where order_hash is not null;
create index book_order_by_seller on main.book_order (chain, seller) where order_hash is not null;

-- The best bids for a token (`token_id`), for the tokens of a set (`root`), and for any token of a collection, in each
-- currency.
create index bid_by_proceeds on main.book_order
  (collection_id, coalesce(token_id, root, ''), coalesce(currency, ''), proceeds_raw desc, id)
  where side = 'bid' and status = 'active' and dormant is null;
-- For the lists of bids: those of a collection by proceeds (in the wrapped native currency) and by expiry, those that can
-- be accepted by time, and those of one status in a collection or of a bidder.
create index bid_of_collection_by_proceeds on main.book_order (collection_id, proceeds_raw, id)
  where side = 'bid' and status = 'active' and dormant is null and currency is null;
create index bid_by_expiry on main.book_order (collection_id, expires_at, id)
  where side = 'bid' and status = 'active' and dormant is null and expires_at is not null;
create index bid_by_time on main.book_order (created_at, id)
  where side = 'bid' and status = 'active' and dormant is null;
create index bid_of_collection_by_time on main.book_order (collection_id, status, created_at, id, dormant)
  where side = 'bid';
create index bid_of_account_by_time on main.book_order (seller, status, created_at, id, dormant) where side = 'bid';
-- Finds the bids for a token that has moved.
create index bid_by_token on main.book_order (collection_id, token_id) where side = 'bid';
-- Finds a reported bid by the hash of its order, and the active bids that a marketplace has reported of a collection.
create index bid_by_reported_hash on main.book_order (reported_hash, chain) where reported_hash is not null;
create index bid_by_source on main.book_order (source, collection_id, id) where source is not null and status = 'active';

-- The sets of tokens that bids name by the root of a Merkle tree. A set stays after its bids have ended. A set that a
-- reported bid names by traits alone has the tokens that had these traits when the bid was last reported.
create table main.token_set (
  collection_id text collate "C" not null,
  root          text collate "C" not null,
  -- The number of tokens.
  tokens        integer not null,
  -- The traits that exactly these tokens had when the first bid for them was stored, as `[{"name", "value"}]`. Null if the
  -- tokens were named one by one.
  traits        jsonb,
  primary key (collection_id, root)
);

create table main.token_set_member (
  collection_id text collate "C" not null,
  token_id      text collate "C" not null,
  root          text collate "C" not null,
  primary key (collection_id, token_id, root)
);

create index token_set_member_by_root on main.token_set_member (collection_id, root, token_id);

-- The last list of a collection's bids at a marketplace. Bids that are missing from the list are retired. The columns are
-- those of `indexer.listing_snapshot`.
create table main.bid_snapshot (
  source        text collate "C" not null,
  collection_id text collate "C" not null,
  taken_at      timestamptz not null,
  bids          integer not null,
  retired       integer not null,
  doubts        integer not null,
  doubted_since timestamptz,
  primary key (source, collection_id)
);

-- Off-chain cancels: orders that were cancelled without a transaction, either by a signature of the offerer or by the
-- operator of the service. `signature` is null if the operator cancelled.
create table main.order_cancel (
  order_id     text collate "C" primary key,
  cancelled_by text not null check (cancelled_by in ('offerer', 'operator')),
  signature    text,
  created_at   timestamptz not null
);

-- The assets of the own order book that have a fillable order, one row for each asset. The transaction that changes
-- orders also updates this table and `collection_book`. It first locks the rows of the collections in
-- `collection_book`.
create table main.book_asset (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  -- The latest expiry time of the asset's fillable orders; null if one of these orders never expires.
  expires_at    timestamptz,
  -- The price of the cheapest fillable order; null if it was not computed yet.
  price_raw     numeric(78, 0),
  -- When the cheapest fillable order expires; null if this order never expires.
  price_until   timestamptz,
  primary key (collection_id, asset)
);

-- `collection_book.listed_assets` still counts the assets whose orders have all expired since the last expiry sweep.
-- Through this index, reads count these assets, and subtract them.
create index book_asset_by_expiry on main.book_asset (collection_id, expires_at) where expires_at is not null;

-- The figures of a collection's orders in the own order book.
create table main.collection_book (
  collection_id text collate "C" primary key,
  -- The number of the collection's rows in `book_asset`.
  listed_assets bigint not null default 0 check (listed_assets >= 0),
  -- The lowest ask of the fillable orders; null if no order can be filled.
  floor_raw     numeric(78, 0),
  -- The highest proceeds of the bids for any token of the collection that can be accepted; null if there is none.
  top_bid_raw   numeric(78, 0)
);

-- The assets with an active order that cannot be filled before the time `starts_at`. When this time has passed, the
-- expiry sweep updates the figures of the asset and deletes the row. The asset is empty for bids for any token.
create table main.book_start (
  starts_at     timestamptz not null,
  chain         text collate "C" not null,
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  primary key (starts_at, collection_id, asset)
);

-- ============================================================================ 3. The copy in the indexer

-- The indexer database has a copy of the collection records, and of the assets that the own order book lists. This
-- table has the changes that are not copied yet. A row without an asset is a change of the collection itself. A row
-- only says what has changed. The copy reads the current state.
create table main.catalog_change (
  seq           bigint generated always as identity primary key,
  collection_id text collate "C" not null,
  asset         text collate "C"
);

-- ============================================================================ 4. Followed collections

-- The follows: the collections that the workers keep up to date.
create table main.follow (
  collection_id    text collate "C" primary key,
  chain            text collate "C" not null,
  contract_address text collate "C" not null,
  standard         text check (standard in ('erc721', 'erc1155')),
  -- The first block to read; null if the collection is followed only at marketplaces.
  from_block       bigint,
  -- The last block that the backfill has read; null before the backfill has begun.
  read_to_block    bigint,
  -- True when the backfill is complete and the collection is part of its chain's live stream. Then every block up to
  -- the chain's cursor has been read for the collection.
  joined           boolean not null default false,
  created_at       timestamptz not null,
  -- True for a contract that is older than ERC-721, and emits transfers whose arguments are not or only partly indexed.
  unindexed        boolean not null default false
);

create index follow_by_chain on main.follow (chain, contract_address);

-- The names of followed collections at vendors that use names of their own, one row for each name.
create table main.follow_name (
  collection_id text collate "C" not null references main.follow on delete cascade,
  -- The identifier of the vendor in this program, such as `opensea` or `magic-eden`.
  vendor        text collate "C" not null,
  -- The name of the collection at the vendor, such as a slug at OpenSea or a symbol at Magic Eden.
  name          text not null,
  primary key (collection_id, vendor)
);

-- When each task last ran for each followed collection. A run of a task begins with the collection that has waited
-- longest. The times are stored, because the next run may be in another process.
create table main.follow_run (
  task          text collate "C" not null,
  collection_id text collate "C" not null references main.follow on delete cascade,
  -- When the task last ran for the collection.
  tried_at      timestamptz not null,
  -- When the task last succeeded for the collection; null if it never has.
  done_at       timestamptz,
  primary key (task, collection_id)
);

-- The followed collections and tokens that readers of the marketplace interface requested recently. The tasks refresh
-- them first. A row is deleted soon after its last request.
create table main.recent_view (
  collection_id text collate "C" not null,
  -- The requested token; null if the collection itself was requested.
  asset         text collate "C",
  -- The time of the last request.
  viewed_at     timestamptz not null,
  -- When a task last requested the token from a marketplace because of these requests; null if it never has.
  refreshed_at  timestamptz,
  unique nulls not distinct (collection_id, asset)
);

create index recent_view_by_time on main.recent_view (viewed_at);

-- ============================================================================ 5. The chain log

-- The last block of each followed chain that was read and applied. A transaction that changes the data of a chain, or
-- evaluates orders by this data, locks the chain's row.
create table main.chain_cursor (
  chain        text collate "C" primary key,
  block_number bigint not null,
  block_hash   text collate "C" not null,
  block_time   timestamptz not null,
  -- Incremented when a collection joins the live stream of the chain, and when a collection is no longer followed.
  -- Blocks that were read before the change are not applied. They are read again for the new set of collections.
  revision     bigint not null default 0,
  -- The number of reorganisations since the chain was first followed.
  reorgs       bigint not null default 0,
  -- Why no further block is read; null while the chain is read normally.
  note         text,
  updated_at   timestamptz not null
);

-- The hashes of recent blocks. After a reorganisation, the service compares them with the chain to find the common
-- ancestor.
create table main.chain_block (
  chain      text collate "C" not null,
  number     bigint not null,
  hash       text collate "C" not null,
  time       timestamptz not null,
  -- When the block was applied; null if this is not known.
  applied_at timestamptz,
  primary key (chain, number)
);

-- The chain log: the decoded events of the followed chains. Holdings, approvals and the states of orders are derived
-- from this log. `details` has all fields of the event except its position and kind. Numbers of 256 bits in `details`
-- are decimal text. `seq` is the order in which the events were stored. It differs from the order of blocks, because a
-- backfill stores old blocks late. A transaction that adds events holds the lock on the chain's cursor until it
-- commits. So a reader that has read all events of a chain up to a `seq` has missed none. For mirrored listings whose
-- state is derived from the log, it also has the cancels of accounts that have held a token of a followed collection.
create sequence main.chain_seq;
create table main.chain_event (
  seq          bigint not null default nextval('main.chain_seq'),
  chain        text collate "C" not null,
  block_number bigint not null,
  log_index    integer not null,
  -- Distinguishes the events that one EVM log contains.
  part         integer not null,
  block_time   timestamptz not null,
  tx           text collate "C" not null,
  -- Among others `nonce-cancelled`: an account has cancelled the orders that were signed with one nonce. `token-bid`: a
  -- bid for a token, stored for protocols whose event of the later sale does not contain the price.
  kind         text collate "C" not null,
  -- The contract that emitted the event: a settlement protocol or a token contract.
  contract     text collate "C" not null,
  token_id     text collate "C",
  order_hash   text collate "C",
  -- The account by which queries find the event: the offerer of an order, the owner of an approval, or the sender of a
  -- transfer.
  account      text collate "C",
  details      jsonb not null,
  primary key (chain, block_number, log_index, part)
);

create unique index chain_event_by_seq on main.chain_event (chain, seq);
create index chain_event_by_order on main.chain_event (chain, order_hash) where order_hash is not null;
create index chain_event_by_token on main.chain_event (chain, contract, token_id, block_number, log_index, part)
  where kind in ('transfer', 'token-approval');
create index chain_event_by_account on main.chain_event (chain, contract, account, block_number, log_index)
  where kind in ('approval-for-all', 'counter-incremented');
create index chain_event_by_nonce on main.chain_event (chain, contract, account) where kind = 'nonce-cancelled';
-- Finds the cancel of one nonce without reading all cancels of an account, which may have cancelled many nonces.
create index chain_event_by_cancelled_nonce on main.chain_event (chain, contract, account, ((details ->> 'nonce')::numeric))
  where kind = 'nonce-cancelled';
create index chain_event_by_bid on main.chain_event (chain, contract, token_id, block_number, log_index)
  where kind = 'token-bid';
-- With this index and `holding_by_account` a query finds out whether an account has ever held a token of a followed
-- collection: the account holds such a token now, or it has sent one.
create index chain_event_by_sender on main.chain_event (chain, account, contract) where kind = 'transfer';

-- Reorganisations, and corrections of stored blocks. `seq` is from the same sequence as the `seq` of events. A
-- reorganisation voids the events with a lower `seq` in blocks after block `ancestor`. `depth` is the number of
-- orphaned blocks.
create table main.chain_reorg (
  seq            bigint not null default nextval('main.chain_seq'),
  chain          text collate "C" not null,
  ancestor       bigint not null,
  depth          integer not null,
  created_at     timestamptz not null,
  -- The orders, tokens and accounts whose events the reorganisation deleted. The listings that were judged by these
  -- events are judged again. Null if they are not known.
  affected       jsonb,
  -- When the first orphaned block was applied; null if this is not known. What the service recorded between `since` and
  -- the reorganisation may follow from orphaned events.
  since          timestamptz,
  -- The collections that the orphaned events concern; null if they are not known.
  collection_ids text[],
  -- For an entry that corrects stored blocks: the numbers of these blocks. Null for a reorganisation.
  corrected      bigint[],
  primary key (chain, seq)
);

-- Blocks whose events are stored but must be read from the chain again, from `from_block` to `to_block`.
create table main.reread_range (
  id         bigint generated always as identity primary key,
  chain      text collate "C" not null,
  from_block bigint not null,
  to_block   bigint not null,
  -- When the first of the blocks was stored.
  since      timestamptz not null,
  -- When the next attempt begins.
  due_at     timestamptz not null,
  check (to_block >= from_block)
);

create index reread_range_by_due on main.reread_range (chain, due_at);

-- ============================================================================ 6. State from the log

-- How many units of a token an account holds: the sum of the account's transfers of the token in the chain log.
create table main.holding (
  collection_id text collate "C" not null,
  token_id      text collate "C" not null,
  holder        text collate "C" not null,
  quantity      numeric(78, 0) not null,
  primary key (collection_id, token_id, holder)
);

create index holding_by_account on main.holding (holder, collection_id, token_id);

-- The operators that may transfer all tokens of an owner in a collection. A revoked approval has no row.
create table main.operator_approval (
  collection_id text collate "C" not null,
  owner         text collate "C" not null,
  operator      text collate "C" not null,
  primary key (collection_id, owner, operator)
);

-- The account that is approved to transfer one token. A token without an approved account has no row.
create table main.token_approval (
  collection_id text collate "C" not null,
  token_id      text collate "C" not null,
  operator      text collate "C" not null,
  primary key (collection_id, token_id)
);

-- The present counter of each offerer at the contract `protocol`. An offerer that never incremented the counter has no
-- row.
create table main.offerer_counter (
  chain    text collate "C" not null,
  protocol text collate "C" not null,
  offerer  text collate "C" not null,
  counter  numeric(78, 0) not null,
  primary key (chain, protocol, offerer)
);

-- What bidders can pay on a followed chain: their balance of a currency, and how much of it `operator` may spend. Both are
-- read by calls at block `block_number`, after the bid was submitted and after each block in which they may have changed.
-- The newest row with a balance counts. A reorganisation deletes the rows of orphaned blocks.
create table main.funds (
  chain        text collate "C" not null,
  account      text collate "C" not null,
  operator     text collate "C" not null,
  -- As in `book_order`, but an empty text for the wrapped native currency.
  currency     text collate "C" not null default '',
  block_number bigint not null,
  -- Null if the funds may have changed up to this block and are still to be read. Then `allowance` is null too.
  balance      numeric(78, 0),
  allowance    numeric(78, 0),
  primary key (chain, account, operator, currency, block_number),
  check ((balance is null) = (allowance is null))
);

create index funds_by_block on main.funds (chain, block_number);
create index funds_unread on main.funds (chain, block_number) where balance is null;

-- ============================================================================ 7. The activity log

-- What has changed in the market. A transaction that changes the market in one of the two schemas records the changes
-- in the table `market_change` of its schema. They stay there until they are merged into `activity`.
create table main.market_change (
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
  -- The block of a change that is read from a chain. For a reorganisation, the last block that is still part of the
  -- chain.
  block_number  bigint,
  -- The position of the event in its block. Null for a change that was not read from a chain.
  log_index     integer,
  -- The units that were transferred or sold, or that an order still offers. Null if their number is not known, and for
  -- changes without units.
  quantity      numeric(78, 0),
  -- The price of a sale as it was received, if it is no amount in the native currency. For a bid in another currency than
  -- the wrapped native one: the price of one unit, as `<amount> of <contract>`. Then `price_raw` is null.
  payment       text,
  -- The tokens of a sale of several tokens, as `[{"asset", "quantity"}]`. Null for other changes, and if they are not known.
  tokens        jsonb,
  -- Identifies the fact that the change records, such as a sale by its key.
  fact          text collate "C",
  -- The facts that a change of the kind `reorg` takes back; null for other kinds, and for a `reorg` that takes back the
  -- changes of all later blocks.
  facts         text[]
);

-- The changes of both schemas in one order.
create table main.activity (
  -- The second part of the public offset. The merge assigns positions without gaps. It holds the lock on `activity_head` until its commit,
  -- so positions become visible in their order.
  position      bigint primary key,
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
  -- The positions of the changes that a change of the kind `reorg` takes back; null for other kinds.
  voids         bigint[],
  -- The position of the `reorg` that took this change back; null if the change was not taken back.
  voided_by     bigint,
  -- The schema in which the change was recorded.
  origin        text collate "C" not null check (origin in ('main', 'indexer')),
  block_number  bigint,
  -- As in market_change.
  log_index     integer,
  quantity      numeric(78, 0),
  payment       text,
  tokens        jsonb,
  -- The collections of the changes that a change of the kind `reorg` takes back; null for other kinds.
  reorg_ids     text[],
  fact          text collate "C",
  merged_at     timestamptz not null
);

create index activity_by_collection on main.activity (collection_id, kind, at desc, position desc)
  where collection_id is not null;
create index activity_by_token on main.activity (collection_id, asset, at desc, position desc) where asset is not null;
create index activity_by_kind on main.activity (kind, at desc, position desc);
-- A wallet's activity: in all, in one collection, and on one chain.
create index activity_by_sender on main.activity (from_account, kind, at desc, position desc)
  where from_account is not null;
create index activity_by_receiver on main.activity (to_account, kind, at desc, position desc)
  where to_account is not null;
create index activity_by_sender_collection on main.activity (from_account, collection_id, kind, at desc, position desc)
  where from_account is not null and collection_id is not null;
create index activity_by_receiver_collection on main.activity (to_account, collection_id, kind, at desc, position desc)
  where to_account is not null and collection_id is not null;
create index activity_by_sender_chain on main.activity (from_account, chain, kind, at desc, position desc)
  where from_account is not null;
create index activity_by_receiver_chain on main.activity (to_account, chain, kind, at desc, position desc)
  where to_account is not null;
-- With these indexes, a connection to the stream whose filter matches few events does not read all other events.
create index activity_by_kind_position on main.activity (kind, position);
create index activity_by_collection_position on main.activity (collection_id, kind, position)
  where collection_id is not null;
create index activity_without_collection on main.activity (kind, position) where collection_id is null;
-- For the merge: what a reorganisation takes back.
create index activity_by_fact on main.activity (fact, origin) where fact is not null;
create index activity_by_block on main.activity (chain, block_number)
  where block_number is not null and voided_by is null;

-- One row. A transaction that merges changes holds the lock on this row until its commit, so that positions become
-- visible in their order.
create table main.activity_head (
  id       smallint primary key default 1 check (id = 1),
  -- Which log this is. Published as the first part of offsets, so that an offset of another log is recognised. A restore
  -- sets the default again. The default has the time in seconds and four random characters, in hexadecimal digits.
  epoch    text collate "C" not null
    default lpad(to_hex(extract(epoch from now())::bigint), 8, '0') || left(gen_random_uuid()::text, 4),
  -- The last assigned position.
  position bigint not null default 0,
  -- The log is complete from this position on. Older changes are deleted, except changes of floors.
  oldest   bigint not null default 1,
  -- Used only if the indexer has a database of its own. Incremented by each merge of the indexer's changes, and by each
  -- removal of collections. A merge whose `revision` is out of date writes nothing, and reads the changes again.
  revision bigint not null default 0,
  -- Used only if the indexer has a database of its own: the `seq` of the changes that the last merge has read from
  -- `indexer.market_change`. The array is emptied after these changes were deleted there.
  merged   bigint[] not null default '{}'
);

insert into main.activity_head default values;

-- ============================================================================ 8. Imports

-- The imports, so that an import can be undone (`mercat imports undo`).
create table main.import (
  id         text collate "C" primary key,
  -- The API key of the import; null if the operator imported.
  key_id     text collate "C",
  shop_id    text collate "C",
  file       text,
  format     text not null,
  replaces   boolean not null,
  started_at timestamptz not null,
  -- Null while the import runs, and for an import whose process was killed.
  ended_at   timestamptz,
  error      text,
  counts     jsonb,
  undo_state text check (undo_state in ('undoing', 'partly undone', 'undone')),
  undo_at    timestamptz,
  -- False after the recorded changes were deleted because of their age. The import can then not be undone any more.
  undo_kept  boolean not null default true
);

create index import_by_age on main.import (started_at) where undo_kept;

-- One row for each import that has changed rows of this schema, or was closed by an undo. Each batch of an import locks
-- the row of the import and reads `closed`. So a closed import cannot change more rows.
create table main.import_log (
  import_id text collate "C" primary key,
  closed    boolean not null default false,
  -- Not used: always an empty object.
  undone    jsonb not null default '{}'
);

-- The rows of one kind that one batch has inserted or changed. The arrays have one element for each row.
create table main.import_change (
  import_id text collate "C" not null,
  -- The later change of an import has the higher number.
  seq       bigint not null,
  kind      text not null,
  rows      integer not null,
  -- The primary keys of the rows. The columns of a key are separated by line feeds.
  keys      text[] not null,
  -- The hashes of the rows after the change.
  hashes    bigint[] not null,
  -- The rows before the change; null for an inserted row.
  images    jsonb[] not null,
  primary key (import_id, seq)
);

-- Compressing the keys and hashes of a change costs as much processor time as recording them, and saves little space.
alter table main.import_change alter column keys set storage external, alter column hashes set storage external;

-- ============================================================================ 9. Shops and their stock

create table main.shop (
  id         text collate "C" primary key,
  name       text collate "C" not null unique,
  created_at timestamptz not null
);

-- The secret of a key is not stored. `hash` is the SHA-256 of the secret. `prefix` is the beginning of the secret, by
-- which people recognise the key.
create table main.api_key (
  id           text collate "C" primary key,
  -- Null for a key that belongs to no shop.
  shop_id      text collate "C" references main.shop (id),
  name         text,
  prefix       text not null,
  hash         bytea not null unique,
  scopes       text[] not null,
  -- How many requests a minute a key with the scope `market:read` may send to the public interfaces: to lists, and to everything
  -- else. Null: the limits that every such key has.
  list_limit   integer check (list_limit > 0),
  item_limit   integer check (item_limit > 0),
  created_at   timestamptz not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  -- A rotation replaces a key by a new key. Until `replaced_at` both keys are valid, and after this time only the new
  -- key. Null if the key was never rotated. A rotation does not change `expires_at` of the old key. The new key has the
  -- same `expires_at`.
  replaced_at  timestamptz,
  -- A key without a shop has no scope of the store interface. The constraint makes sure that no code can store one.
  constraint api_key_without_shop check (shop_id is not null or scopes <@ array['orders:write', 'intake:write', 'market:read'])
);

create index api_key_by_shop on main.api_key (shop_id, created_at);

-- How many requests each API key has sent on each day (UTC).
create table main.key_usage (
  key_id   text collate "C" not null references main.api_key (id) on delete cascade,
  day      date not null,
  requests bigint not null,
  primary key (key_id, day)
);

-- The ids sort by creation time, so the list of products is paged by id, newest first. The prices are the decimal text
-- that the client sent.
create table main.product (
  id                text collate "C" primary key,
  shop_id           text collate "C" not null references main.shop (id),
  name              text not null,
  slug              text collate "C" not null,
  price             text not null,
  type              text not null check (type in ('physical', 'digital', 'nft')),
  description       text,
  image             text,
  more_images       text[] not null,
  inventory         integer not null check (inventory >= 0),
  -- How much the held reservations hold. It is not in `inventory`, which is what can be sold.
  reserved          bigint not null default 0 check (reserved >= 0),
  track_inventory   boolean not null,
  requires_shipping boolean not null,
  weight_grams      double precision not null check (weight_grams >= 0),
  collections       text[] not null,
  version           integer not null default 1,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  sku               text collate "C",
  barcode           text collate "C",
  -- The id of the product in a system of the shop.
  external_id       text collate "C",
  status            text not null default 'active' check (status in ('active', 'draft', 'archived')),
  -- An object of texts.
  metadata          jsonb not null default '{}',
  -- The products of one group are the variants of one product. `options` has what distinguishes a variant: a list of
  -- objects with the members `name` and `value`.
  group_id          text collate "C",
  options           jsonb not null default '[]',
  compare_at_price  text,
  unique (shop_id, slug)
);

-- Lists leave archived products out.
create index product_by_shop on main.product (shop_id, id desc) where status <> 'archived';

-- Two variants of a group are the same if they have the same values for the same options, in any order. The digest is
-- short enough for an index, which the values may not be.
create function main.variant_digest(options jsonb) returns text language sql immutable strict parallel safe as $$
  select md5(coalesce(jsonb_object_agg(option ->> 'name', option ->> 'value'), '{}')::text) from jsonb_array_elements(options) as option
$$;

create unique index product_by_sku on main.product (shop_id, sku) where sku is not null;
create unique index product_by_external_id on main.product (shop_id, external_id) where external_id is not null;
create unique index product_by_group on main.product (shop_id, group_id, main.variant_digest(options))
  where group_id is not null;
create index product_by_barcode on main.product (shop_id, barcode) where barcode is not null;

-- The words of a text, separated by spaces: without accents, in lower case, and without punctuation. Each character of a
-- script that is written without spaces is a word. The C collation converts only ASCII letters to lower case, so both
-- engines return the same words in every locale; `translate` converts the Cyrillic and Greek letters, and the Latin letters
-- that have no parts.
create function main.search_text(text) returns text language sql immutable strict parallel safe as $$
  select btrim(case when $1 ~ '[^\u0001-\u007f]'
    then regexp_replace(regexp_replace(
      translate(
        lower(normalize(regexp_replace(normalize($1, NFKD), '[\u0300-\u036f]', '', 'g'), NFKC) collate "C"),
        'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЄІЇҐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩØÆŒŁĐÞ',
        'абвгдежзийклмнопрстуфхцчшщъыьэюяєіїґαβγδεζηθικλμνξοπρστυφχψωøæœłđþ'),
      '([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])', ' \1 ', 'g'),
      '[\u0001-/:-@\[-`{-\u00bf\u00d7\u00f7\u2000-\u206f\u3000-\u303f]+', ' ', 'g')
    -- Most texts are ASCII, and are converted ten times as fast.
    else regexp_replace(lower($1 collate "C"), '[^a-z0-9]+', ' ', 'g') end, ' ')
$$;

-- What a product is searched by: its words; after `^` its name, and after `=` its SKU and its barcode. The shop stands
-- before each, so that a search reads only the entries of its shop. Long ones are cut, because the index limits the length.
create function main.product_words(shop_id text, name text, sku text, barcode text) returns tsvector
  language sql immutable parallel safe as $$
  select array_to_tsvector(array_agg(shop_id || ' ' || left(entry, 200)))
  from (values ('^', main.search_text(name)), ('=', main.search_text(sku)), ('=', main.search_text(barcode))) as given (kind, words)
  cross join lateral (
    select unnest(string_to_array(words, ' ')) as entry
    union all select kind || words
  ) as found
  where entry is not null
$$;

-- Finds the products of a shop by a text. `level`: 4 for those with the text as SKU or barcode, 3 as name, 2 as the
-- beginning of the name, 1 for those with all its words, 0 for those with words that begin with its words. A text without
-- words finds nothing.
create function main.product_query(shop_id text, written text, level integer) returns tsquery
  language sql immutable parallel safe as $$
  select string_agg('''' || shop_id || ' ' || left(entry, 200) || case when level in (0, 2) then ''':*' else '''' end, ' & ')::tsquery
  from (
    select case level when 4 then '=' when 3 then '^' when 2 then '^' else '' end || part as entry
    from unnest(case when level < 2 then string_to_array(main.search_text(written), ' ') else array[main.search_text(written)] end) as part
    where part <> ''
  ) as wanted
$$;

create index product_by_words on main.product using gin (main.product_words(shop_id, name, sku, barcode))
  with (fastupdate = off);

-- The adjustment log: one row for each change of a product's stock. The statement that changes the stock also writes
-- the row. Rows are never changed, and they are kept after their product is deleted.
create table main.adjustment (
  id         bigint generated always as identity primary key,
  shop_id    text collate "C" not null,
  product_id text collate "C" not null,
  previous   integer not null,
  next       integer not null,
  requested  bigint not null,
  mode       text not null check (mode in ('adjustment', 'set')),
  reason     text not null,
  source     text not null check (source in ('inventory', 'product', 'import', 'reservation')),
  -- The API key that made the change. Null if the change was made without a key.
  key_id     text collate "C",
  created_at timestamptz not null,
  -- The published id is random, because the numbers in `id` would reveal how many rows other shops have. Null in rows
  -- that a program before 0.1.0 stored: their published id is made of `id`.
  public_id  text collate "C" default 'adj_' || replace(gen_random_uuid()::text, '-', ''),
  -- The reservation that took or returned the stock; null unless `source` is `reservation`.
  reservation_id text collate "C",
  -- The place in the shop's feed of changes (`shop_feed`); null until the feed is read.
  position       bigint
);

create index adjustment_by_shop on main.adjustment (shop_id, id desc);
create index adjustment_by_product on main.adjustment (shop_id, product_id, id desc);
create unique index adjustment_by_position on main.adjustment (shop_id, position) where position is not null;
create index adjustment_without_position on main.adjustment (shop_id, id) where position is null;

-- A reservation holds stock of products for a checkout. A transaction that changes a reservation in the state `held`
-- holds the locks on the rows of all its products that still exist. The exception is the deletion of a product: it sets
-- `expires_at` to the present and `ends_as` to `released`, and the next sweep returns the stock of the other products.
-- As in `adjustment`, no row refers to another one by a foreign key, whose check takes as long as the row itself. One
-- statement writes a reservation with its items, in a shop whose products are locked, and neither is ever deleted.
create table main.reservation (
  id         text collate "C" primary key,
  shop_id    text collate "C" not null,
  state      text collate "C" not null default 'held' check (state in ('held', 'consumed', 'released', 'expired')),
  -- The shop's own name for the reservation, such as the id of a cart.
  reference  text collate "C",
  created_at timestamptz not null,
  -- From this time on a held reservation is over, even if its stock has not been returned yet.
  expires_at timestamptz not null,
  -- The state of a held reservation after `expires_at`.
  ends_as    text collate "C" not null default 'expired' check (ends_as in ('expired', 'released')),
  -- Null while the state is `held`.
  ended_at   timestamptz
);

create index reservation_by_shop on main.reservation (shop_id, id desc);
create index reservation_by_state on main.reservation (shop_id, state, id desc);
create index reservation_by_reference on main.reservation (shop_id, reference, id desc) where reference is not null;
create index reservation_due on main.reservation (expires_at) where state = 'held';

-- `quantity` of a product was reserved. `held` is still held and `consumed` was sold; the rest was returned.
create table main.reservation_item (
  reservation_id text collate "C" not null,
  -- The place of the item in the request.
  number         integer not null,
  product_id     text collate "C" not null,
  quantity       integer not null check (quantity > 0),
  held           integer not null check (held >= 0),
  consumed       integer not null check (consumed >= 0),
  -- Whether the stock of the product was counted at the time of the reservation. If not, no stock was taken.
  is_counted     boolean not null,
  primary key (reservation_id, product_id),
  check (held + consumed <= quantity)
);

create index reservation_item_by_product on main.reservation_item (product_id, reservation_id desc);

-- The response to the first request with an idempotency key. The transaction that makes the change of the request also
-- stores the response.
create table main.idempotency (
  key_id          text collate "C" not null,
  idempotency_key text collate "C" not null,
  request_digest  bytea not null,
  status          integer not null,
  headers         text not null,
  body            text not null,
  created_at      timestamptz not null,
  primary key (key_id, idempotency_key)
);

create index idempotency_by_age on main.idempotency (created_at);

-- ============================================================================ 10. Events and webhooks

-- The events of shops. The transaction that makes a change also records the event of the change. `data` is JSON text,
-- which is never changed. The webhook worker later creates the deliveries of the event and sets `fanned_out`.
create table main.event (
  id         text collate "C" primary key,
  -- The sequence numbers decide which events a webhook receives. Times cannot decide this, because the clocks of two
  -- processes may differ, and a clock may be set back.
  sequence   bigint generated always as identity unique,
  shop_id    text collate "C" not null,
  type       text not null,
  data       text not null,
  created_at timestamptz not null,
  fanned_out boolean not null default false,
  -- The place of the event among the rows of `adjustment`, from the same sequence as their ids. Null for an event that is
  -- not in the shop's feed of changes.
  number     bigint,
  -- As in `adjustment`.
  position   bigint
);

create index event_to_fan_out on main.event (sequence) where not fanned_out;
create index event_by_shop on main.event (shop_id, created_at);
create index event_by_age on main.event (created_at);
create unique index event_by_position on main.event (shop_id, position) where position is not null;
create index event_without_position on main.event (shop_id, number) where number is not null and position is null;

-- The feed of changes of a shop: the rows of `adjustment`, and the rows of `event` with a `number`. They get their
-- positions when the feed is read, by a transaction that has locked the row of this table first. It sees all rows that
-- were committed before, so a row that is committed later gets a higher position than every row that was read.
create table main.shop_feed (
  shop_id       text collate "C" primary key references main.shop (id),
  -- The highest position so far.
  last_position bigint not null default 0,
  -- Every row with a higher position still exists, or has no position yet.
  kept_after    bigint not null default 0,
  -- Rows up to this number that have no position were too old when the feed was read, and never get one.
  skipped_to    bigint not null default 0
);

-- The secrets of a webhook are stored, and not their hashes, because they sign the deliveries. The service may disable
-- a webhook, but only the shop can delete it.
create table main.webhook (
  id                    text collate "C" primary key,
  shop_id               text collate "C" not null references main.shop (id),
  url                   text not null,
  -- The event types to which the webhook subscribes.
  events                text[] not null,
  description           text,
  secret                text not null,
  -- Until `previous_secret_until`, deliveries are also signed with `previous_secret`.
  previous_secret       text,
  previous_secret_until timestamptz,
  enabled               boolean not null default true,
  -- Why and when the webhook was disabled; null while it is enabled.
  disabled_reason       text,
  disabled_at           timestamptz,
  -- The time of the first failure since the last success; null while the webhook is not failing.
  failing_since         timestamptz,
  version               integer not null default 1,
  created_at            timestamptz not null,
  updated_at            timestamptz not null,
  -- The position in the sequence of events at which the webhook was created. It receives only events with a larger
  -- sequence number.
  created_sequence      bigint not null default nextval('main.event_sequence_seq'),
  -- The position in the sequence of events at which the webhook was disabled; null while it is enabled. A disabled
  -- webhook still receives the events with a smaller sequence number.
  disabled_sequence     bigint,
  -- The secrets that were replaced before `previous_secret`, and until when deliveries are also signed with each of
  -- them.
  earlier_secrets       text[] not null default '{}',
  earlier_secrets_until timestamptz[] not null default '{}'
);

create index webhook_by_shop on main.webhook (shop_id, id);

-- The delivery of one event to one webhook. A worker leases the delivery, sends the event, and records the result. If
-- the lease ends without a result, the delivery is due again.
create table main.delivery (
  id               bigint generated always as identity primary key,
  webhook_id       text collate "C" not null references main.webhook (id) on delete cascade,
  event_id         text collate "C" not null references main.event (id) on delete cascade,
  state            text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  attempts         integer not null default 0,
  due_at           timestamptz not null,
  leased_until     timestamptz,
  -- Incremented by each lease, so it identifies the lease. A worker whose lease was followed by another lease cannot
  -- record a failure any more.
  claims           integer not null default 0,
  last_attempt_at  timestamptz,
  last_status      integer,
  last_error       text,
  last_duration_ms integer,
  delivered_at     timestamptz,
  created_at       timestamptz not null,
  -- The published id, random like that of an adjustment, and null in the same case.
  public_id        text collate "C" default 'dlv_' || replace(gen_random_uuid()::text, '-', ''),
  -- When a redelivery, a retry or a recovery last made the delivery due.
  rescheduled_at   timestamptz,
  unique (webhook_id, event_id)
);

-- The statement that leases deliveries reads a few entries of each webhook from this index. So the long queue of one
-- webhook does not slow the deliveries of the others.
create index delivery_due on main.delivery (webhook_id, due_at, id) where state = 'pending';
create index delivery_dead on main.delivery (webhook_id, id) where state = 'dead';
create index delivery_by_webhook on main.delivery (webhook_id, id desc);
create index delivery_by_event on main.delivery (event_id);
create unique index delivery_public_id on main.delivery (public_id);

-- ============================================================================ 11. The running service

-- Secrets that all nodes share, such as the key that authenticates page cursors.
create table main.secret (
  name       text collate "C" primary key,
  value      bytea not null,
  created_at timestamptz not null default now()
);

-- The background tasks: the lease and the progress of the current run, when the task is due, and the results of the
-- last runs. All times are from the clock of the database, because the clocks of processes may differ.
create table main.sync_task (
  name         text collate "C" primary key,
  period_ms    bigint not null,
  -- The id of the run that holds the lease; null if no run holds it. Only this run may continue. It renews the lease
  -- while it runs.
  holder       text,
  leased_until timestamptz,
  due_at       timestamptz not null,
  -- True if the task was requested to run now, even if it is not due.
  nudged       boolean not null default false,
  -- The progress of the current run; null if no run is in progress, or if the run has reported no progress.
  progress     jsonb,
  last_started timestamptz,
  last_ended   timestamptz,
  last_ok      timestamptz,
  -- The number of failed runs since the last successful run.
  failures     integer not null default 0,
  -- The error of the last failed run; null after a successful run.
  last_error   text,
  -- The counts and problems of the last successful run; null before the first.
  result       jsonb,
  -- The state of the upstreams at the end of the last run.
  upstreams    jsonb
);

-- The hourly budget of requests to each upstream, as a token bucket that is refilled over time. All processes share the
-- budget, because the upstream counts all requests with the same API key together.
create table main.request_budget (
  upstream text collate "C" primary key,
  -- The number of requests in the bucket at the time `at`. These requests could be sent without waiting. The number is
  -- negative while requests were taken from the bucket but still wait to be sent.
  tokens   double precision not null,
  -- The time to which `tokens` refers, from the clock of the database, because the clocks of processes may differ.
  at       timestamptz not null
);

-- The starts of the program, with the settings that differ from their defaults. Secrets are masked.
create table main.service_start (
  id       bigint generated always as identity primary key,
  at       timestamptz not null default now(),
  command  text not null,
  host     text not null,
  version  text not null,
  settings jsonb not null
);

-- The newest complete backups. `at` is the time of the data in the backup.
create table main.backup (
  id    bigint generated always as identity primary key,
  at    timestamptz not null,
  bytes bigint not null,
  rows  bigint not null
);
