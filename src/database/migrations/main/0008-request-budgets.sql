-- What is left of an upstream's hourly budget of requests, shared by all processes that ask it: the budget is the key's.
create table main.request_budget (
  upstream text collate "C" primary key,
  -- Requests that could be sent at once; below zero, those that wait already.
  tokens   double precision not null,
  -- When that was so, by the clock of this database: those of the processes differ.
  at       timestamptz not null
);
