-- Listings that disappear from their marketplace without a report of their end, and orders that several marketplaces report.

-- When the listing was retired: it was missing from a complete snapshot of its marketplace, or the own order book has the same order. A retired
-- listing has the status `cancelled`. It becomes active again if its marketplace reports it as active again. A listing that the marketplace itself
-- reported as ended is not retired, and stays ended. Null if the listing is not retired.
alter table indexer.listing add column retired_at timestamptz;

create index listing_by_order_hash on indexer.listing (order_hash, chain) where order_hash is not null;

-- The last snapshot of each collection at each marketplace. A snapshot that lacks too many of the expected listings is probably incomplete. Such
-- a snapshot is doubted: it retires no listings.
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
