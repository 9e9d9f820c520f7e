-- When each task last had a turn with each collection that it goes through, so that whoever runs it next, in whatever process,
-- knows who has waited longest.
create table main.follow_turn (
  task          text collate "C" not null,
  collection_id text collate "C" not null references main.follow on delete cascade,
  tried_at      timestamptz not null,
  -- The last turn that came to its end; null where none ever did.
  done_at       timestamptz,
  primary key (task, collection_id)
);
