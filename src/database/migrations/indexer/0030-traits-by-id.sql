-- For lists of the tokens with given traits, in the order of ids, when many tokens have these traits. The index includes `trait_ids`, so
-- PostgreSQL checks the traits in the index and does not read the table.
create index trait_set_by_id on indexer.trait_set (collection_id, length(asset), asset) include (trait_ids);
