-- Compressing the keys and hashes of a change costs as much processor time as recording them, and saves little space. So they
-- are stored uncompressed.
alter table main.import_change alter column keys set storage external, alter column hashes set storage external;
