-- With these indexes, a connection to the stream whose filter matches few events does not read all other events.
create index activity_by_kind_position on main.activity (kind, position);
create index activity_by_collection_position on main.activity (collection_id, kind, position) where collection_id is not null;
create index activity_without_collection on main.activity (kind, position) where collection_id is null;
