-- Mirrored listings that the log of a followed chain decides about.

-- The terms of the signed order on which this depends, as far as the marketplace gives them.
alter table indexer.listing
  -- The account that must be approved to transfer the token.
  add column operator         text collate "C",
  -- The deployment of the protocol that the order is signed for.
  add column protocol_address text collate "C",
  add column counter          numeric(78, 0) check (counter >= 0),
  -- Units offered, and whether the order may be filled in parts. Null: one unit, which cannot be divided.
  add column quantity         numeric(78, 0) check (quantity > 0),
  add column partial          boolean,
  -- The time of the block that ended the listing. Null while no block has: the status is then the one that the marketplace reported.
  add column ended_at         timestamptz;

create index listing_pending on indexer.listing (chain, collection_id, key) where undeliverable = 'pending';
create index listing_hidden on indexer.listing (collection_id, key) where undeliverable is not null;
create index listing_by_signer on indexer.listing (chain, seller) where operator is not null or counter is not null;

-- The collections whose listings are judged by the log of their chain.
create table indexer.judged_collection (
  collection_id text collate "C" primary key,
  chain         text collate "C" not null,
  -- When the collection was followed. Another time means that it was removed and followed again.
  followed_at   timestamptz not null,
  -- joining: the stored listings are judged one after the other. leaving: the hidden listings are listed again.
  state         text collate "C" not null check (state in ('joining', 'joined', 'leaving')),
  -- The last entry of the chain's log when the collection had joined: up to here the log has its complete past.
  joined_seq    bigint not null,
  -- While joining: the last listing that was judged.
  after_asset   text collate "C",
  after_key     uuid
);
create index judged_collection_by_chain on indexer.judged_collection (chain, collection_id);

-- Incremented by each transaction that writes the log, or what follows from it, into this database.
alter table indexer.chain_cursor add column revision bigint not null default 0;
