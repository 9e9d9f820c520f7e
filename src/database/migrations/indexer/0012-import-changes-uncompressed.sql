-- The keys and hashes of a change are stored uncompressed. Compressing them would cost as much processor time as recording them, and save little
-- space.
alter table indexer.import_change alter column keys set storage external, alter column hashes set storage external;
