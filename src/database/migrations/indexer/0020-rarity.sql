-- Which source reported the rank of a token: a marketplace, or `import`. Null for ranks that an earlier version stored.
alter table indexer.token add column rarity_source text collate "C";

-- Imported traits, a list of {name, value, kind}. They are copied to `token_trait` while no traits were read.
alter table indexer.token add column traits jsonb;
alter table indexer.token_metadata drop constraint token_metadata_source_check;
alter table indexer.token_metadata add constraint token_metadata_source_check check (source in ('chain', 'das', 'import'));

-- The ranking of the tokens of a collection by their traits. `revision` grows with each change of traits. The ranks were computed from the
-- traits of `ranked_revision`, when the collection had `tokens` tokens. `state` null: not examined yet. `kind` and `source`: where the list
-- of tokens came from.
create table indexer.collection_rarity (
  collection_id   text collate "C" primary key,
  revision        bigint not null default 0,
  state           text collate "C" check (state in ('ranked', 'reported', 'incomplete', 'untraited', 'too-large')),
  ranked_revision bigint,
  tokens          bigint,
  -- The rows of `rarity_rank` that are served. 0: none.
  generation      integer not null default 0,
  kind            text collate "C",
  source          text collate "C",
  ranked_at       timestamptz,
  due_at          timestamptz not null default 'epoch'
);

-- Computed ranks. All ranks of a collection change at once, with the generation in `collection_rarity`.
create table indexer.rarity_rank (
  collection_id text collate "C" not null,
  asset         text collate "C" not null,
  generation    integer not null,
  rank          bigint not null check (rank > 0),
  primary key (collection_id, asset, generation),
  foreign key (collection_id, asset) references indexer.token on delete cascade
);
create index rarity_rank_by_rank on indexer.rarity_rank (collection_id, generation, rank, length(asset), asset);

-- Traits that were stored before this migration.
insert into indexer.collection_rarity (collection_id) select distinct collection_id from indexer.token_trait;
