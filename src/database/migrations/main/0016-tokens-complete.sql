-- Whether the imported tokens of a collection are all of its tokens.
alter table main.collection add column tokens_complete boolean not null default false;

-- The assets whose last order expires, for reads that correct the maintained number between two sweeps.
create index book_asset_by_expiry on main.book_asset (collection_id, expires_at) where expires_at is not null;
