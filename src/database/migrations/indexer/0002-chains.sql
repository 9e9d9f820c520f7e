-- What the followed chains tell of sales and tokens, written from the primary's log of chain events.

-- The block of a sale that was read from a chain, so that it can be taken back.
alter table indexer.sale add column block_number bigint;
create index sale_by_block on indexer.sale (chain, block_number) where block_number is not null;

-- The block of the last transfer that a chain told, and whether it burned the token.
alter table indexer.token
  add column owner_block bigint,
  add column burned boolean not null default false;
create index token_by_owner_block on indexer.token (chain, owner_block) where owner_block is not null;

-- Up to where the primary's log of a chain has been written here, in its order of arrival.
create table indexer.chain_cursor (
  chain text collate "C" primary key,
  seq   bigint not null
);
