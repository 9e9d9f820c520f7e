-- The metadata of tokens that was read from their contracts, and the state of reading it. `source`: the reader that wrote the row.
-- `due_at` null: nothing is to be read. `failure` is the reason why the last read failed. The fields keep the values of the last success.
create table indexer.token_metadata (
  collection_id text collate "C" not null,
  asset text collate "C" not null,
  source text collate "C" not null check (source in ('chain', 'das')),
  name text,
  image text,
  description text,
  due_at timestamptz,
  fetched_at timestamptz,
  attempts integer not null default 0,
  failure text collate "C",
  host text collate "C",
  uri_digest text collate "C",
  primary key (collection_id, asset),
  foreign key (collection_id, asset) references indexer.token on delete cascade
);
create index token_metadata_due on indexer.token_metadata (collection_id, due_at, asset) where due_at is not null;
create index token_metadata_failed on indexer.token_metadata (collection_id, failure, host) where failure is not null;

-- The traits of tokens. `position`: the order of the traits within the metadata of the token.
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

-- The tokens of followed collections that were minted before this migration.
insert into indexer.token_metadata (collection_id, asset, source, due_at)
select collection_id, asset, 'chain', 'epoch' from indexer.token where owner_block is not null and not burned;
