-- The coverage of the owners is stored apart from the coverage of the tokens, because a source may list all tokens of a collection without their
-- owners.
alter table indexer.coverage drop constraint coverage_subject_check;
alter table indexer.coverage add constraint coverage_subject_check check (subject in ('listings', 'sales', 'tokens', 'owners'));

-- `covered_to`: the log of the chain has been written into this database up to the block with this time. `covered_revision`: the value that
-- `main.chain_cursor.revision` had when `covered_to` was stored. The revision changes with the set of followed collections. Both columns are null
-- before the first write. In `coverage`, a row of the kind `chain` has the chain as its `source`. The coverage of such a row ends at the `covered_to`
-- of this chain.
alter table indexer.chain_cursor add column covered_to timestamptz, add column covered_revision bigint;

-- The coverage of sales and listings that were imported before the service stored coverage. The coverage ends at the time of the last sale
-- or listing. Collections with a row in `listing_snapshot` are left out: a worker reads them from a marketplace and stores their coverage.
insert into indexer.coverage (collection_id, subject, source, kind, to_time)
select collection_id, 'sales', 'import', 'imported', (
  select max(sold_at) from indexer.sale where sale.collection_id = sale_total.collection_id)
from indexer.sale_total
where collection_id not in (select collection_id from indexer.listing_snapshot)
  and exists (select from indexer.sale where sale.collection_id = sale_total.collection_id and block_number is null);

insert into indexer.coverage (collection_id, subject, source, kind, to_time)
select collection_id, 'listings', 'import', 'imported', max(listed_at) from indexer.listing
where collection_id not in (select collection_id from indexer.listing_snapshot) group by collection_id;
