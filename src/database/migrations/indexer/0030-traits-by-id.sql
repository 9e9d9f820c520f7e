-- Lists of the tokens that have common traits, by id: the traits are checked in the index, so that no table is read.
create index trait_set_by_id on indexer.trait_set (collection_id, length(asset), asset) include (trait_ids);
