-- For the list, in the order of ids, of tokens with traits that many tokens have. The index includes `trait_ids`, so PostgreSQL checks the traits in
-- the index and does not read the table.
create index trait_set_by_id on indexer.trait_set (collection_id, length(asset), asset) include (trait_ids);
