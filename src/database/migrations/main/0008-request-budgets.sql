-- The hourly budget of requests to each upstream, as a token bucket that is refilled over time. All processes share the budget, because the
-- upstream counts all requests with the same API key together.
create table main.request_budget (
  upstream text collate "C" primary key,
  -- The number of requests in the bucket at the time `at`. These requests could be sent without waiting. The number is negative while
  -- requests were taken from the bucket but still wait to be sent.
  tokens   double precision not null,
  -- The time to which `tokens` refers, from the clock of the database, because the clocks of processes may differ.
  at       timestamptz not null
);
