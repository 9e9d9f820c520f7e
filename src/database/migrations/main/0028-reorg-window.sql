-- When a block was applied, and since when orphaned blocks were applied: what was observed in between may follow from orphaned events.
alter table main.chain_block add column applied_at timestamptz;
-- `collection_ids`: the collections that the orphaned events concern.
alter table main.chain_reorg add column since timestamptz, add column collection_ids text[];
