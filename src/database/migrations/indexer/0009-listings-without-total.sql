-- The buyer floor needs the cheapest of the service's own listings on Solana, which have no buyer total. Without this index, PostgreSQL would read
-- all listed rows of a collection to find these listings.
create index listing_listed_without_total on indexer.listing (collection_id, source, price_raw)
  where status = 'active' and price_raw > 0 and undeliverable is null and buyer_total_raw is null;
