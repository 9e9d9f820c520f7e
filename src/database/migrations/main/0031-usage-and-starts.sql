-- How many requests each API key has sent on each day (UTC).
create table main.key_usage (
  key_id text collate "C" not null references main.api_key (id) on delete cascade,
  day date not null,
  requests bigint not null,
  primary key (key_id, day)
);

-- The starts of the program, with the settings that differ from their defaults. Secrets are masked.
create table main.service_start (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  command text not null,
  host text not null,
  version text not null,
  settings jsonb not null
);
