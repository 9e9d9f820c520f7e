-- The tasks that keep the mirror fresh: who runs one now, when it is due, and what came of the last run. All times are the
-- database's own, so that processes whose clocks differ agree on them.
create table main.sync_task (
  name         text collate "C" primary key,
  period_ms    bigint not null,
  -- The run that holds the lease: it alone may go on, and renews it while it does.
  holder       text,
  leased_until timestamptz,
  due_at       timestamptz not null,
  -- Somebody wants a run soon, whatever the schedule says.
  nudged       boolean not null default false,
  progress     jsonb,
  last_started timestamptz,
  last_ended   timestamptz,
  last_ok      timestamptz,
  -- Runs in a row that failed, and why the last of them did.
  failures     integer not null default 0,
  last_error   text,
  -- What the last good run came to.
  result       jsonb,
  -- The upstreams as the last run left them.
  upstreams    jsonb
);
