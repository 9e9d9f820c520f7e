-- The index by which statements find sales by their transaction. It has no entry for a reported sale with a log index and a listing: such a sale is
-- found by its key, and its listing is known.
create index sale_by_transaction on indexer.sale (collection_id, tx)
  where tx is not null and (block_number is not null or log_index is null or listing_id is null);
