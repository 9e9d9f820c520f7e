-- For lists of listed tokens that are filtered by several traits. With this index, PostgreSQL does not read the tokens that are not listed.
create index trait_listing_by_traits on indexer.trait_listing using gin (trait_ids) with (fastupdate = off);
