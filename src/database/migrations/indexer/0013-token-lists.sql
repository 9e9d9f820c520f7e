-- For the list of a collection's tokens in the order of ids. The length comes first, so that decimal ids are in numeric order.
create index token_by_id on indexer.token (collection_id, length(asset), asset) where not burned;
-- For the list of a collection's tokens in the order of rarity ranks.
create index token_by_rank on indexer.token (collection_id, rarity_rank, length(asset), asset) where rarity_rank is not null and not burned;

-- For the list of the tokens that a wallet holds, in all collections.
create index token_by_account on indexer.token (owner, collection_id, asset) where not burned;
-- For the list of the assets that a wallet has listed, in all collections.
create index listing_by_account on indexer.listing (seller, collection_id, asset)
  where status = 'active' and price_raw > 0 and undeliverable is null;
