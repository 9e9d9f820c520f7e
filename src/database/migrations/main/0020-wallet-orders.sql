-- Finds the active orders of a wallet in all collections.
create index book_order_by_account on main.book_order (seller, collection_id, token_id)
  where status = 'active' and dormant is null and price_raw > 0;
