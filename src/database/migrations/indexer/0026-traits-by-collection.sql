-- Prepares keys that begin with the collection, which the migration 0027 introduces.

-- The ids of traits come from a sequence and no longer from an identity column, because on a Citus cluster the identity column of a distributed
-- table must be a bigint.
alter table indexer.trait alter column id drop identity;
create sequence indexer.trait_id_seq as integer owned by indexer.trait.id;
select setval('indexer.trait_id_seq', (select coalesce(max(id), 0) + 1 from indexer.trait), false);
alter table indexer.trait alter column id set default nextval('indexer.trait_id_seq');

alter table indexer.listed_trait add column collection_id text collate "C";
update indexer.listed_trait set collection_id = trait.collection_id from indexer.trait where trait.id = listed_trait.trait_id;

-- Processes of an earlier version do not write `collection_id`. The trigger sets it in the rows that they insert.
create function indexer.name_collection() returns trigger language plpgsql as $$
begin
  new.collection_id := (select collection_id from indexer.trait where id = new.trait_id);
  return new;
end $$;
create trigger listed_trait_collection before insert on indexer.listed_trait
  for each row when (new.collection_id is null) execute function indexer.name_collection();
