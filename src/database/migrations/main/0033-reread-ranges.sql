-- Blocks whose events are stored but must be read from the chain again, from `from_block` to `to_block`. `since`: when the first of them was
-- stored. `due_at`: when the next attempt begins.
create table main.reread_range (
  id bigint generated always as identity primary key,
  chain text collate "C" not null,
  from_block bigint not null,
  to_block bigint not null,
  since timestamptz not null,
  due_at timestamptz not null,
  check (to_block >= from_block)
);
create index reread_range_by_due on main.reread_range (chain, due_at);

-- For an entry that corrects stored blocks: the numbers of these blocks. Null for a reorganisation. A version that does not know this column
-- reads the entry as a reorganisation after the newest block, which takes nothing back.
alter table main.chain_reorg add column corrected bigint[];
