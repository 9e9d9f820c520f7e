-- Finds a listing by the id that the interfaces serve.
create index listing_by_id on indexer.listing (id);
