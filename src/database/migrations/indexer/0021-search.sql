-- Search of tokens by the beginning of the name, and of Solana tokens by mint.
create index token_by_name on indexer.token (chain, left(lower(name collate "C"), 100), collection_id, asset) where name is not null and not burned;
create index token_metadata_by_name on indexer.token_metadata (left(lower(name collate "C"), 100), collection_id, asset) where name is not null;
create index token_by_mint on indexer.token (asset, collection_id) where chain = 'solana' and not burned;
