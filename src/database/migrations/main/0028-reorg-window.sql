-- When the block was applied; null for a block that was stored before this column existed.
alter table main.chain_block add column applied_at timestamptz;
-- `since`: when the first orphaned block was applied; null if this is not known. What the service recorded between `since` and the
-- reorganisation may follow from orphaned events. `collection_ids`: the collections that the orphaned events concern; null for a
-- reorganisation that was stored before this column existed.
alter table main.chain_reorg add column since timestamptz, add column collection_ids text[];
