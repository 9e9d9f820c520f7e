-- The background tasks: the lease and the progress of the current run, when the task is due, and the results of the last runs. All times are
-- from the clock of the database, because the clocks of processes may differ.
create table main.sync_task (
  name         text collate "C" primary key,
  period_ms    bigint not null,
  -- The id of the run that holds the lease; null if no run holds it. Only this run may continue. It renews the lease while it runs.
  holder       text,
  leased_until timestamptz,
  due_at       timestamptz not null,
  -- True if the task was requested to run now, even if it is not due.
  nudged       boolean not null default false,
  -- The progress of the current run; null if no run is in progress, or if the run has reported no progress.
  progress     jsonb,
  last_started timestamptz,
  last_ended   timestamptz,
  last_ok      timestamptz,
  -- The number of failed runs since the last successful run.
  failures     integer not null default 0,
  -- The error of the last failed run; null after a successful run.
  last_error   text,
  -- The counts and problems of the last successful run; null before the first.
  result       jsonb,
  -- The state of the upstreams at the end of the last run.
  upstreams    jsonb
);
