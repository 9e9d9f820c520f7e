-- The search uses this index to find the tokens of one chain whose name in the metadata begins with a text. A collection id begins with the name
-- of the chain and `_`. Only processes of the previous version still use the index over all chains, token_metadata_by_name.
create index token_metadata_by_chain on indexer.token_metadata
  (split_part(collection_id, '_', 1), left(lower(name collate "C"), 100), collection_id, asset) where name is not null;
