-- Sales and tokens have entries only in the indexes that a read needs. The new index of transactions leaves out the reported sales with a log
-- index: such a sale is found by its key. The tokens of an account are found by token_by_account, which begins with the account.
create index sale_by_transaction on indexer.sale (collection_id, tx)
  where tx is not null and (block_number is not null or log_index is null);
drop index indexer.sale_by_tx;
drop index indexer.token_by_owner;
