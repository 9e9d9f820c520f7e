-- The source that reported `rarity_rank`: a marketplace, or `import`. Null if there is no rank, or if an earlier version stored the rank.
alter table indexer.token add column rarity_source text collate "C";

-- Imported traits, an array of objects with the fields name, value and kind. Null if no traits were imported. The traits are copied to
-- `token_trait` if no metadata of the token was read from its contract or from a DAS endpoint. Such a token has a row with the source `import` in
-- `token_metadata`.
alter table indexer.token add column traits jsonb;
alter table indexer.token_metadata drop constraint token_metadata_source_check;
alter table indexer.token_metadata add constraint token_metadata_source_check check (source in ('chain', 'das', 'import'));

-- The state of computing the rarity ranks of a collection's tokens from their traits. An examination decides whether the ranks can be computed, and
-- then computes them.
create table indexer.collection_rarity (
  collection_id   text collate "C" primary key,
  -- Incremented when traits of the collection change.
  revision        bigint not null default 0,
  -- The result of the last examination; null before the first. ranked: the ranks were computed. reported: a source reports ranks. incomplete: not all
  -- tokens are known, or the metadata of too many tokens was never read. untraited: no token has traits. too-large: too many tokens or different traits.
  state           text collate "C" check (state in ('ranked', 'reported', 'incomplete', 'untraited', 'too-large')),
  -- The value of `revision` that was read before the last examination. Null before the first.
  ranked_revision bigint,
  -- The number of stored tokens at the last examination. Null before the first.
  tokens          bigint,
  -- The rows of `rarity_rank` with this generation are served. 0: no computed ranks are served.
  generation      integer not null default 0,
  -- The next three columns describe the last computation of ranks. They are null before the first.
  -- The kind of source from which the list of the collection's tokens came, such as `chain`.
  kind            text collate "C",
  -- The source of this list. May be null.
  source          text collate "C",
  ranked_at       timestamptz,
  -- The collection is not examined again before this time.
  due_at          timestamptz not null default 'epoch'
);

-- Computed ranks. 1 is the rarest. Each computation stores its ranks under a new generation. These ranks are served together, as soon as
-- `collection_rarity.generation` is set to the new generation.
create table indexer.rarity_rank (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  generation    integer not null,
  rank          bigint not null check (rank > 0),
  primary key (collection_id, asset, generation),
  foreign key (collection_id, asset) references indexer.token on delete cascade
);
create index rarity_rank_by_rank on indexer.rarity_rank (collection_id, generation, rank, length(asset), asset);

-- For each collection that already has traits, makes an examination due.
insert into indexer.collection_rarity (collection_id) select distinct collection_id from indexer.token_trait;
