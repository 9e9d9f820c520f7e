-- With these indexes, a list of a wallet's activity on one chain does not read the wallet's activity on other chains.
create index activity_by_sender_chain on main.activity (from_account, chain, kind, at desc, position desc) where from_account is not null;
create index activity_by_receiver_chain on main.activity (to_account, chain, kind, at desc, position desc) where to_account is not null;
