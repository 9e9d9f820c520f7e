-- For the list of the listed tokens that have several traits. With this index, the tokens that are not listed need not be read.
create index trait_listing_by_traits on indexer.trait_listing using gin (trait_ids) with (fastupdate = off);
