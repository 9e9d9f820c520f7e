// Stock levels and their log, within a shop.

import type { Queryable } from '../database/port.ts';
import type { Adjustment, StockChange, StockLevel, StockResult } from './queries/stock.ts';
import { adjustStock, listAdjustments, listStock } from './queries/stock.ts';
import { isId } from '../core/time-ordered-id.ts';
import { ServiceError } from '../core/errors.ts';
import type { ShopCaller, Store } from './context.ts';

export type LevelQuery = { productId: string | null; lowStock: boolean; threshold: number };

/** Every tracked product of the shop, not paged. The threshold decides what is low, here only. */
export function readLevels(store: Store, caller: ShopCaller, query: LevelQuery): Promise<StockLevel[]> {
  if (query.productId !== null && !isId('prod', query.productId)) return Promise.resolve([]);
  const atMost = query.lowStock ? query.threshold : null;
  return listStock(store.main, caller.shopId, { productId: query.productId, atMost });
}

export const DEFAULT_REASON = 'API adjustment';

export type Adjust = Pick<StockChange, 'productId' | 'mode' | 'requested' | 'expected' | 'reason'>;

/** Changes stock atomically, clamped at zero. Throws `conflict` with the current level when `expected` does not hold. */
export async function changeStock(
  store: Store,
  db: Queryable,
  caller: ShopCaller,
  adjust: Adjust,
): Promise<StockResult> {
  const change = { ...adjust, source: 'inventory', keyId: caller.keyId, now: store.clock() } as const;
  const known = isId('prod', adjust.productId);
  const result = known ? await adjustStock(db, caller.shopId, change) : null;
  if (!result) throw new ServiceError('not_found', 'Product not found');
  if (result.adjustmentId === null) {
    const message = `stock is ${result.previous}, not ${adjust.expected}`;
    throw new ServiceError('conflict', `The ${message}`, { details: [{ path: 'expected', message }] });
  }
  return result;
}

export type AdjustmentPage = { adjustments: Adjustment[]; next: string | null };

/** A page of the log, newest first; entries of deleted products stay. */
export async function readAdjustments(
  store: Store,
  caller: ShopCaller,
  query: { productId: string | null; before: string | null; limit: number },
): Promise<AdjustmentPage> {
  if (query.productId !== null && !isId('prod', query.productId)) return { adjustments: [], next: null };
  const rows = await listAdjustments(store.main, caller.shopId, { ...query, limit: query.limit + 1 });
  const adjustments = rows.slice(0, query.limit);
  return { adjustments, next: rows.length > query.limit ? (adjustments.at(-1)?.sequence ?? null) : null };
}
