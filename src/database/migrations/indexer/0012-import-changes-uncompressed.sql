-- Compressing the keys and hashes of a change costs as much processor time as recording them, and saves little space.
alter table indexer.import_change alter column keys set storage external, alter column hashes set storage external;
