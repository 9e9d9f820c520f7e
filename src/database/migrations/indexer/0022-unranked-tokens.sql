-- A null rank: the token has no rank, because its traits are not known or because it came after the ranks were computed. Each token of a
-- collection with computed ranks has a row, so that the tokens without a rank are found without reading the others.
alter table indexer.rarity_rank alter column rank drop not null;
create index rarity_rank_unranked on indexer.rarity_rank (collection_id, generation, length(asset), asset) where rank is null;

insert into indexer.rarity_rank (collection_id, asset, generation)
  select token.collection_id, token.asset, rarity.generation from indexer.collection_rarity as rarity
  join indexer.token on token.collection_id = rarity.collection_id
  where rarity.generation > 0 and not token.burned on conflict do nothing;
