-- The ask floor of the same moment as the buyer floor. Null if an earlier version stored the buyer floor.
alter table main.last_buyer_floor add column ask_raw numeric(78, 0);

-- Finds the cheapest order whose buyers pay platform fee and royalty on top, also in a collection whose other orders include their fees.
create index book_order_active_without_total on main.book_order (collection_id, price_raw, id)
  where status = 'active' and dormant is null and price_raw > 0 and buyer_total_raw is null;

-- Finds whether a collection has an order of any status.
drop index main.book_order_by_asset;
create index book_order_by_asset on main.book_order (collection_id, token_id);

-- Tells the indexer which collections have had own orders.
insert into main.catalog_change (collection_id, asset) select collection_id, null from main.collection_book;
