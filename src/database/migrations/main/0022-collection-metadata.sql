-- The metadata of followed collections that was read from their contracts. A field of this table is served if the same field of the collection
-- record is null. The column `name` is served if the name in the record is only the contract address.
create table main.collection_metadata (
  collection_id text collate "C" primary key,
  name text,
  image text,
  banner text,
  description text,
  royalty_bps integer check (royalty_bps between 0 and 10000),
  -- When the metadata is read again.
  due_at timestamptz,
  -- When the metadata was last read successfully; null if it never was.
  fetched_at timestamptz,
  -- The number of failed reads since the last successful read.
  attempts integer not null default 0,
  -- Why the last read failed; null if it succeeded.
  failure text collate "C",
  -- The host from which the document was requested; null if no document was requested.
  host text collate "C",
  -- A digest of the URI of the document; null if the last read found no URI.
  uri_digest text collate "C"
);

-- The changes of metadata that contracts have announced, for the tokens from `from_id` to `to_id`, both included. A row is deleted after the
-- indexer has stored that the metadata of these tokens must be read again.
create table main.metadata_announcement (
  seq bigint generated always as identity primary key,
  collection_id text collate "C" not null,
  from_id numeric(78, 0) not null,
  to_id numeric(78, 0) not null,
  unique (collection_id, from_id, to_id)
);
