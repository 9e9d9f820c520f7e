// Compares the served rows with the result of a replay of the chain log, byte for byte. Both are in the scratch database of the replay:
// served rows in the schema `served`, replayed rows in `main` and `indexer` (replay.ts).

import type { Queryable } from '../../../../platform/database/port.ts';
import { UNKNOWN_SOURCE } from '../../../../market/index/queries/sales.ts';
import { IS_COUNTED, saleSumsSql, SUM_COLUMNS } from '../../../../market/index/queries/sale-rule.ts';
import { nullable, rowDecoder, safeInteger, text } from '../../../../platform/database/rows.ts';

/** `served` or `replayed` is null when that side does not have the row. */
export type ReplayDifference = { what: string; subject: string; served: string | null; replayed: string | null };

export type ReplayComparison = {
  orders: number;
  tokens: number;
  drift: number;
  /** The first differences of each kind of row. */
  differences: ReplayDifference[];
};

type Schemas = { main: string; indexer: string };
const SERVED: Schemas = { main: 'served', indexer: 'served' };
const REPLAYED: Schemas = { main: 'main', indexer: 'indexer' };

/**
 * The condition for the rows that are compared; `$1` is the chain. The scratch database has only follows whose backfill is complete, so the
 * log has all events of the selected collections.
 */
const FOLLOWED = `collection_id in (select collection_id from main.follow where chain = $1)`;

/** The SQL query for each kind of row: `subject` identifies a row, and `value` is compared. */
const VIEWS: Readonly<Record<string, (schemas: Schemas) => string>> = {
  // An order that has expired at time $2 is served as expired, even before the expiry task runs.
  order: ({ main }) =>
    `select id as subject, json_build_object('status', case when is_over then 'expired' else status end,
       'dormant', case when not is_over and ${FOLLOWED} then dormant end, 'filledQuantity', filled_quantity::text,
       'endedAt', case when is_over then expires_at else ended_at end, 'tx', tx)::text as value
     from ${main}.book_order
     cross join lateral (select status = 'active' and coalesce(expires_at <= $2, false) as is_over) as clock
     where chain = $1`,
  holding: ({ main }) =>
    `select collection_id || ' ' || token_id || ' ' || holder as subject, quantity::text as value
     from ${main}.holding where ${FOLLOWED}`,
  'operator approval': ({ main }) =>
    `select collection_id || ' ' || owner || ' ' || operator as subject, 'approved' as value
     from ${main}.operator_approval where ${FOLLOWED}`,
  'token approval': ({ main }) =>
    `select collection_id || ' ' || token_id as subject, operator as value from ${main}.token_approval where ${FOLLOWED}`,
  counter: ({ main }) =>
    `select protocol || ' ' || offerer as subject, counter::text as value from ${main}.offerer_counter where chain = $1`,
  token: ({ indexer }) =>
    `select collection_id || ' ' || asset as subject, json_build_object('owner', owner, 'burned', burned)::text as value
     from ${indexer}.token where ${FOLLOWED} and owner_block is not null`,
  holder: ({ indexer }) =>
    `select collection_id || ' ' || owner as subject, tokens::text as value from ${indexer}.holder
     where ${FOLLOWED}`,
  // The chain log does not have the ids of mirrored listings, so only the ids of own orders are compared. If the log does
  // not show the marketplace of a sale, the sale is compared without its marketplace, which another source may have reported.
  sale: ({ main, indexer }) =>
    `select key::text as subject, (to_jsonb(sale) - 'key' - 'listing_id' || jsonb_build_object('order',
       (select id from ${main}.book_order where book_order.id = sale.listing_id), 'source',
       case when exists (select from ${REPLAYED.indexer}.sale as replayed
         where replayed.key = sale.key and replayed.source = '${UNKNOWN_SOURCE}') then '${UNKNOWN_SOURCE}' else source end))::text as value
     from ${indexer}.sale as sale where ${FOLLOWED} and block_number is not null`,
  // Sales that were not read from the chain are not in the log, so the replayed sums lack them. `summed` adds these sales.
  'hour of sales': ({ indexer }) =>
    summed(
      indexer,
      `collection_id || ' ' || to_char(hour at time zone 'UTC', 'YYYY-MM-DD HH24:MI')`,
      `select collection_id, hour, ${SUM_COLUMNS} from ${indexer}.sale_hour`,
    ),
  'sum of sales': ({ indexer }) =>
    summed(
      indexer,
      `collection_id`,
      `select collection_id, null::timestamptz, ${SUM_COLUMNS} from ${indexer}.sale_total`,
    ),
};

function summed(schema: string, subject: string, sums: string): string {
  const fromOthers = `select collection_id, date_trunc('hour', sold_at, 'UTC'), ${saleSumsSql()} from served.sale
    where block_number is null and ${IS_COUNTED} group by 1, 2`;
  return `select ${subject} as subject, json_build_object('volume', sum(volume_raw)::text, 'sales', sum(sales), 'unread', sum(unread))::text as value
    from (${sums} ${schema === SERVED.indexer ? '' : `union all ${fromOthers}`}) as part (collection_id, hour, ${SUM_COLUMNS})
    where ${FOLLOWED} group by 1 having sum(sales) <> 0`;
}

const decodeDifference = rowDecoder('replay difference', {
  subject: text,
  served: nullable(text),
  replayed: nullable(text),
  drift: safeInteger,
});
const decodeCount = rowDecoder('replay count', { count: safeInteger });

/** `now` is in milliseconds. Returns at most `limit` differences of each kind of row. */
export async function compareReplay(
  db: Queryable,
  chain: string,
  { now, limit }: { now: number; limit: number },
): Promise<ReplayComparison> {
  const params = [chain, new Date(now), limit];
  const differences: ReplayDifference[] = [];
  let drift = 0;
  for (const [what, view] of Object.entries(VIEWS)) {
    const rows = await db.query(
      `select coalesce(served.subject, replayed.subject) as subject, served.value as served, replayed.value as replayed,
         count(*) over () as drift
       from (${view(SERVED)}) as served full join (${view(REPLAYED)}) as replayed on served.subject = replayed.subject
       where served.value is distinct from replayed.value and $2::timestamptz is not null
       order by 1 limit $3`,
      params,
    );
    const found = rows.map(decodeDifference);
    drift += found[0]?.drift ?? 0;
    differences.push(...found.map(({ subject, served, replayed }) => ({ what, subject, served, replayed })));
  }
  const [orders, tokens] = [await countServed(db, 'order', params), await countServed(db, 'token', params)];
  return { orders, tokens, drift, differences };
}

async function countServed(db: Queryable, what: string, params: readonly unknown[]): Promise<number> {
  const [row] = await db.query(
    `select count(*) as count from (${VIEWS[what]?.(SERVED)}) as served where $2::timestamptz is not null`,
    params.slice(0, 2),
  );
  return row ? decodeCount(row).count : 0;
}
