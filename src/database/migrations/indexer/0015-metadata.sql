-- The metadata of tokens, and the state of reading it. The metadata is read from what the contract states (`source` is `chain`) or from a DAS
-- endpoint (`source` is `das`). After a failed read, `name`, `image` and `description` keep the values of the last successful read.
create table indexer.token_metadata (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  source text collate "C" not null check (source in ('chain', 'das')),
  name text,
  image text,
  description text,
  -- When the metadata is to be read next. Null if no read is planned.
  due_at timestamptz,
  -- When the metadata was last read successfully. Null if it never was.
  fetched_at timestamptz,
  -- How many reads in a row have failed.
  attempts integer not null default 0,
  -- Why the last read failed. Null if it succeeded, or if there was no read.
  failure text collate "C",
  -- The host from which the metadata was last requested; `data` for a data URI. Null if there is none, for example for the source `das`.
  host text collate "C",
  -- A digest of the URI from which the metadata was read. Null if the metadata was not read from a URI.
  uri_digest text collate "C",
  primary key (collection_id, asset),
  foreign key (collection_id, asset) references indexer.token on delete cascade
);
create index token_metadata_due on indexer.token_metadata (collection_id, due_at, asset) where due_at is not null;
create index token_metadata_failed on indexer.token_metadata (collection_id, failure, host) where failure is not null;

-- The traits of tokens. `position`: the place of the trait in the metadata of the token; the first is 0. `value`: the text in the metadata, also
-- for a number or a date.
create table indexer.token_trait (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  name text collate "C" not null,
  value text collate "C" not null,
  kind text collate "C" not null check (kind in ('text', 'number', 'date')),
  position smallint not null,
  primary key (collection_id, asset, name, value),
  foreign key (collection_id, asset) references indexer.token_metadata on delete cascade
);
create index token_trait_by_value on indexer.token_trait (collection_id, name, value, asset);

-- For each token that is in the log of a followed chain and is not burned, makes the reading of its metadata due.
insert into indexer.token_metadata (collection_id, asset, source, due_at)
select collection_id, asset, 'chain', 'epoch' from indexer.token where owner_block is not null and not burned;
