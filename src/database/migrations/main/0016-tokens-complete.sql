-- True if all tokens of the collection are imported.
alter table main.collection add column tokens_complete boolean not null default false;

-- `collection_book.listed_assets` still counts the assets whose orders have all expired since the last expiry sweep. Through this index, reads
-- count these assets, and subtract them.
create index book_asset_by_expiry on main.book_asset (collection_id, expires_at) where expires_at is not null;
