-- Statements use this index to find sales by their transaction. Three kinds of sales are looked up in this way:
-- - a sale that was read from a chain (`block_number` is set), to recognise the reports of marketplaces about the same sale;
-- - a report without a log index, because the sale replaces its report when the sale is read from the chain;
-- - a sale without a listing id, because it gets the id of the listing that it filled.
-- The index has no entry for a sale without a transaction, and none for a reported sale that has both a log index and a listing id.
create index sale_by_transaction on indexer.sale (collection_id, tx)
  where tx is not null and (block_number is not null or log_index is null or listing_id is null);
