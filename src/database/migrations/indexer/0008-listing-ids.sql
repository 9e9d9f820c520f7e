-- The id of a mirrored listing of a signed order is no longer the hash of the order. The new id consists of the name of the marketplace, `_` and a
-- digest (market/row-keys.ts). The hash is only in `order_hash`. Stored rows whose id is the hash get the new id, and the key that follows from the
-- new id. Later reports of the marketplaces then update these rows, and do not add a second row for the same order.

create temporary table renamed_listing on commit drop as
select key as old_key, id as old_id, source, encode(substring(sha256(convert_to(
    '["listing","' || source || '","' || new_id || '"]', 'UTF8')) for 16), 'hex')::uuid as new_key, new_id
from (
  select key, id, source, source || '_' || encode(substring(sha256(convert_to(
      '["order","' || source || '","' || chain || '","' || order_hash || '"]', 'UTF8')) for 16), 'hex') as new_id
  from indexer.listing
  where source in ('opensea', 'magic-eden') and id = order_hash and order_hash ~ '^0x[0-9a-f]{64}$'
) as hashed;

update indexer.listing as stored set id = renamed.new_id, key = renamed.new_key
from renamed_listing as renamed where stored.key = renamed.old_key;

update indexer.listed_asset as stored set listing_key = renamed.new_key
from renamed_listing as renamed where stored.listing_key = renamed.old_key;

drop table renamed_listing;

-- Sales that name their listing by the hash get the new id in `listing_id`. The key of a sale without a transaction is a digest that includes
-- `listing_id`, so such a sale also gets a new key.
update indexer.sale as stored
set listing_id = renamed.listing_id, key = case when stored.tx is not null then stored.key else
  encode(substring(sha256(convert_to('[' || array_to_string(array['"sale"', to_json(stored.source)::text,
    to_json(stored.chain)::text, to_json(stored.collection_id)::text, to_json(stored.asset)::text, to_json(stored.price)::text,
    coalesce(to_json(stored.seller)::text, 'null'), coalesce(to_json(stored.buyer)::text, 'null'),
    (extract(epoch from stored.sold_at) * 1000)::bigint::text, to_json(renamed.listing_id)::text,
    coalesce(stored.log_index::text, 'null')], ',') || ']', 'UTF8')) for 16), 'hex')::uuid end
from (
  select key, 'opensea_' || encode(substring(sha256(convert_to(
      '["order","opensea","' || chain || '","' || listing_id || '"]', 'UTF8')) for 16), 'hex') as listing_id
  from indexer.sale where source = 'opensea' and listing_id ~ '^0x[0-9a-f]{64}$'
) as renamed
where stored.key = renamed.key;
