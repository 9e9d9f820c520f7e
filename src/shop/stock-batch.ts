// Makes many changes of stock for one request, in one statement.

import type { ErrorDetail } from '../platform/core/errors.ts';
import { ServiceError } from '../platform/core/errors.ts';
import { isId } from '../platform/core/time-ordered-id.ts';
import type { Queryable } from '../platform/database/port.ts';
import type { ShopCaller, ShopContext } from './context.ts';
import type { WhenLocked } from './grouped-changes.ts';
import { DETAILS_MAX } from './body-fields.ts';
import { missingProduct } from './products/products.ts';
import type { AppliedStockChange, ProductName } from './queries/stock.ts';
import { listProductIdsByName } from './queries/stock.ts';
import type { NamedStockChange } from './stock-input.ts';
import { toStockError } from './stock-writer.ts';
import { changeStocks } from './stock.ts';

/** The result of a row, in the place of the row. */
export type StockBatchResult = AppliedStockChange | ServiceError;

export type StockBatch = {
  /** A row that cannot be read is given as its error. */
  rows: readonly (NamedStockChange | ServiceError)[];
  isAtomic: boolean;
  /** Whether the changes of a product that another transaction has locked wait, or are rejected. */
  locked: WhenLocked;
};

/**
 * Makes the changes in the order of the rows. `isAtomic`: throws, so that the transaction is rolled back, if a row is rejected. The error has the
 * code of the first rejected row, and the details of all.
 */
export async function changeStockBatch(
  context: ShopContext,
  tx: Queryable,
  { shopId, keyId }: ShopCaller,
  { rows, isAtomic, locked }: StockBatch,
): Promise<StockBatchResult[]> {
  const ids = await findProducts(tx, shopId, rows);
  const results: StockBatchResult[] = rows.map((row) => (row instanceof ServiceError ? row : missingProduct()));
  const made = rows.flatMap((row, index) => {
    const productId = ids[index];
    if (row instanceof ServiceError || !productId) return [];
    const { product: _, ...change } = row;
    return [{ index, request: { ...change, productId, keyId } }];
  });
  if (made.length > 0) {
    const requests = made.map(({ request }) => request);
    const changed = await changeStocks(tx, shopId, requests, { now: context.clock(), locked });
    for (const [place, result] of changed.entries()) {
      const index = made[place]?.index ?? 0;
      if (result.outcome === 'applied') results[index] = result.change;
      else results[index] = result.outcome === 'locked' ? lockedProduct() : toStockError(result);
    }
  }
  if (isAtomic) checkAll(results);
  return results;
}

function lockedProduct(): ServiceError {
  return new ServiceError('unavailable', 'Another client of the database has locked the product, try again');
}

/** The id of the product of each row; null if the shop has no such product, or the row cannot be read. */
async function findProducts(
  tx: Queryable,
  shopId: string,
  rows: readonly (NamedStockChange | ServiceError)[],
): Promise<(string | null)[]> {
  const names = rows.map((row) => (row instanceof ServiceError ? null : row.product));
  const wanted = names.flatMap((name) => (name === null || name.by === 'product_id' ? [] : [name]));
  const found = wanted.length === 0 ? [] : await listProductIdsByName(tx, shopId, wanted);
  const toKey = ({ by, value }: ProductName) => `${by} ${value}`;
  const ids = new Map(found.map(({ name, id }) => [toKey(name), id]));
  return names.map((name) => {
    if (name?.by === 'product_id') return isId('prod', name.value) ? name.value : null;
    return name === null ? null : (ids.get(toKey(name)) ?? null);
  });
}

function checkAll(results: readonly StockBatchResult[]): void {
  const rejected = results.flatMap((result, index) =>
    result instanceof ServiceError ? [{ index, error: result }] : [],
  );
  const [first] = rejected;
  if (!first) return;
  const details: ErrorDetail[] = rejected.flatMap(({ index, error }) => {
    const row = `changes.${index}`;
    if (error.details.length === 0) return [{ path: row, message: error.message }];
    return error.details.map(({ path, message }) => ({ path: path === '' ? row : `${row}.${path}`, message }));
  });
  const message = `Nothing was changed: ${rejected.length} of ${results.length} changes were rejected`;
  throw new ServiceError(first.error.code, message, { details: details.slice(0, DETAILS_MAX) });
}
