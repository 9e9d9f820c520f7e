-- The listed tokens that have several traits, without reading the tokens that are not listed.
create index trait_listing_by_traits on indexer.trait_listing using gin (trait_ids) with (fastupdate = off);
