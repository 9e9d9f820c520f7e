// Compares, byte for byte, what was told with what came out when its log was written anew (replay.ts): the schema `told` with
// the schemas `main` and `indexer` beside it.

import type { Queryable } from '../../database/port.ts';

/** A row that is not the same on both sides; null where a side does not have it. */
export type ReplayDifference = { what: string; subject: string; told: string | null; again: string | null };

export type ReplayComparison = {
  orders: number;
  tokens: number;
  drift: number;
  /** The first of each kind. */
  differences: ReplayDifference[];
};

type Schemas = { main: string; indexer: string };
const TOLD: Schemas = { main: 'told', indexer: 'told' };
const AGAIN: Schemas = { main: 'main', indexer: 'indexer' };

/** `$1` is the chain. Whatever is compared by collection is compared where the log holds all of it. */
const FOLLOWED = `collection_id in (select collection_id from main.follow where chain = $1)`;

/** `subject` and `value` of each row of a kind. */
const VIEWS: Readonly<Record<string, (schemas: Schemas) => string>> = {
  // Reads look at the clock: what it has ended is served as ended, whether or not the sweep ($2) has been there.
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
  sale: ({ indexer }) =>
    `select key::text as subject, (to_jsonb(sale) - 'key')::text as value
     from ${indexer}.sale as sale where ${FOLLOWED} and block_number is not null`,
  // What others told of sales is not in the log: it is added to what the log came to.
  'hour of sales': ({ indexer }) =>
    summed(
      indexer,
      `collection_id || ' ' || to_char(hour at time zone 'UTC', 'YYYY-MM-DD HH24:MI')`,
      `select collection_id, hour, volume_raw, sales from ${indexer}.sale_hour`,
    ),
  'sum of sales': ({ indexer }) =>
    summed(
      indexer,
      `collection_id`,
      `select collection_id, null::timestamptz, volume_raw, sales from ${indexer}.sale_total`,
    ),
};

function summed(schema: string, subject: string, sums: string): string {
  const others = `select collection_id, date_trunc('hour', sold_at, 'UTC'), price_raw, 1 from told.sale
    where block_number is null and price_raw > 0`;
  return `select ${subject} as subject, json_build_object('volume', sum(volume_raw)::text, 'sales', sum(sales))::text as value
    from (${sums} ${schema === 'told' ? '' : `union all ${others}`}) as told (collection_id, hour, volume_raw, sales)
    where ${FOLLOWED} group by 1 having sum(sales) <> 0`;
}

/** Compares all that is served of a chain. `now` in milliseconds. */
export async function compareReplay(
  db: Queryable,
  chain: string,
  { now, limit }: { now: number; limit: number },
): Promise<ReplayComparison> {
  const params = [chain, new Date(now), limit];
  const count = async (what: string): Promise<number> => {
    const [row] = await db.query<{ rows: string }>(
      `select count(*) as rows from (${VIEWS[what]?.(TOLD)}) as told where $2::timestamptz is not null`,
      params.slice(0, 2),
    );
    return Number(row?.rows);
  };
  const differences: ReplayDifference[] = [];
  let drift = 0;
  for (const [what, view] of Object.entries(VIEWS)) {
    const rows = await db.query<{ subject: string; told: string | null; again: string | null; drift: string }>(
      `select coalesce(told.subject, again.subject) as subject, told.value as told, again.value as again,
         count(*) over () as drift
       from (${view(TOLD)}) as told full join (${view(AGAIN)}) as again on told.subject = again.subject
       where told.value is distinct from again.value and $2::timestamptz is not null
       order by 1 limit $3`,
      params,
    );
    drift += Number(rows[0]?.drift ?? 0);
    differences.push(...rows.map(({ subject, told, again }) => ({ what, subject, told, again })));
  }
  return { orders: await count('order'), tokens: await count('token'), drift, differences };
}
