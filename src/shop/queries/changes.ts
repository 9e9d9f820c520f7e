// The feed of changes of a shop: the adjustment log and the events about products and reservations, in one order. The schema describes how
// rows get their positions (`main.shop_feed`). A statement that changes stock does not write the feed, so it stays as fast as it is.

import type { Queryable } from '../../platform/database/port.ts';
import {
  amount,
  boolean,
  column,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../platform/database/rows.ts';
import type { Adjustment } from './stock.ts';
import { ADJUSTMENT_COLUMNS, decodeAdjustment } from './stock.ts';

/** The parts of the feed: changes of products, and changes of stock and reservations. */
export type FeedParts = { products: boolean; inventory: boolean };

export type FeedQuery = FeedParts & { after: number; limit: number };

/** A row of the feed: an entry of the adjustment log, or an event with its data as JSON text. */
export type FeedRow = { position: number } & (
  | { kind: 'adjustment'; adjustment: Adjustment }
  | { kind: 'event'; type: string; data: string; at: number }
);

/** The positions of a shop. All are 0 before the first read. */
export type FeedState = {
  /** The highest position so far. */
  last: number;
  /** The lowest position after which no row is missing. */
  keptAfter: number;
  /** The time of the first row without a position; null if every row has one. */
  waitingSince: number | null;
};

/** The most rows that get positions at a time. */
const POSITIONS_MAX = 1_000;
/** A page ends when the data of its events, as text, has this size. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

const WAITING_SINCE = `least(
  (select created_at from main.adjustment
    where shop_id = wanted.id and position is null and id > coalesce(skipped_to, 0) order by id limit 1),
  (select created_at from main.event
    where shop_id = wanted.id and number is not null and position is null and number > coalesce(skipped_to, 0) order by number limit 1))`;

const STATE = `
  select wanted.id as shop_id, coalesce(last_position, 0) as last, coalesce(kept_after, 0) as kept_after, ${WAITING_SINCE} as waiting_since
  from unnest($1::text[]) as wanted (id) left join main.shop_feed as feed on feed.shop_id = wanted.id`;

const stateColumns = {
  last: safeInteger,
  keptAfter: column('kept_after', safeInteger),
  waitingSince: column('waiting_since', nullable(timestamp)),
};

const decodeShopState = rowDecoder('feed', { shopId: column('shop_id', text), ...stateColumns });

/** The positions of shops, by shop. */
export async function listFeedStates(db: Queryable, shopIds: readonly string[]): Promise<Map<string, FeedState>> {
  const rows = await db.query(STATE, [shopIds]);
  return new Map(rows.map(decodeShopState).map(({ shopId, ...state }) => [shopId, state]));
}

const PAGE = `
  with state as (${STATE}), found as (
    (select position, type, data, created_at as at, null::bigint as adjustment_id from main.event
     where shop_id = ($1::text[])[1] and position > $2 and case when type like 'product.%' then $4::boolean else $5::boolean end
     order by position limit $3)
    union all
    (select position, null, null, null, id from main.adjustment
     where shop_id = ($1::text[])[1] and position > $2 and $5::boolean order by position limit $3)
    order by position limit $3
  ), sized as (
    select *, coalesce(sum(octet_length(data)) over (order by position rows between unbounded preceding and 1 preceding), 0)
      < ${PAGE_BYTES_MAX} as is_on_page
    from found
  )
  select last, kept_after, waiting_since, sized.position, type, at, is_on_page, case when is_on_page then data end as data, adjustment_id,
    ${ADJUSTMENT_COLUMNS}
  from state left join sized on true left join main.adjustment on adjustment.id = sized.adjustment_id
  order by sized.position`;

const decodeState = rowDecoder('feed', stateColumns);
const decodePlace = rowDecoder('feed', {
  position: nullable(safeInteger),
  isOnPage: column('is_on_page', nullable(boolean)),
  adjustmentId: column('adjustment_id', nullable(amount)),
});
const decodeEvent = rowDecoder('event', { type: text, data: text, at: timestamp });

/** Up to `limit` rows with positions after `after`, in order. `hasMore`: more rows with positions follow. */
export async function readFeedPage(
  db: Queryable,
  shopId: string,
  { after, limit, products, inventory }: FeedQuery,
): Promise<FeedState & { rows: FeedRow[]; hasMore: boolean }> {
  const read = await db.query(PAGE, [[shopId], after, limit + 1, products, inventory]);
  const state = decodeState(read[0] ?? {});
  const found = read.flatMap((row) => {
    const { position, isOnPage, adjustmentId } = decodePlace(row);
    return position === null ? [] : [{ row, position, isOnPage, adjustmentId }];
  });
  const shown = found.slice(0, limit).filter(({ isOnPage }) => isOnPage);
  const rows = shown.map(({ row, position, adjustmentId }): FeedRow => {
    if (adjustmentId === null) return { position, kind: 'event', ...decodeEvent(row) };
    return { position, kind: 'adjustment', adjustment: decodeAdjustment(row) };
  });
  return { ...state, rows, hasMore: found.length > shown.length };
}

const ASSIGN = `
  with waiting as (
    (select id as number, null as event_id from main.adjustment
     where shop_id = $1 and position is null and id > $2 order by id limit ${POSITIONS_MAX})
    union all
    (select number, id from main.event
     where shop_id = $1 and number is not null and position is null and number > $2 order by number limit ${POSITIONS_MAX})
    order by number limit ${POSITIONS_MAX}
  ), given as (
    select *, $3 + row_number() over (order by number) as position from waiting
  ), adjustments as (
    update main.adjustment set position = given.position from given where adjustment.id = given.number and event_id is null
  ), events as (
    update main.event set position = given.position from given where event.id = event_id
  )
  update main.shop_feed set last_position = $3 + (select count(*) from given) where shop_id = $1`;

/**
 * Gives positions to the first rows without one. Rows recorded before `keptSince` get none; one position is left out instead, so that a
 * reader learns that rows are missing.
 */
export async function assignPositions(tx: Queryable, shopId: string, keptSince: number): Promise<void> {
  await lockFeeds(tx, [shopId]);
  // Each statement after the lock sees everything that was committed before the lock was acquired.
  const state = (await listFeedStates(tx, [shopId])).get(shopId);
  if (state?.waitingSince === undefined || state.waitingSince === null) return;
  if (state.waitingSince < keptSince) await skipOldRows(tx, shopId, keptSince);
  const [feed] = await tx.query<{ last_position: string; skipped_to: string }>(
    `select last_position::text, skipped_to::text from main.shop_feed where shop_id = $1`,
    [shopId],
  );
  await tx.query(ASSIGN, [shopId, feed?.skipped_to, feed?.last_position]);
}

async function skipOldRows(tx: Queryable, shopId: string, keptSince: number): Promise<void> {
  await tx.query(
    `update main.shop_feed set last_position = last_position + 1, kept_after = last_position + 1, skipped_to = greatest(
       (select max(id) from main.adjustment where shop_id = $1 and position is null and created_at < $2),
       (select max(number) from main.event where shop_id = $1 and number is not null and position is null and created_at < $2))
     where shop_id = $1`,
    [shopId, new Date(keptSince)],
  );
}

/** Locks the feeds of shops until the transaction ends, in the order of the ids of the shops. */
export async function lockFeeds(tx: Queryable, shopIds: readonly string[]): Promise<void> {
  if (shopIds.length === 0) return;
  await tx.query(
    `insert into main.shop_feed (shop_id) select id from unnest($1::text[]) as wanted (id) order by id on conflict do nothing`,
    [shopIds],
  );
  await tx.query(`select from main.shop_feed where shop_id = any ($1::text[]) order by shop_id for update`, [shopIds]);
}

/** Deletes events of shops whose feeds are locked. For events without a position, one position is left out, as in `assignPositions`. */
export async function deleteFeedEvents(tx: Queryable, ids: readonly string[]): Promise<void> {
  await tx.query(
    `with deleted as (
       delete from main.event where id = any ($1::text[]) returning shop_id, number, position
     ), missing as (
       select shop_id, max(position) as position, bool_or(position is null) as is_unread from deleted where number is not null group by shop_id
     )
     update main.shop_feed as feed set last_position = last_position + is_unread::integer,
       kept_after = greatest(kept_after, case when is_unread then last_position + 1 else missing.position end)
     from missing where feed.shop_id = missing.shop_id`,
    [ids],
  );
}
