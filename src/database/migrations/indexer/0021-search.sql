-- For the search of tokens by the beginning of a name: the name in `token`, and the name in the token's metadata.
create index token_by_name on indexer.token (chain, left(lower(name collate "C"), 100), collection_id, asset) where name is not null and not burned;
create index token_metadata_by_name on indexer.token_metadata (left(lower(name collate "C"), 100), collection_id, asset) where name is not null;
-- For the search of Solana tokens by mint, which is the `asset` of a Solana token.
create index token_by_mint on indexer.token (asset, collection_id) where chain = 'solana' and not burned;
