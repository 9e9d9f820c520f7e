// Reads and changes stock, and reads the adjustment log. Every change of stock is logged, and records `inventory.low` if stock has become
// low. `StockWriter` groups the changes of callers.

import { createId, isId } from '../platform/core/time-ordered-id.ts';
import type { Queryable, Statements } from '../platform/database/port.ts';
import type { ShopCaller, ShopContext } from './context.ts';
import { STOCK_MAX } from './products/product.ts';
import type {
  Adjustment,
  GroupedStockChange,
  StockChange,
  StockChangeOrigin,
  StockChangeResult,
  StockGroupOptions,
  StockLevel,
} from './queries/stock.ts';
import { findStock, listAdjustments, listStockPage, updateStocks } from './queries/stock.ts';

/** `inventory.low` is recorded when tracked stock falls from above this level to this level or below. */
export const LOW_STOCK_LEVEL = 10;

/** The default of the query parameter `threshold`, which has no influence on events. */
export const LOW_STOCK_THRESHOLD_DEFAULT = 10;

/** `atMost`: only products with at most this stock. */
export type StockQuery = { productId: string | null; atMost: number | null };

/** The number of products that one statement reads, so that no statement and no part of a response takes long. */
const STOCK_PAGE_SIZE = 250;

/**
 * A page of the stock of the shop's tracked products, newest first, or the stock of one product. `next` is the argument
 * `before` for the next page. It is null on the last page.
 */
export async function readStockPage(
  context: ShopContext,
  caller: ShopCaller,
  { productId, atMost }: StockQuery,
  before: string | null = null,
): Promise<{ levels: StockLevel[]; next: string | null }> {
  const { main } = context;
  if (productId === null) {
    const { levels, last } = await listStockPage(main, caller.shopId, { before, atMost, limit: STOCK_PAGE_SIZE });
    return { levels, next: last };
  }
  const level = isId('prod', productId) ? await findStock(main, caller.shopId, productId) : null;
  const isSelected = level !== null && (atMost === null || level.inventory <= atMost);
  return { levels: isSelected ? [level] : [], next: null };
}

/** A change of stock that a caller requests. */
export type StockRequest = StockChange & { keyId: string; reason: string };

/** Makes the changes of callers in the order of the requests. The results have the same order. */
export function changeStocks(
  db: Queryable | Statements,
  shopId: string,
  requests: readonly StockRequest[],
  options: { now: number; locked: StockGroupOptions['locked'] },
): Promise<StockChangeResult[]> {
  const changes = requests.map((request) => ({ ...request, eventId: createId('evt', options.now) }));
  return updateStocks(db, shopId, changes, { ...LEVELS, ...options, source: 'inventory' });
}

/**
 * Changes stock in the given order and logs the changes. The stock stays between 0 and `STOCK_MAX`. Records `inventory.low` if tracked stock falls
 * from above `LOW_STOCK_LEVEL` to this level or below. A change of a product that the shop does not have does nothing.
 */
export async function applyStockChanges(
  db: Queryable | Statements,
  shopId: string,
  changes: readonly StockChange[],
  { source, now, keyId, reason }: StockChangeOrigin & { now: number },
): Promise<void> {
  if (changes.length === 0) return;
  const grouped = changes.map((change) => ({ ...change, keyId, reason, eventId: createId('evt', now) }));
  await updateStocks(db, shopId, grouped, { ...LEVELS, source, now, locked: 'wait' });
}

/** Makes the changes of stock that reservations cause. The caller holds the locks on the products. */
export async function changeReservedStocks(
  tx: Queryable,
  shopId: string,
  changes: readonly GroupedStockChange[],
  now: number,
): Promise<void> {
  await updateStocks(tx, shopId, changes, { ...LEVELS, source: 'reservation', now, locked: 'wait' });
}

const LEVELS = { stockMax: STOCK_MAX, lowStockLevel: LOW_STOCK_LEVEL };

export type AdjustmentPage = { adjustments: Adjustment[]; next: string | null };

/** A page of the adjustment log, newest first. Entries of deleted products stay in the log. */
export async function readAdjustments(
  context: ShopContext,
  caller: ShopCaller,
  query: { productId: string | null; before: string | null; limit: number },
): Promise<AdjustmentPage> {
  if (query.productId !== null && !isId('prod', query.productId)) return { adjustments: [], next: null };
  const rows = await listAdjustments(context.main, caller.shopId, { ...query, limit: query.limit + 1 });
  const adjustments = rows.slice(0, query.limit);
  const last = adjustments.at(-1);
  return { adjustments, next: rows.length > query.limit && last ? String(last.sequence) : null };
}
