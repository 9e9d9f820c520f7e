-- Search of tokens of one chain by the beginning of the name in their metadata. The index of all chains, token_metadata_by_name, is only
-- used by processes of the version before.
create index token_metadata_by_chain on indexer.token_metadata
  (split_part(collection_id, '_', 1), left(lower(name collate "C"), 100), collection_id, asset) where name is not null;
