-- The copy of main.collection.sales_complete.
alter table indexer.collection_figures add column sales_complete boolean not null default false;

-- Imported sales are known up to the newest one. Before, they counted as known up to the import.
update indexer.coverage as stored set to_time = newest.sold_at
from (select collection_id, max(sold_at) as sold_at from indexer.sale group by collection_id) as newest
where newest.collection_id = stored.collection_id and stored.kind = 'imported' and stored.subject = 'sales'
  and newest.sold_at < stored.to_time;

-- A sum of imported sales does not replace a larger volume that a record states. The ranking keys of these collections are computed again.
update indexer.collection_figures as figures set ranks_valid_until = 'epoch' from indexer.coverage as covered
where covered.collection_id = figures.collection_id and covered.kind = 'imported' and covered.subject = 'sales';
