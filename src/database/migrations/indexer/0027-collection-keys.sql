-- Contract: versions before 0.2.0 cannot use this schema.
-- (A contract is a migration that removes or changes what earlier versions use: src/database/migrate.ts.)
-- The keys of listings, sales and traits begin with their collection. The rows of a collection are then neighbours in the index, so an import
-- of one collection changes few pages of it, and the tables can be distributed by collection.

-- The recorded changes of imports name rows by their primary keys. So each recorded key of a listing or sale becomes the collection id, a line feed
-- and the former key. If the row no longer exists, its collection is not known, and the collection id is empty.
update indexer.import_change as change set keys = named.keys
from (
  select import_id, seq, array_agg(coalesce(stored.collection_id, '') || E'\n' || item.key order by item.place) as keys
  from indexer.import_change cross join unnest(import_change.keys) with ordinality as item (key, place)
  left join indexer.listing as stored on stored.key = item.key::uuid
  where import_change.kind = 'listing' and strpos(import_change.keys[1], E'\n') = 0 group by import_id, seq
) as named
where change.import_id = named.import_id and change.seq = named.seq;

update indexer.import_change as change set keys = named.keys
from (
  select import_id, seq, array_agg(coalesce(stored.collection_id, '') || E'\n' || item.key order by item.place) as keys
  from indexer.import_change cross join unnest(import_change.keys) with ordinality as item (key, place)
  left join indexer.sale as stored on stored.key = item.key::uuid
  where import_change.kind = 'sale' and strpos(import_change.keys[1], E'\n') = 0 group by import_id, seq
) as named
where change.import_id = named.import_id and change.seq = named.seq;

alter table indexer.listing drop constraint listing_pkey;
alter table indexer.listing add constraint listing_pkey primary key (collection_id, key);
alter table indexer.sale drop constraint sale_pkey;
alter table indexer.sale add constraint sale_pkey primary key (collection_id, key);

-- The ids of traits stay unique over all collections, because they come from one sequence.
alter table indexer.trait drop constraint trait_pkey;
alter table indexer.trait add constraint trait_pkey primary key (collection_id, id);

drop trigger listed_trait_collection on indexer.listed_trait;
drop function indexer.name_collection();
alter table indexer.listed_trait drop constraint listed_trait_pkey;
alter table indexer.listed_trait add constraint listed_trait_pkey primary key (collection_id, trait_id, price_raw, asset);
