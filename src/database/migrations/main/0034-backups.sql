-- The newest complete backups. `at` is the time of the data in the backup.
create table main.backup (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  bytes bigint not null,
  rows bigint not null
);
