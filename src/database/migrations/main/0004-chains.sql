-- The chains as they are followed, and the own order book as a function of them: what was signed, what happened, who holds
-- what and who may move it. Everything but the log itself (chain_event, order_cancel) can be computed again from the log.

-- Signed orders. Rows without `order_hash` were imported as they were told and cannot be filled.
alter table main.book_order
  add column order_hash       text collate "C",
  add column protocol_address text collate "C",
  add column order_type       smallint,
  add column standard         text check (standard in ('erc721', 'erc1155')),
  -- Units offered; the price is for one of them.
  add column quantity         numeric(78, 0) not null default 1 check (quantity > 0),
  add column filled_quantity  numeric(78, 0) not null default 0 check (filled_quantity >= 0),
  -- What a buyer pays for one unit in all, where the order itself says so.
  add column buyer_total_raw  numeric(78, 0) check (buyer_total_raw >= 0),
  add column counter          numeric(78, 0),
  add column starts_at        timestamptz,
  -- Who has to be approved to move the token: the protocol, or the conduit that the order names.
  add column operator         text collate "C",
  -- Why an active order cannot be filled at the moment. Hidden everywhere while it is set.
  add column dormant          text check (dormant in ('no-balance', 'not-approved')),
  -- When and by what the status came about; null while active.
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

-- Cancels without a transaction: by the offerer's signature, or by the operator's word.
create table main.order_cancel (
  order_id   text collate "C" primary key,
  word       text not null check (word in ('offerer', 'operator')),
  signature  text,
  created_at timestamptz not null
);

-- How far each chain has been read. One row a chain, locked by whoever changes what the chain decides.
create table main.chain_cursor (
  chain        text collate "C" primary key,
  block_number bigint not null,
  block_hash   text not null,
  block_time   timestamptz not null,
  -- Raised whenever the set of followed contracts changes: a step that was read for another set is read again.
  revision     bigint not null default 0,
  -- Raised by each reorganisation.
  reorgs       bigint not null default 0,
  note         text,
  updated_at   timestamptz not null
);

-- The newest blocks, so that the last one in common can be found after a reorganisation.
create table main.chain_block (
  chain  text collate "C" not null,
  number bigint not null,
  hash   text not null,
  time   timestamptz not null,
  primary key (chain, number)
);

-- What happened, as decoded: the log from which all else follows. Wide numbers in `details` are text. `seq` is the order of
-- arrival, which is not that of the chain while a collection catches up; writers of one chain take turns by the lock on its
-- cursor, so that whoever has read up to a `seq` has missed nothing before it.
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
  -- The protocol or the token contract that told it.
  contract     text collate "C" not null,
  token_id     text collate "C",
  order_hash   text collate "C",
  -- The offerer, the owner, or the sender.
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

-- Reorganisations, in the same order of arrival: what was told after the ancestor before that is void.
create table main.chain_reorg (
  seq        bigint not null default nextval('main.chain_seq'),
  chain      text collate "C" not null,
  ancestor   bigint not null,
  depth      integer not null,
  created_at timestamptz not null,
  primary key (chain, seq)
);

-- Who holds how much of which token, summed from the transfers.
create table main.holding (
  collection_id text collate "C" not null,
  token_id      text collate "C" not null,
  holder        text collate "C" not null,
  quantity      numeric(78, 0) not null,
  primary key (collection_id, token_id, holder)
);
create index holding_by_holder on main.holding (collection_id, holder);

-- Who may move all tokens of whom in a collection; only what is approved is kept.
create table main.operator_approval (
  collection_id text collate "C" not null,
  owner         text collate "C" not null,
  operator      text collate "C" not null,
  primary key (collection_id, owner, operator)
);

-- Who may move one token.
create table main.token_approval (
  collection_id text collate "C" not null,
  token_id      text collate "C" not null,
  operator      text collate "C" not null,
  primary key (collection_id, token_id)
);

-- The counter of each offerer that has raised it.
create table main.offerer_counter (
  chain    text collate "C" not null,
  protocol text collate "C" not null,
  offerer  text collate "C" not null,
  counter  numeric(78, 0) not null,
  primary key (chain, protocol, offerer)
);

-- What the workers follow: on chains, and at marketplaces under their own names for it.
create table main.follow (
  collection_id    text collate "C" primary key,
  chain            text collate "C" not null,
  contract_address text collate "C" not null,
  standard         text check (standard in ('erc721', 'erc1155')),
  -- The first block to be read, and the last one that has been; both null where the chain itself is not followed.
  from_block       bigint,
  read_to_block    bigint,
  -- True once it is part of the live stream: then everything up to the chain's cursor has been read.
  joined           boolean not null default false,
  opensea_slug     text,
  magiceden_symbol text,
  created_at       timestamptz not null
);
create index follow_by_chain on main.follow (chain, contract_address);
