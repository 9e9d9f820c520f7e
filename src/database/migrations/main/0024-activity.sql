-- The activity log: what has changed in the market, in one order. A transaction that changes the market in one of the two schemas records
-- the changes in the table `market_change` of its schema. They stay there until they are merged into `activity`.
create table main.market_change (
  seq           bigint generated always as identity primary key,
  kind          text collate "C" not null,
  at            timestamptz not null,
  chain         text collate "C" not null,
  collection_id text collate "C",
  asset         text collate "C",
  price_raw     numeric(78, 0),
  from_account  text collate "C",
  to_account    text collate "C",
  order_id      text collate "C",
  marketplace   text collate "C",
  tx            text,
  reason        text collate "C",
  -- The block of a change that is read from a chain. For a reorganisation, the last block that is still part of the chain.
  block_number  bigint,
  -- Identifies the fact that the change records, such as a sale by its key.
  fact          text collate "C",
  -- The facts that a change of the kind `reorg` takes back; null for other kinds, and for a `reorg` that takes back the changes of all
  -- later blocks.
  facts         text[]
);

create table main.activity (
  -- The public offset. The merge assigns positions without gaps. It holds the lock on `activity_head` until its commit, so positions become
  -- visible in their order.
  position      bigint primary key,
  kind          text collate "C" not null,
  at            timestamptz not null,
  chain         text collate "C" not null,
  collection_id text collate "C",
  asset         text collate "C",
  price_raw     numeric(78, 0),
  from_account  text collate "C",
  to_account    text collate "C",
  order_id      text collate "C",
  marketplace   text collate "C",
  tx            text,
  reason        text collate "C",
  -- The positions of the changes that a change of the kind `reorg` takes back; null for other kinds.
  voids         bigint[],
  -- The position of the `reorg` that took this change back; null if the change was not taken back.
  voided_by     bigint,
  -- The schema in which the change was recorded.
  origin        text collate "C" not null check (origin in ('main', 'indexer')),
  block_number  bigint,
  fact          text collate "C",
  merged_at     timestamptz not null
);

create index activity_by_collection on main.activity (collection_id, kind, at desc, position desc)
  where collection_id is not null;
create index activity_by_token on main.activity (collection_id, asset, at desc, position desc) where asset is not null;
create index activity_by_sender on main.activity (from_account, kind, at desc, position desc) where from_account is not null;
create index activity_by_receiver on main.activity (to_account, kind, at desc, position desc) where to_account is not null;
create index activity_by_kind on main.activity (kind, at desc, position desc);
create index activity_by_fact on main.activity (fact, origin) where fact is not null;
create index activity_by_block on main.activity (chain, block_number) where block_number is not null and voided_by is null;

-- One row. A transaction that merges changes holds the lock on this row until its commit, so that positions become visible in their order.
create table main.activity_head (
  id       smallint primary key default 1 check (id = 1),
  -- The last assigned position; 0 if no position has been assigned.
  position bigint not null default 0,
  -- The log is complete from this position on. Older changes are deleted, except changes of floors.
  oldest   bigint not null default 1,
  -- Used only if the indexer has a database of its own. Incremented by each merge of the indexer's changes, and by each removal of
  -- collections. A merge whose `revision` is out of date writes nothing, and reads the changes again.
  revision bigint not null default 0,
  -- Used only if the indexer has a database of its own: the `seq` of the changes that the last merge has read from `indexer.market_change`.
  -- The array is emptied after these changes were deleted there.
  merged   bigint[] not null default '{}'
);
insert into main.activity_head default values;
