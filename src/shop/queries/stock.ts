// Stock and its log. One statement changes a product's stock, clamps it, writes the log and records the low-stock event, so
// that no concurrency and no crash can part them: each entry's `previous` is the `next` of the one before.

import { LOW_STOCK_LEVEL, STOCK_MAX } from '../stock.ts';
import { createId } from '../../core/time-ordered-id.ts';
import type { Queryable, Row, Statements } from '../../database/port.ts';
import { queryHot } from '../../database/port.ts';

export type StockChange = {
  productId: string;
  /** A relative change, or the absolute level. */
  mode: 'adjustment' | 'set';
  requested: number;
  /** Change nothing unless the stock is this. */
  expected: number | null;
  reason: string;
  source: 'inventory' | 'product' | 'import';
  /** null: no key of the store made it. */
  keyId: string | null;
  now: number;
};

export type StockResult = {
  productId: string;
  name: string;
  trackInventory: boolean;
  previous: number;
  /** The level now; the same as `previous` when `expected` did not hold. */
  next: number;
  /** Null when `expected` did not hold: nothing was changed and nothing logged. */
  adjustmentId: string | null;
};

const ADJUST = `
  with target as (
    select id, shop_id, name, inventory as previous, track_inventory,
      case when $3 = 'set' then greatest($4::bigint, 0)
        else least(greatest(inventory + $4::bigint, 0), ${STOCK_MAX}) end::integer as next
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
    returning id
  ), low as (
    insert into main.event (id, shop_id, type, data, created_at)
    select $10, shop_id, 'inventory.low', json_build_object('productId', changed.id, 'name', name, 'inventory', next,
      'previous', previous, 'threshold', ${LOW_STOCK_LEVEL}, 'adjustmentId', 'adj_' || logged.id)::text, $9
    from changed, logged
    where track_inventory and previous > ${LOW_STOCK_LEVEL} and next <= ${LOW_STOCK_LEVEL}
  )
  select target.*, (select id from logged) as adjustment_id from target`;

/** Changes the stock of a product; null when the shop has no such product. Within a transaction, or as one of its own. */
export async function adjustStock(
  db: Queryable | Statements,
  shopId: string,
  change: StockChange,
): Promise<StockResult | null> {
  const params = [
    shopId,
    change.productId,
    change.mode,
    change.requested,
    change.expected,
    change.reason,
    change.source,
    change.keyId,
    new Date(change.now),
    createId('evt', change.now),
  ];
  const [row] = await queryHot(db, ADJUST, params);
  if (!row) return null;
  const applied = row['adjustment_id'] !== null;
  return {
    productId: row['id'] as string,
    name: row['name'] as string,
    trackInventory: row['track_inventory'] as boolean,
    previous: row['previous'] as number,
    next: (applied ? row['next'] : row['previous']) as number,
    adjustmentId: applied ? `adj_${row['adjustment_id']}` : null,
  };
}

export type StockLevel = { productId: string; name: string; inventory: number };

/** Tracked products of a shop with their stock, newest first; with `atMost` only those at or below it. */
export async function listStock(
  db: Queryable,
  shopId: string,
  options: { productId: string | null; atMost: number | null },
): Promise<StockLevel[]> {
  const rows = await db.query<{ id: string; name: string; inventory: number }>(
    `select id, name, inventory from main.product
     where shop_id = $1 and track_inventory and ($2::text is null or id = $2) and ($3::integer is null or inventory <= $3)
     order by id desc`,
    [shopId, options.productId, options.atMost],
  );
  return rows.map((row) => ({ productId: row.id, name: row.name, inventory: row.inventory }));
}

export type Adjustment = {
  sequence: string;
  id: string;
  productId: string;
  previous: number;
  next: number;
  requested: number;
  reason: string;
  source: string;
  keyId: string | null;
  createdAt: number;
};

/** The log of a shop, or of one product of it, newest first, before the given place. */
export async function listAdjustments(
  db: Queryable,
  shopId: string,
  options: { productId: string | null; before: string | null; limit: number },
): Promise<Adjustment[]> {
  const rows = await db.query(
    `select id, product_id, previous, next, requested, reason, source, key_id, created_at from main.adjustment
     where shop_id = $1 and ($2::text is null or product_id = $2) and ($3::bigint is null or id < $3)
     order by id desc limit $4`,
    [shopId, options.productId, options.before, options.limit],
  );
  return rows.map(toAdjustment);
}

function toAdjustment(row: Row): Adjustment {
  return {
    sequence: String(row['id']),
    id: `adj_${row['id']}`,
    productId: row['product_id'] as string,
    previous: row['previous'] as number,
    next: row['next'] as number,
    requested: Number(row['requested']),
    reason: row['reason'] as string,
    source: row['source'] as string,
    keyId: row['key_id'] as string | null,
    createdAt: (row['created_at'] as Date).getTime(),
  };
}
