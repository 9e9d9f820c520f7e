-- Coverage of owners apart from tokens: a source may list all tokens of a collection without their owners.
alter table indexer.coverage drop constraint coverage_subject_check;
alter table indexer.coverage add constraint coverage_subject_check check (subject in ('listings', 'sales', 'tokens', 'owners'));

-- Up to which block time the log of a chain has been written into this database, and the revision of the set of followed collections
-- for which that holds. A row of `coverage` with the kind `chain` ends at `covered_to` of its chain, which is its source.
alter table indexer.chain_cursor add column covered_to timestamptz, add column covered_revision bigint;

-- What was imported before coverage was stored. Collections that a worker reads from a marketplace get their coverage from the worker.
insert into indexer.coverage (collection_id, subject, source, kind, to_time)
select collection_id, 'sales', 'import', 'imported', (
  select max(sold_at) from indexer.sale where sale.collection_id = sale_total.collection_id)
from indexer.sale_total
where collection_id not in (select collection_id from indexer.listing_snapshot)
  and exists (select from indexer.sale where sale.collection_id = sale_total.collection_id and block_number is null);

insert into indexer.coverage (collection_id, subject, source, kind, to_time)
select collection_id, 'listings', 'import', 'imported', max(listed_at) from indexer.listing
where collection_id not in (select collection_id from indexer.listing_snapshot) group by collection_id;
