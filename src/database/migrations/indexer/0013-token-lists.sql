-- Lists of the tokens of a collection by id and by rarity rank.
create index token_by_id on indexer.token (collection_id, length(asset), asset) where not burned;
create index token_by_rank on indexer.token (collection_id, rarity_rank, length(asset), asset) where rarity_rank is not null and not burned;
