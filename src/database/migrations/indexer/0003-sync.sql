-- Listings that vanish from their marketplace without a word, and orders that more than one marketplace tells of.

-- When a listing was missing from a whole snapshot of its marketplace. It is cancelled by that, and active again when it is
-- told again; what its marketplace itself ended stays ended.
alter table indexer.listing add column retired_at timestamptz;

create index listing_by_order_hash on indexer.listing (order_hash, chain) where order_hash is not null;

-- The last snapshot of a collection at a marketplace, and since when, and how often in a row, it came back suspiciously short.
create table indexer.listing_snapshot (
  source        text collate "C" not null,
  collection_id text collate "C" not null,
  taken_at      timestamptz not null,
  listings      integer not null,
  retired       integer not null,
  doubts        integer not null,
  doubted_since timestamptz,
  primary key (source, collection_id)
);
