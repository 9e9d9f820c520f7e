-- What of the followed collections was asked for lately, by whoever reads the marketplace interface: what is looked at is kept
-- fresher. Forgotten soon after nobody asks any more.
create table main.shown (
  collection_id text collate "C" not null,
  -- A token of it; empty for the collection itself.
  asset         text collate "C" not null default '',
  shown_at      timestamptz not null,
  -- When a marketplace was last asked about the token, for those who look at it.
  looked_at     timestamptz,
  primary key (collection_id, asset)
);

create index shown_by_time on main.shown (shown_at);
