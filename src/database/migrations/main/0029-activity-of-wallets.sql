-- The activity of a wallet in one collection, without reading its activity in all others.
create index activity_by_sender_collection on main.activity (from_account, collection_id, kind, at desc, position desc)
  where from_account is not null and collection_id is not null;
create index activity_by_receiver_collection on main.activity (to_account, collection_id, kind, at desc, position desc)
  where to_account is not null and collection_id is not null;
