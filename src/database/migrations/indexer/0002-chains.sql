-- Sales and tokens of followed chains. They are written from the log of chain events, which the primary database has.

-- The block of a sale that was read from a chain. If a reorganisation removes the block, the sale is deleted. Null for a reported sale.
alter table indexer.sale add column block_number bigint;
create index sale_by_block on indexer.sale (chain, block_number) where block_number is not null;

alter table indexer.token
  -- The block of the token's last transfer or token approval in the chain's log. Null if the log has no event of the token.
  add column owner_block bigint,
  -- True if the chain's log has events of the token, and no account holds the token.
  add column burned boolean not null default false;
create index token_by_owner_block on indexer.token (chain, owner_block) where owner_block is not null;

-- How much of each chain's log has been written into this database.
create table indexer.chain_cursor (
  chain text collate "C" primary key,
  -- The sequence number (`seq`) of the last entry of the log that was written into this database.
  seq   bigint not null
);
