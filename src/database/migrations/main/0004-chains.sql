-- Followed chains, and the signed orders of the own order book, whose status is derived from the events of the chains. The events
-- (chain_event) and the off-chain cancels (order_cancel) cannot be derived. Holdings, approvals, counters and the states of signed orders can
-- be computed again from the events, the cancels and the signed terms.

-- The terms of signed orders. A row without `order_hash` was imported without a verified signature. The status of such an order is not derived
-- from events: it is the imported status, or `expired` after the expiry time.
alter table main.book_order
  add column order_hash       text collate "C",
  add column protocol_address text collate "C",
  add column order_type       smallint,
  add column standard         text check (standard in ('erc721', 'erc1155')),
  -- The number of offered units. The price is for one unit.
  add column quantity         numeric(78, 0) not null default 1 check (quantity > 0),
  add column filled_quantity  numeric(78, 0) not null default 0 check (filled_quantity >= 0),
  -- The buyer total for one unit, if the fees are part of the signed order; otherwise null.
  add column buyer_total_raw  numeric(78, 0) check (buyer_total_raw >= 0),
  add column counter          numeric(78, 0),
  add column starts_at        timestamptz,
  -- The account that the seller must approve to transfer the token: the Seaport contract, or the conduit that the order names.
  add column operator         text collate "C",
  -- Why an active order cannot be filled now; null for every other order. An order with a reason is not listed.
  add column dormant          text check (dormant in ('no-balance', 'not-approved')),
  -- When the order ended; null while the order is active. Also null for an order without `order_hash` whose end was imported.
  add column ended_at         timestamptz;

create unique index book_order_by_hash on main.book_order (chain, order_hash) where order_hash is not null;
create index book_order_by_seller on main.book_order (chain, seller) where order_hash is not null;
create index book_order_by_asset on main.book_order (collection_id, token_id) where order_hash is not null;

drop index main.book_order_active_by_price;
drop index main.book_order_active_by_token;
create index book_order_active_by_price on main.book_order (collection_id, price_raw, id)
  where status = 'active' and dormant is null and price_raw > 0;
create index book_order_active_by_token on main.book_order (collection_id, token_id)
  where status = 'active' and dormant is null and price_raw > 0;

create index book_order_active_by_buyer_total on main.book_order (collection_id, buyer_total_raw)
  where status = 'active' and dormant is null and price_raw > 0 and buyer_total_raw is not null;

-- Off-chain cancels: orders that were cancelled without a transaction, either by a signature of the offerer or by the operator of the
-- service. `word` says which of the two cancelled. `signature` is null if the operator cancelled.
create table main.order_cancel (
  order_id   text collate "C" primary key,
  word       text not null check (word in ('offerer', 'operator')),
  signature  text,
  created_at timestamptz not null
);

-- The last block of each followed chain that was read and applied. A transaction that changes the data of a chain, or evaluates orders by
-- this data, locks the chain's row.
create table main.chain_cursor (
  chain        text collate "C" primary key,
  block_number bigint not null,
  block_hash   text not null,
  block_time   timestamptz not null,
  -- Incremented when a collection joins the live stream of the chain, and when a collection is no longer followed. Blocks that were read
  -- before the change are not applied. They are read again for the new set of collections.
  revision     bigint not null default 0,
  -- The number of reorganisations since the chain was first followed.
  reorgs       bigint not null default 0,
  -- Why no further block is read; null while the chain is read normally.
  note         text,
  updated_at   timestamptz not null
);

-- The hashes of recent blocks. After a reorganisation, the service compares them with the chain to find the common ancestor.
create table main.chain_block (
  chain  text collate "C" not null,
  number bigint not null,
  hash   text not null,
  time   timestamptz not null,
  primary key (chain, number)
);

-- The chain log: the decoded events of the followed chains. Holdings, approvals and the states of orders are derived from this log. `details`
-- has all fields of the event except its position and kind. Numbers of 256 bits in `details` are decimal text. `seq` is the order in which
-- the events were stored. It differs from the order of blocks, because a backfill stores old blocks late. A transaction that adds events
-- holds the lock on the chain's cursor until it commits. So a reader that has read all events of a chain up to a `seq` has missed none.
create sequence main.chain_seq;
create table main.chain_event (
  seq          bigint not null default nextval('main.chain_seq'),
  chain        text collate "C" not null,
  block_number bigint not null,
  log_index    integer not null,
  part         integer not null,
  block_time   timestamptz not null,
  tx           text not null,
  kind         text not null,
  -- The contract that emitted the event: a settlement protocol or a token contract.
  contract     text collate "C" not null,
  token_id     text collate "C",
  order_hash   text collate "C",
  -- The account by which queries find the event: the offerer of an order, the owner of an approval, or the sender of a transfer.
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

-- Reorganisations. `seq` is from the same sequence as the `seq` of events. A reorganisation voids the events with a lower `seq` in blocks after
-- block `ancestor`. `depth` is the number of orphaned blocks.
create table main.chain_reorg (
  seq        bigint not null default nextval('main.chain_seq'),
  chain      text collate "C" not null,
  ancestor   bigint not null,
  depth      integer not null,
  created_at timestamptz not null,
  primary key (chain, seq)
);

-- How many units of a token an account holds: the sum of the account's transfers of the token in the chain log.
create table main.holding (
  collection_id text collate "C" not null,
  token_id      text collate "C" not null,
  holder        text collate "C" not null,
  quantity      numeric(78, 0) not null,
  primary key (collection_id, token_id, holder)
);
create index holding_by_holder on main.holding (collection_id, holder);

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

-- The present counter of each offerer at the contract `protocol`. An offerer that never incremented the counter has no row.
create table main.offerer_counter (
  chain    text collate "C" not null,
  protocol text collate "C" not null,
  offerer  text collate "C" not null,
  counter  numeric(78, 0) not null,
  primary key (chain, protocol, offerer)
);

-- The follows: the collections that the workers keep up to date. `opensea_slug` and `magiceden_symbol` are the names of the collection at
-- these marketplaces; null if the name is not known.
create table main.follow (
  collection_id    text collate "C" primary key,
  chain            text collate "C" not null,
  contract_address text collate "C" not null,
  standard         text check (standard in ('erc721', 'erc1155')),
  -- The first block to read; null if the collection is followed only at marketplaces.
  from_block       bigint,
  -- The last block that the backfill has read; null before the backfill has begun.
  read_to_block    bigint,
  -- True when the backfill is complete and the collection is part of its chain's live stream. Then every block up to the chain's cursor has
  -- been read for the collection.
  joined           boolean not null default false,
  opensea_slug     text,
  magiceden_symbol text,
  created_at       timestamptz not null
);
create index follow_by_chain on main.follow (chain, contract_address);
