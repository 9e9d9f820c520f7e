-- When each task last ran for each followed collection. A run of a task begins with the collection that has waited longest. The times are
-- stored, because the next run may be in another process.
create table main.follow_turn (
  task          text collate "C" not null,
  collection_id text collate "C" not null references main.follow on delete cascade,
  -- When the task last ran for the collection.
  tried_at      timestamptz not null,
  -- When the task last succeeded for the collection; null if it never has.
  done_at       timestamptz,
  primary key (task, collection_id)
);
