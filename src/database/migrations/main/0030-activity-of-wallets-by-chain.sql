-- The activity of a wallet on one chain, without reading its activity on all others.
create index activity_by_sender_chain on main.activity (from_account, chain, kind, at desc, position desc) where from_account is not null;
create index activity_by_receiver_chain on main.activity (to_account, chain, kind, at desc, position desc) where to_account is not null;
