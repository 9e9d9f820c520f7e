-- The followed collections and tokens that readers of the marketplace interface requested recently. The tasks refresh them first. A row is
-- deleted soon after its last request.
create table main.shown (
  collection_id text collate "C" not null,
  -- The requested token; empty text if the collection itself was requested.
  asset         text collate "C" not null default '',
  -- The time of the last request.
  shown_at      timestamptz not null,
  -- When a task last requested the token from a marketplace because of these requests; null if it never has.
  looked_at     timestamptz,
  primary key (collection_id, asset)
);

create index shown_by_time on main.shown (shown_at);
