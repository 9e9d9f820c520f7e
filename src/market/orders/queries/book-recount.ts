// Counts the figures of the own order book again from its orders, for `mercat audit` and for tests. Primary database. The count takes
// longer the more orders there are, so requests to the public interfaces do not use it.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, nullable, rowDecoder, text } from '../../../platform/database/rows.ts';
import { fillableAt } from './fillable-orders.ts';

/** `asset` is null for a figure of the whole collection. */
export type BookDifference = {
  collectionId: string;
  figure: string;
  asset: string | null;
  stored: string | null;
  counted: string | null;
};

const decodeDifference = rowDecoder('book difference', {
  collectionId: column('collection_id', text),
  figure: text,
  asset: nullable(text),
  stored: nullable(text),
  counted: nullable(text),
});

/**
 * Lists at most `limit` stored figures that differ from the count at `now` (in milliseconds), for the collections whose ids begin with
 * `prefix`. Directly after an expiry sweep, the list must be empty.
 */
export async function listBookDifferences(
  db: Queryable,
  { prefix, now, limit }: { prefix: string; now: number; limit: number },
): Promise<BookDifference[]> {
  const rows = await db.query(
    `with fillable as (
       select collection_id, token_id as asset, min(price_raw) as floor_raw,
         concat_ws(' ', case when bool_or(expires_at is null) then 'never' else max(expires_at)::text end, min(price_raw),
           (array_agg(expires_at order by price_raw, id))[1]) as terms
       from main.book_order where ${fillableAt('$1')} group by collection_id, token_id
     ), counted as (
       select collection_id, count(*) as assets, min(floor_raw) as floor_raw from fillable group by collection_id
     ), differences as (
       select coalesce(stored.collection_id, fillable.collection_id) as collection_id, 'own asset' as figure,
         coalesce(stored.asset, fillable.asset) as asset,
         case when stored.asset is not null then
           concat_ws(' ', coalesce(stored.expires_at::text, 'never'), stored.price_raw, stored.price_until) end as stored,
         fillable.terms as counted
       from main.book_asset as stored
       full join fillable on fillable.collection_id = stored.collection_id and fillable.asset = stored.asset
       union all
       select coalesce(stored.collection_id, counted.collection_id), 'own listed assets', null,
         coalesce(stored.listed_assets, 0)::text, coalesce(counted.assets, 0)::text
       from main.collection_book as stored full join counted on counted.collection_id = stored.collection_id
       union all
       select coalesce(stored.collection_id, counted.collection_id), 'own floor', null, stored.floor_raw::text,
         counted.floor_raw::text
       from main.collection_book as stored full join counted on counted.collection_id = stored.collection_id
       union all
       select coalesce(stored.collection_id, bids.collection_id), 'top bid', null, stored.top_bid_raw::text, bids.top_bid_raw::text
       from main.collection_book as stored full join (
         select collection_id, max(proceeds_raw) as top_bid_raw from main.book_order
         where side = 'bid' and status = 'active' and dormant is null and token_id is null and root is null and currency is null
           and (expires_at is null or expires_at > $1) and (starts_at is null or starts_at <= $1) group by collection_id
       ) as bids on bids.collection_id = stored.collection_id
     )
     select * from differences where stored is distinct from counted and starts_with(collection_id, $3)
     order by collection_id, figure, asset nulls first limit $2`,
    [new Date(now), limit, prefix],
  );
  return rows.map(decodeDifference);
}
