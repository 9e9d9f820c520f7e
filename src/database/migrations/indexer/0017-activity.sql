-- The changes of listings, sales and floors that are not merged into main.activity yet. The columns are described in the migration
-- `0024-activity.sql` of the primary.
create table indexer.market_change (
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
  block_number  bigint,
  fact          text collate "C",
  facts         text[]
);
