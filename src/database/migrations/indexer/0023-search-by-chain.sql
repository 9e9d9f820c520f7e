-- For the search of the tokens of one chain by the beginning of the name in their metadata. A collection id begins with the name of the chain and
-- `_`. Only processes of the previous version still use the index over all chains, token_metadata_by_name.
create index token_metadata_by_chain on indexer.token_metadata
  (split_part(collection_id, '_', 1), left(lower(name collate "C"), 100), collection_id, asset) where name is not null;
