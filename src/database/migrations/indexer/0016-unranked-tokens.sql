-- Lists of the tokens without a rarity rank by id.
create index token_unranked on indexer.token (collection_id, length(asset), asset) where rarity_rank is null and not burned;
