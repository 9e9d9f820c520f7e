-- The metadata of collections that was read from their contracts, and the state of reading it. It fills the fields that the collection
-- record leaves open.
create table main.collection_metadata (
  collection_id text collate "C" primary key,
  name text,
  image text,
  banner text,
  description text,
  royalty_bps integer check (royalty_bps between 0 and 10000),
  due_at timestamptz,
  fetched_at timestamptz,
  attempts integer not null default 0,
  failure text collate "C",
  host text collate "C",
  uri_digest text collate "C"
);

-- Changes of metadata that contracts have announced, until their tokens have been made due in the indexer.
create table main.metadata_announcement (
  seq bigint generated always as identity primary key,
  collection_id text collate "C" not null,
  from_id numeric(78, 0) not null,
  to_id numeric(78, 0) not null,
  unique (collection_id, from_id, to_id)
);
