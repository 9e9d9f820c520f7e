-- Renames main.shown and main.follow_turn. Both keep their rows.

alter table main.shown rename to recent_view;
alter table main.recent_view rename column shown_at to viewed_at;
alter table main.recent_view rename column looked_at to refreshed_at;
alter index main.shown_by_time rename to recent_view_by_time;

-- In the row of a recent view of a collection itself, `asset` becomes null. Before this migration `asset` was the empty text.
alter table main.recent_view drop constraint shown_pkey;
alter table main.recent_view alter column asset drop default, alter column asset drop not null;
update main.recent_view set asset = null where asset = '';
alter table main.recent_view
  add constraint recent_view_collection_id_asset_key unique nulls not distinct (collection_id, asset);

alter table main.follow_turn rename to follow_run;
alter table main.follow_run rename constraint follow_turn_pkey to follow_run_pkey;
alter table main.follow_run rename constraint follow_turn_collection_id_fkey to follow_run_collection_id_fkey;
