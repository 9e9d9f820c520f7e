// Stock and the adjustment log. One statement changes a product's stock, logs the change and records the low-stock event. A concurrent
// change or a crash therefore cannot separate these effects. In the log, `previous` of an entry equals `next` of the next older entry of
// the product.

import type { Queryable, Statements } from '../../database/port.ts';
import { queryHot } from '../../database/port.ts';
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
} from '../../database/rows.ts';

const SOURCES = ['inventory', 'product', 'import'] as const;

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
  /** The change is applied only if the stock equals this number. Null: to any stock. */
  expected: number | null;
};

type StockChangeOptions = {
  /** The highest stock. The lowest is 0. */
  stockMax: number;
  /** An event is recorded when tracked stock falls from above this level to this level or below. */
  lowStockLevel: number;
  /** The id for the low-stock event. */
  eventId: string;
  now: number;
};

const ADJUST = `
  with target as (
    select id, shop_id, name, inventory as previous, track_inventory,
      case when $3 = 'set' then greatest($4::bigint, 0)
        else least(greatest(inventory + $4::bigint, 0), $11::bigint) end::integer as next
    from main.product where shop_id = $1 and id = $2 for update
  ), changed as (
    update main.product as product
    set inventory = target.next,
      version = product.version + (target.next <> target.previous)::integer,
      updated_at = case when target.next <> target.previous then $9 else product.updated_at end
    from target where product.id = target.id and ($5::integer is null or target.previous = $5)
    returning target.*
  ), logged as (
    insert into main.adjustment (shop_id, product_id, previous, next, requested, mode, reason, source, key_id, created_at)
    select shop_id, id, previous, next, $4, $3, $6, $7, $8, $9 from changed
    returning id, public_id
  ), low as (
    insert into main.event (id, shop_id, type, data, created_at)
    select $10, shop_id, 'inventory.low', json_build_object('productId', changed.id, 'name', name, 'inventory', next,
      'previous', previous, 'threshold', $12::integer, 'adjustmentId', logged.public_id)::text, $9
    from changed, logged
    where track_inventory and previous > $12::integer and next <= $12::integer
  )
  select target.*, (select public_id from logged) as adjustment_id from target`;

const decodeAdjusted = rowDecoder('stock change', {
  name: text,
  trackInventory: column('track_inventory', boolean),
  previous: integer,
  next: integer,
  adjustmentId: column('adjustment_id', nullable(text)),
});

/** A change of stock that was applied and logged. */
export type AppliedStockChange = Pick<StockChange, 'productId' | 'mode' | 'requested'> & {
  name: string;
  trackInventory: boolean;
  previous: number;
  next: number;
  adjustmentId: string;
};

/** `unexpected`: the stock was `level`, not `expected`, and nothing was changed. */
export type StockChangeResult =
  | { outcome: 'applied'; change: AppliedStockChange }
  | { outcome: 'unexpected'; level: number };

/** Changes the stock of a product in one atomic statement, which needs no transaction. Returns null if the shop has no such product. */
export async function updateStock(
  db: Queryable | Statements,
  shopId: string,
  change: StockChange & StockChangeOrigin & StockChangeOptions,
): Promise<StockChangeResult | null> {
  const { productId, mode, requested, expected, reason, source, keyId, now } = change;
  const { eventId, stockMax, lowStockLevel } = change;
  const origin = [reason, source, keyId, new Date(now)];
  const params = [shopId, productId, mode, requested, expected, ...origin, eventId, stockMax, lowStockLevel];
  const [row] = await queryHot(db, ADJUST, params);
  if (!row) return null;
  const { adjustmentId, ...levels } = decodeAdjusted(row);
  if (adjustmentId === null) return { outcome: 'unexpected', level: levels.previous };
  const applied = { ...levels, productId, mode, requested, adjustmentId };
  return { outcome: 'applied', change: applied };
}

export type StockLevel = { productId: string; name: string; inventory: number };

const levelColumns = { productId: column('id', text), name: text, inventory: integer };
const decodeLevel = rowDecoder('product', levelColumns);
const decodePageRow = rowDecoder('product', { ...levelColumns, isSelected: column('selected', boolean) });

/** The stock of a tracked product. Null if the shop has no such product. */
export async function findStock(db: Queryable, shopId: string, productId: string): Promise<StockLevel | null> {
  const [row] = await db.query(
    `select id, name, inventory from main.product where shop_id = $1 and id = $2 and track_inventory`,
    [shopId, productId],
  );
  return row ? decodeLevel(row) : null;
}

/**
 * A page of tracked products, newest first: those among the `limit` products of the shop after the product `before`. `atMost`: only
 * products with at most this stock. `last` is the id of the last product that was read, or null if no product is left. The limit counts the
 * products that are read, so that every page costs the same.
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
  select id, name, inventory, track_inventory and ($3::integer is null or inventory <= $3) as selected
  from main.product where shop_id = $1 and id < coalesce($2, '~') order by id desc limit $4`;

const decodeAdjustment = rowDecoder('adjustment', {
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
    `select id, coalesce(public_id, 'adj_' || id) as public_id, product_id, previous, next, requested, reason, source, key_id, created_at
     from main.adjustment
     where shop_id = $1 and ($2::text is null or product_id = $2) and ($3::bigint is null or id < $3)
     order by id desc limit $4`,
    [shopId, options.productId, options.before, options.limit],
  );
  return rows.map(decodeAdjustment);
}
