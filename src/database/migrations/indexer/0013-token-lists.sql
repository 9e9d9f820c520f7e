-- Lists of the tokens of a collection by id and by rarity rank.
create index token_by_id on indexer.token (collection_id, length(asset), asset) where not burned;
create index token_by_rank on indexer.token (collection_id, rarity_rank, length(asset), asset) where rarity_rank is not null and not burned;

-- The tokens and the listings of a wallet, over all collections.
create index token_by_account on indexer.token (owner, collection_id, asset) where not burned;
create index listing_by_account on indexer.listing (seller, collection_id, asset)
  where status = 'active' and price_raw > 0 and undeliverable is null;
