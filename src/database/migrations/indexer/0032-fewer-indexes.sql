-- Contract: versions before 0.2.0 cannot use this schema.
-- (A contract is a migration that removes or changes what earlier versions use: src/database/migrate.ts.)
-- Drops two indexes that this version does not need. The index sale_by_transaction replaces sale_by_tx: it has all sales that statements find by their
-- transaction. The index token_by_account replaces token_by_owner: it begins with the owner.
-- The drops are not in the migration that builds sale_by_transaction. Writers of a table wait while an index of this table is built. A drop
-- waits for all transactions that use its table. In one transaction, the build and a drop could deadlock with a writer.
drop index indexer.token_by_owner;
drop index indexer.sale_by_tx;
