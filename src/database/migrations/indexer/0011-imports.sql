-- What each import has changed in this database. The columns are described in the migration `0018-imports.sql` of the primary.

create table indexer.import_log (
  import_id text collate "C" primary key,
  closed    boolean not null default false,
  undone    jsonb not null default '{}'
);

create table indexer.import_change (
  import_id text collate "C" not null,
  seq       bigint not null,
  kind      text not null,
  rows      integer not null,
  keys      text[] not null,
  hashes    bigint[] not null,
  images    jsonb[] not null,
  primary key (import_id, seq)
);
