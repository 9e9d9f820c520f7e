// Stock and the adjustment log. One statement changes the stock of products, logs the changes and records the events about stock. A
// concurrent change or a crash therefore cannot separate these effects. In the log of a product, `previous` of each entry equals `next` of
// the entry before it.

import type { Queryable, Statements } from '../../platform/database/port.ts';
import type { WhenLocked } from '../grouped-changes.ts';
import { queryHot } from '../../platform/database/port.ts';
import {
  amount,
  boolean,
  column,
  integer,
  nullable,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../platform/database/rows.ts';

const SOURCES = ['inventory', 'product', 'import', 'reservation'] as const;

/** Who made a change and why, for the adjustment log. */
export type StockChangeOrigin = {
  source: (typeof SOURCES)[number];
  /** Null if the change was made without an API key. */
  keyId: string | null;
  reason: string;
};

export type StockChange = {
  productId: string;
  /** `adjustment`: `requested` is added to the stock. `set`: `requested` is the new stock. */
  mode: 'adjustment' | 'set';
  requested: number;
  /** The change is applied only if the stock equals this number. Null: the change is applied to any stock. */
  expected: number | null;
  /** Whether a change beyond the bounds of the stock is limited (the default), or not made. */
  clamp?: boolean;
};

/** One change of a group. The ids of its events begin like `eventId`. */
export type GroupedStockChange = StockChange & {
  keyId: string | null;
  reason: string;
  eventId: string;
  /** The reservation that takes or returns the stock. */
  reservationId?: string;
};

export type StockGroupOptions = {
  source: StockChangeOrigin['source'];
  /** The highest stock. The lowest is 0. */
  stockMax: number;
  /** `inventory.low` is recorded when tracked stock falls from above this level to this level or below. */
  lowStockLevel: number;
  now: number;
  locked: WhenLocked;
};

/**
 * `steps` applies the changes of each product one after the other. Each change begins with the stock that results from the previous change.
 * The log entries are numbered in the order of the changes, while the products are locked.
 *
 * `is_locked`: the product exists but is missing from `target`. Only the statement with `skip` computes `is_locked`. In a statement that waits,
 * the value could be wrong: a product that is deleted during the wait is missing from `target`, but the subquery reads the rows as they were
 * before the wait.
 *
 * `kind`: the types of the events that are recorded. Most shops need `inventory.low` only, and an event costs as much as the change, so the
 * others are recorded only while a webhook of the shop names them. The first 20 characters of an event id are the prefix and the time.
 */
const toChangeSql = (locked: StockGroupOptions['locked']) => `
  with recursive target as (
    select id, name, inventory, track_inventory from main.product
    where shop_id = $1 and id = any ((select $2::text[])::text[]) order by id for update ${locked === 'skip' ? 'skip locked' : ''}
  ), wanted as (
    select *, row_number() over (partition by product_id order by number) as step
    from unnest((select $2::text[]), $3::text[], $4::bigint[], $5::integer[], $6::text[], $7::text[], $8::text[],
      $13::text[], $14::boolean[]) with ordinality
      as wanted (product_id, mode, requested, expected, reason, key_id, event_id, reservation_id, clamp, number)
  ), steps as (
    select id as product_id, 0::bigint as step, null::bigint as number, inventory as previous, inventory as next,
      false as is_applied
    from target
    union all
    select steps.product_id, wanted.step, wanted.number, steps.next,
      case when is_made then least(greatest(result, 0), $9::bigint)::integer else steps.next end, is_made
    from steps join wanted on wanted.product_id = steps.product_id and wanted.step = steps.step + 1
    cross join lateral (select case wanted.mode when 'set' then 0 else steps.next end + wanted.requested as result) as unbounded
    cross join lateral (
      select coalesce(wanted.expected = steps.next, true) and (wanted.clamp or result between 0 and $9::bigint) as is_made
    ) as decision
  ), changed as (
    update main.product as product
    set inventory = total.next, version = product.version + total.changes, updated_at = $12
    from (
      select product_id, (array_agg(next order by step desc))[1] as next,
        (count(*) filter (where next <> previous))::integer as changes
      from steps group by product_id
    ) as total
    where product.id = total.product_id and total.changes > 0
  ), entry as (
    select ordered.*, nextval('main.adjustment_id_seq') as id from (
      select steps.product_id, steps.previous, steps.next, wanted.requested, wanted.mode, wanted.reason, wanted.key_id,
        wanted.event_id, wanted.reservation_id, wanted.number
      from steps join wanted on wanted.number = steps.number
      where steps.is_applied order by wanted.number
    ) as ordered
  ), logged as (
    insert into main.adjustment
      (id, shop_id, product_id, previous, next, requested, mode, reason, source, key_id, created_at, reservation_id)
    overriding system value
    select id, $1, product_id, previous, next, requested, mode, reason, $10, key_id, $12, reservation_id from entry
    returning id, public_id
  ), kind as materialized (
    select type, place
    from (values ('inventory.changed', 1), ('inventory.low', 2), ('inventory.out', 3), ('inventory.restocked', 4)) as known (type, place)
    where type = 'inventory.low' or exists (select from main.webhook where shop_id = $1 and type = any (events))
  ), told as (
    insert into main.event (id, shop_id, type, data, created_at)
    select left(event_id, 20) || left(replace(gen_random_uuid()::text, '-', ''), 16), $1, type, case type
      when 'inventory.changed' then json_build_object('id', public_id, 'productId', product_id, 'previous', previous, 'next', next,
        'adjustment', next - previous, 'requested', requested, 'reason', reason, 'source', $10::text, 'keyId', key_id,
        'createdAt', to_char($12::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'reservationId', reservation_id)
      when 'inventory.low' then json_build_object('productId', product_id, 'name', name, 'inventory', next,
        'previous', previous, 'threshold', $11::integer, 'adjustmentId', public_id)
      else json_build_object('productId', product_id, 'name', name, 'inventory', next, 'previous', previous, 'adjustmentId', public_id)
      end::text, $12
    from entry join logged on logged.id = entry.id join target on target.id = entry.product_id cross join kind
    where case type
      when 'inventory.low' then track_inventory and previous > $11::integer and next <= $11::integer
      when 'inventory.out' then track_inventory and previous > 0 and next = 0
      when 'inventory.restocked' then track_inventory and previous = 0 and next > 0
      else true end
    order by number, place
  )
  select target.name, target.track_inventory, coalesce(steps.previous, 0) as previous, coalesce(steps.next, 0) as next,
    logged.public_id as adjustment_id,
    ${locked === 'skip' ? 'target.id is null and exists (select from main.product where shop_id = $1 and id = wanted.product_id)' : 'false'}
      as is_locked
  from wanted left join target on target.id = wanted.product_id left join steps on steps.number = wanted.number
    left join entry on entry.number = wanted.number left join logged on logged.id = entry.id
  order by wanted.number`;

const CHANGE_STOCK = { wait: toChangeSql('wait'), skip: toChangeSql('skip') };

const decodeChanged = rowDecoder('stock change', {
  name: nullable(text),
  trackInventory: column('track_inventory', nullable(boolean)),
  previous: integer,
  next: integer,
  adjustmentId: column('adjustment_id', nullable(text)),
  isLocked: column('is_locked', boolean),
});

/** A change of stock that was applied and logged. */
export type AppliedStockChange = Pick<StockChange, 'productId' | 'mode' | 'requested'> & {
  name: string;
  trackInventory: boolean;
  previous: number;
  next: number;
  adjustmentId: string;
};

/**
 * `unexpected`: the stock was `level`, not `expected`, and nothing was changed. `refused`: the change would have been limited, and nothing was
 * changed. `missing`: the shop has no such product. `locked`: another
 * transaction has locked the product, and nothing was changed. `locked` occurs only with the option `locked: 'skip'`.
 */
export type StockChangeResult =
  | { outcome: 'applied'; change: AppliedStockChange }
  | { outcome: 'unexpected'; level: number; expected: number }
  | ({ outcome: 'refused'; level: number } & Pick<StockChange, 'mode' | 'requested'>)
  | { outcome: 'missing' }
  | { outcome: 'locked' };

/**
 * Changes the stock of products of a shop, in the given order, in one atomic statement, which needs no transaction. Each change has its own
 * entry in the log, its own event and its own result, as if the changes were made one by one.
 */
export async function updateStocks(
  db: Queryable | Statements,
  shopId: string,
  changes: readonly GroupedStockChange[],
  options: StockGroupOptions,
): Promise<StockChangeResult[]> {
  const { source, stockMax, lowStockLevel, now, locked } = options;
  const columns = [
    changes.map(({ productId }) => productId),
    changes.map(({ mode }) => mode),
    changes.map(({ requested }) => requested),
    changes.map(({ expected }) => expected),
    changes.map(({ reason }) => reason),
    changes.map(({ keyId }) => keyId),
    changes.map(({ eventId }) => eventId),
  ];
  const params = [
    shopId,
    ...columns,
    stockMax,
    source,
    lowStockLevel,
    new Date(now),
    changes.map(({ reservationId = null }) => reservationId),
    changes.map(({ clamp = true }) => clamp),
  ];
  const rows = await queryHot(db, CHANGE_STOCK[locked], params);
  return changes.map((change, index) => toResult(change, decodeChanged(rows[index] ?? {})));
}

function toResult(
  { productId, mode, requested, expected }: StockChange,
  { name, trackInventory, previous, next, adjustmentId, isLocked }: ReturnType<typeof decodeChanged>,
): StockChangeResult {
  if (name === null || trackInventory === null) return isLocked ? { outcome: 'locked' } : { outcome: 'missing' };
  if (adjustmentId === null) {
    const isUnexpected = expected !== null && expected !== previous;
    return isUnexpected
      ? { outcome: 'unexpected', level: previous, expected }
      : { outcome: 'refused', level: previous, mode, requested };
  }
  return {
    outcome: 'applied',
    change: { productId, mode, requested, name, trackInventory, previous, next, adjustmentId },
  };
}

const levelColumns = {
  productId: column('id', text),
  name: text,
  inventory: integer,
  reserved: safeInteger,
  sku: nullable(text),
  slug: text,
  updatedAt: column('updated_at', timestamp),
};
const decodeLevel = rowDecoder('product', levelColumns);
/** What can be sold of a product, and what reservations hold. */
export type StockLevel = ReturnType<typeof decodeLevel>;

const decodePageRow = rowDecoder('product', { ...levelColumns, isSelected: column('selected', boolean) });

/** The stock of a tracked product. Null if the shop has no such product. */
export async function findStock(db: Queryable, shopId: string, productId: string): Promise<StockLevel | null> {
  const [row] = await db.query(
    `select id, name, inventory, reserved, sku, slug, updated_at from main.product where shop_id = $1 and id = $2 and track_inventory`,
    [shopId, productId],
  );
  return row ? decodeLevel(row) : null;
}

/**
 * Reads the `limit` newest products of the shop that are older than the product `before`, newest first, without archived products. Returns the tracked
 * products among them; with `atMost`, only those whose stock is at most this number. Untracked products count towards the limit, so that every page costs
 * the same. `last`: the id of the last product that was read; null if there are no older products.
 */
export async function listStockPage(
  db: Queryable | Statements,
  shopId: string,
  { before, atMost, limit }: { before: string | null; atMost: number | null; limit: number },
): Promise<{ levels: StockLevel[]; last: string | null }> {
  const rows = await queryHot(db, STOCK_PAGE, [shopId, before, atMost, limit]);
  const read = rows.map(decodePageRow);
  const levels = read.flatMap(({ isSelected, ...level }) => (isSelected ? [level] : []));
  return { levels, last: read.length < limit ? null : (read.at(-1)?.productId ?? null) };
}

const STOCK_PAGE = `
  select id, name, inventory, reserved, sku, slug, updated_at, track_inventory and ($3::integer is null or inventory <= $3) as selected
  from main.product where shop_id = $1 and status <> 'archived' and id < coalesce($2, '~') order by id desc limit $4`;

/** The fields of a request that name a product. */
export const PRODUCT_NAMES = ['product_id', 'sku', 'externalId'] as const;

export type ProductName = { by: (typeof PRODUCT_NAMES)[number]; value: string };

const decodeNamed = rowDecoder('product', { by: oneOf(['sku', 'externalId']), value: text, id: text });

/** The ids of the products of the shop with these SKUs and external ids, in no particular order. Unknown names are left out. */
export async function listProductIdsByName(
  db: Queryable | Statements,
  shopId: string,
  names: readonly ProductName[],
): Promise<{ name: ProductName; id: string }[]> {
  const values = (wanted: ProductName['by']) => names.filter(({ by }) => by === wanted).map(({ value }) => value);
  const rows = await queryHot(
    db,
    `select 'sku' as by, sku as value, id from main.product where shop_id = $1 and sku = any ((select $2::text[])::text[])
     union all
     select 'externalId', external_id, id from main.product where shop_id = $1 and external_id = any ((select $3::text[])::text[])`,
    [shopId, values('sku'), values('externalId')],
  );
  return rows.map(decodeNamed).map(({ by, value, id }) => ({ name: { by, value }, id }));
}

/** The columns of `main.adjustment` that `decodeAdjustment` reads. */
export const ADJUSTMENT_COLUMNS = `id, coalesce(public_id, 'adj_' || id) as public_id, product_id, previous, next, requested, reason, source, key_id,
  created_at, reservation_id`;

export const decodeAdjustment = rowDecoder('adjustment', {
  sequence: column('id', amount),
  id: column('public_id', text),
  productId: column('product_id', text),
  previous: integer,
  next: integer,
  requested: safeInteger,
  reason: text,
  source: oneOf(SOURCES),
  keyId: column('key_id', nullable(text)),
  createdAt: column('created_at', timestamp),
  reservationId: column('reservation_id', nullable(text)),
});

/** An entry of the adjustment log. `sequence` numbers the entries of all shops and is not published. */
export type Adjustment = ReturnType<typeof decodeAdjustment>;

/** The log of a shop or of one of its products, newest first. `before`: only entries with a smaller number. */
export async function listAdjustments(
  db: Queryable,
  shopId: string,
  options: { productId: string | null; before: string | null; limit: number },
): Promise<Adjustment[]> {
  const rows = await db.query(
    `select ${ADJUSTMENT_COLUMNS} from main.adjustment
     where shop_id = $1 and ($2::text is null or product_id = $2) and ($3::bigint is null or id < $3)
     order by id desc limit $4`,
    [shopId, options.productId, options.before, options.limit],
  );
  return rows.map(decodeAdjustment);
}
