-- The price of each asset in the own order book, for the indexer's lists by price.
-- `price_raw`: the price of the cheapest fillable order, in base units; null if it was not computed yet.
-- `price_until`: when the cheapest fillable order expires; null if this order never expires.
alter table main.book_asset add column price_raw numeric(78, 0), add column price_until timestamptz;

update main.book_asset as stored set price_raw = cheapest.price_raw, price_until = cheapest.expires_at
from (
  select distinct on (collection_id, token_id) collection_id, token_id, price_raw, expires_at from main.book_order
  where status = 'active' and dormant is null and price_raw > 0 and (starts_at is null or starts_at <= now())
    and (expires_at is null or expires_at > now())
  order by collection_id, token_id, price_raw, id
) as cheapest
where stored.collection_id = cheapest.collection_id and stored.asset = cheapest.token_id;

insert into main.catalog_change (collection_id, asset) select collection_id, asset from main.book_asset;
