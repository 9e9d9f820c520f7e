// The rule by which a written order or listing is a change of the market, as SQL: the statement that writes the rows also records their changes.
// An import writes thousands of rows in one statement. Returning these rows and sending their changes back would cost it 5 to 7 per cent more processor
// time.

import type { ChangeOrigin } from '../market-change.ts';

/** The columns of a table of orders by which the rule reads it. `startsAt` is null if the table lacks the column. */
type OrderTable = {
  schema: ChangeOrigin;
  key: readonly string[];
  asset: string;
  startsAt: string | null;
  /** Whether the table has both sides. Other tables have asks only. */
  hasBids: boolean;
  listedAt: string;
  marketplace: string;
  /** SQL: the units that the active row `after` still offers. Null if their number is not known. */
  remaining: string;
  /** The order in which the changes of one statement are recorded. */
  sortedBy: readonly string[];
};

const TABLES = {
  listing: {
    schema: 'indexer',
    key: ['collection_id', 'key'],
    asset: 'asset',
    startsAt: null,
    hasBids: false,
    listedAt: 'listed_at',
    marketplace: 'source',
    remaining: `case when coalesce(after.partial, false) then after.quantity - after.filled_quantity else coalesce(after.quantity, 1) end`,
    sortedBy: ['listed_at', 'key'],
  },
  order: {
    schema: 'main',
    key: ['id'],
    asset: 'token_id',
    startsAt: 'starts_at',
    hasBids: true,
    listedAt: 'created_at',
    marketplace: 'source',
    remaining: 'after.quantity - after.filled_quantity',
    sortedBy: ['created_at', 'id'],
  },
} as const satisfies Record<string, OrderTable>;

/** `listing`: a mirrored listing. `order`: an own order, or a reported bid. */
export type OrderKind = keyof typeof TABLES;

/** The changes of a writing statement. */
type RecordedStates = {
  /** The expression that writes the rows. It returns all columns of the table, and `inserted`, which is false for an updated row. */
  written: string;
  /** The expression that reads the earlier rows, with all columns of the table. */
  before: string;
  /** The placeholder of the present time, such as `$1`. */
  now: string;
  /**
   * Whether a marketplace has reported the rows. A report is a new listing if the row had ended, or if it names another seller or another signed
   * order. The marketplace has reported its time.
   */
  isReport?: boolean;
  /** The SQL condition that `after` ended because its seller has raised the counter. */
  isByCounter?: string;
  /** The SQL expression for the block that has ended `after`. */
  blockNumber?: string;
};

/**
 * Returns the common table expression that records the changes. `before` is the earlier row, `after` the written row. An order that is not stored
 * yet, has no price, is pending, or does not run at present can only end. Other orders are listed, become dormant (`invalidate`), can be filled
 * again (`revalidate`), or are repriced.
 */
export function recordStateChanges(kind: OrderKind, states: RecordedStates): string {
  const table: OrderTable = TABLES[kind];
  const { asset, listedAt, marketplace, schema, key, remaining, sortedBy } = table;
  const { written, before, now, isReport = false, isByCounter = 'false', blockNumber = 'null::bigint' } = states;
  const at = `coalesce(after.ended_at, ${now}::timestamptz)`;
  const isReported = `before.dormant = 'pending' ${isReport ? `or before.${listedAt} is distinct from after.${listedAt}` : ''}`;
  return `recorded_changes as (
       insert into ${schema}.market_change (kind, at, chain, collection_id, asset, price_raw, from_account, order_id, marketplace, tx, reason,
         block_number, quantity, payment)
       select ${ofSide(table, 'after', `case when ${isByCounter} then 'invalidate' else changed.kind end`)},
         case when changed.kind in ('list', 'reprice') and (${isReported}) then least(after.${listedAt}, ${at}) else ${at} end,
         after.chain, after.collection_id, after.${asset}, ${priceSql(table, 'after')}, after.seller, after.id, after.${marketplace},
         case when after.status <> 'active' and after.tx is distinct from before.tx then after.tx end,
         case when ${isByCounter} then 'counter' when changed.kind <> 'invalidate' then null
           when after.dormant = 'no-balance' then ${table.hasBids ? `case after.side when 'bid' then 'balance' else 'owner' end` : `'owner'`} else 'approval' end,
         ${blockNumber}, case when after.status = 'active' then ${remaining} end, ${paymentSql(table, 'after')}
       from ${written} as after
       left join ${before} as before on ${key.map((name) => `before.${name} = after.${name}`).join(' and ')} and not after.inserted
       cross join lateral (select ${kindSql(table, { now, isReport })} as kind) as changed
       where changed.kind is not null order by ${sortedBy.map((name) => `after.${name}`).join(', ')}
     )`;
}

