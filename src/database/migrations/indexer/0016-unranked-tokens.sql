-- For the list of a collection's tokens that have no rarity rank, in the order of ids.
create index token_unranked on indexer.token (collection_id, length(asset), asset) where rarity_rank is null and not burned;
