-- The imports, and the changes that each import has made in this database, so that an import can be undone (`mercat imports undo`).

create table main.import (
  id         text collate "C" primary key,
  -- The API key of the import; null if the operator imported.
  key_id     text collate "C",
  shop_id    text collate "C",
  file       text,
  format     text not null,
  replaces   boolean not null,
  started_at timestamptz not null,
  -- Null while the import runs, and for an import whose process was killed.
  ended_at   timestamptz,
  error      text,
  counts     jsonb,
  undo_state text check (undo_state in ('undoing', 'partly undone', 'undone')),
  undo_at    timestamptz,
  -- False after the recorded changes were deleted because of their age. The import can then not be undone any more.
  undo_kept  boolean not null default true
);
create index import_by_age on main.import (started_at) where undo_kept;

-- One row for each import that has changed rows of this database, or was closed by an undo. Each batch of an import locks the row of the import
-- and reads `closed`. So a closed import cannot change more rows.
create table main.import_log (
  import_id text collate "C" primary key,
  closed    boolean not null default false,
  -- Not used: always an empty object.
  undone    jsonb not null default '{}'
);

-- The rows of one kind that one batch has inserted or changed. The arrays have one element for each row.
create table main.import_change (
  import_id text collate "C" not null,
  -- The later change of an import has the higher number.
  seq       bigint not null,
  kind      text not null,
  rows      integer not null,
  -- The primary keys of the rows. The columns of a key are separated by line feeds.
  keys      text[] not null,
  -- The hashes of the rows after the change.
  hashes    bigint[] not null,
  -- The rows before the change; null for an inserted row.
  images    jsonb[] not null,
  primary key (import_id, seq)
);