/** The kind of a change of the row `row`. `kind` is SQL for the kind that the change of an ask has. */
function ofSide({ hasBids }: Pick<OrderTable, 'hasBids'>, row: string, kind: string): string {
  if (!hasBids) return kind;
  return `(select case when ${row}.side = 'ask' or kind = 'fill' then kind when kind in ('list', 'reprice') then 'bid' else 'bid-' || kind end
         from (select ${kind} as kind) as of_ask)`;
}

/** The price of the row, which is null for a bid in another currency than the wrapped native one: then `paymentSql` has it. */
function priceSql({ hasBids }: Pick<OrderTable, 'hasBids'>, row: string): string {
  return hasBids ? `case when ${row}.currency is null then ${row}.price_raw end` : `${row}.price_raw`;
}

function paymentSql({ hasBids }: Pick<OrderTable, 'hasBids'>, row: string): string {
  return hasBids ? `${row}.price_raw::text || ' of ' || ${row}.currency` : 'null::text';
}

/** A bid is made when it is stored, even if it cannot be accepted before its start. */
function kindSql({ startsAt, hasBids }: OrderTable, { now, isReport }: { now: string; isReport: boolean }): string {
  const termsOf = (row: string) =>
    `(${row}.price_raw, ${row}.buyer_total_raw, coalesce(${row}.quantity, 1), coalesce(${row}.filled_quantity, 0)${hasBids ? `, ${row}.currency` : ''})`;
  const isNew = `before.status <> 'active' or before.seller <> after.seller or before.order_hash is distinct from after.order_hash`;
  return `case
         when after.status <> 'active' then case when before.status <> after.status then
           case after.status when 'filled' then 'fill' when 'cancelled' then 'cancel' else 'expire' end end
         when after.price_raw = 0 then ${removalSql({ startsAt, hasBids, now })}
         when after.dormant = 'pending' or after.expires_at <= ${now}::timestamptz
           ${startsAt === null ? '' : `or ${hasBids ? `after.side = 'ask' and ` : ''}after.${startsAt} > ${now}::timestamptz`} then null
         when after.dormant is not null then
           case when before.status <> 'active' or before.dormant is distinct from after.dormant and before.id is not null then 'invalidate' end
         when before.id is null or before.price_raw = 0 or before.status = 'active' and before.dormant = 'pending'
           ${isReport ? `or ${isNew}` : ''} then 'list'
         when before.status <> 'active' or before.dormant is not null then 'revalidate'
         when ${termsOf('before')} is distinct from ${termsOf('after')} then 'reprice'
       end`;
}

/** The change of a row that is deleted or gets no price. After the expiry of the row, the sweep may not have recorded the expiry yet. */
function removalSql({ startsAt, hasBids, now }: Pick<OrderTable, 'startsAt' | 'hasBids'> & { now: string }): string {
  return `case when before.status = 'active' and before.price_raw > 0
           ${startsAt === null ? '' : `and (${hasBids ? `before.side = 'bid' or ` : ''}before.${startsAt} is null or before.${startsAt} <= ${now}::timestamptz)`}
           then case when before.expires_at <= ${now}::timestamptz then 'expire' else 'cancel' end end`;
}

/** Returns the common table expression that records the rows of `deleted` as removed from the market. `now` is a placeholder. */
export function recordRemovals(kind: OrderKind, { deleted, now }: { deleted: string; now: string }): string {
  const table: OrderTable = TABLES[kind];
  const { schema, asset, marketplace, sortedBy } = table;
  return `recorded_changes as (
       insert into ${schema}.market_change (kind, at, chain, collection_id, asset, price_raw, from_account, order_id, marketplace, payment)
       select ${ofSide(table, 'before', 'removed.kind')}, ${now}::timestamptz, before.chain, before.collection_id, before.${asset}, ${priceSql(table, 'before')}, before.seller, before.id,
         before.${marketplace}, ${paymentSql(table, 'before')}
       from ${deleted} as before cross join lateral (select ${removalSql({ ...table, now })} as kind) as removed
       where removed.kind is not null order by ${sortedBy.map((name) => `before.${name}`).join(', ')}
     )`;
}
