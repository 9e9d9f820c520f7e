-- With these indexes, a list of a wallet's activity in one collection does not read the wallet's activity in other collections.
create index activity_by_sender_collection on main.activity (from_account, collection_id, kind, at desc, position desc)
  where from_account is not null and collection_id is not null;
create index activity_by_receiver_collection on main.activity (to_account, collection_id, kind, at desc, position desc)
  where to_account is not null and collection_id is not null;
