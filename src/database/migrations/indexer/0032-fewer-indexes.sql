-- Contract: versions before 0.2.0 cannot use this schema.
-- Drops indexes that this version does not need: sale_by_transaction has the sales that statements find by their transaction, and token_by_account begins
-- with the owner. A drop waits for all transactions on the table, so it must not share a transaction with a long build of an index, for which
-- writers of the same table wait.
drop index indexer.token_by_owner;
drop index indexer.sale_by_tx;
