// Where a list of a shop's products joins the feed of the shop's changes.

/**
 * SQL: the newest position of the feed of the shop $1, from which a list continues with the feed. Null if the shop has changes and none of them has a
 * position yet.
 */
export const NEWEST_POSITION = `coalesce(
  nullif((select last_position from main.shop_feed where shop_id = $1), 0),
  case when not exists (select from main.adjustment where shop_id = $1 and position is null)
    and not exists (select from main.event where shop_id = $1 and number is not null and position is null) then 0 end)`;
