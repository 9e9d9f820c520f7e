-- Judged listings: mirrored listings whose state is derived from the log of their followed chain.

-- The columns down to `partial` are terms of the signed order of the listing. The state is derived from the chain's log and these terms. A term is
-- null if no marketplace has reported it.
alter table indexer.listing
  -- The account that transfers the token when the order is filled. The seller must have approved this account.
  add column operator         text collate "C",
  -- The address of the protocol contract for which the order is signed.
  add column protocol_address text collate "C",
  -- The counter of the seller with which the order is signed. If the seller increments the counter on the chain, the order is cancelled.
  add column counter          numeric(78, 0) check (counter >= 0),
  -- The number of units offered. Null is treated as one unit.
  add column quantity         numeric(78, 0) check (quantity > 0),
  -- Whether the order may be filled in parts. Null is treated as false.
  add column partial          boolean,
  -- The time of the block that ended the listing. Null if no block has ended the listing. The status of the listing then does not come from the
  -- chain.
  add column ended_at         timestamptz;

create index listing_pending on indexer.listing (chain, collection_id, key) where undeliverable = 'pending';
create index listing_hidden on indexer.listing (collection_id, key) where undeliverable is not null;
create index listing_by_signer on indexer.listing (chain, seller) where operator is not null or counter is not null;

-- The collections whose listings are judged by the log of their chain.
create table indexer.judged_collection (
  collection_id text collate "C" primary key,
  chain         text collate "C" not null,
  -- When the follow of the collection was created. If the collection is unfollowed and followed again, the time of the new follow differs from this
  -- time. The listings of the collection are then judged again.
  followed_at   timestamptz not null,
  -- joining: the stored listings of the collection are being judged. joined: all of them are judged. leaving: the collection is no longer followed,
  -- and its hidden listings are being made visible again.
  state         text collate "C" not null check (state in ('joining', 'joined', 'leaving')),
  -- The sequence number of the last entry in the chain's log when the state became `joining`. Up to this entry the log has the complete past of the
  -- collection.
  joined_seq    bigint not null,
  -- In the state `joining`, the asset of the last listing that was judged. Null before the first listing is judged, and after the last.
  after_asset   text collate "C",
  -- The key of the same listing, null in the same cases.
  after_key     uuid
);
create index judged_collection_by_chain on indexer.judged_collection (chain, collection_id);

-- Each transaction that writes data from the chain's log into this database increments this number.
alter table indexer.chain_cursor add column revision bigint not null default 0;
