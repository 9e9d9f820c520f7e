// Inserts, updates and deletes products for requests and imports. Records the event of each change, and logs each change of stock, in the
// same transaction. Callers check permissions.

import type { ErrorDetail } from '../../core/errors.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Product, ProductFields, ProductInput } from './product.ts';
import { changedFields, mergeProduct } from './product.ts';
import { toProductView } from './product-view.ts';
import { createId } from '../../core/time-ordered-id.ts';
import type { Queryable } from '../../database/port.ts';
import type { EventData } from '../events.ts';
import { recordEvent, recordEvents } from '../events.ts';
import type { WhenLocked } from '../grouped-changes.ts';
import {
  deleteProduct,
  findProduct,
  insertProduct,
  listProductsToUpdate,
  updateProduct,
  updateProducts,
} from '../queries/products.ts';
import type { StockChangeOrigin } from '../queries/stock.ts';
import { applyStockChange } from '../stock.ts';

/** The shop and the time of a change. */
export type ShopTime = { shopId: string; now: number };

/** Inserts a product. Returns null if another product of the shop has the slug; nothing is then stored. */
export async function insertProductWithEvent(
  tx: Queryable,
  { shopId, now }: ShopTime,
  fields: ProductFields,
): Promise<Product | null> {
  const product: Product = { ...fields, id: createId('prod', now), version: 1, createdAt: now, updatedAt: now };
  if (!(await insertProduct(tx, shopId, product))) return null;
  await recordEvent(tx, { shopId, type: 'product.created', data: toProductView(product), now });
  return product;
}

/** After `slug-taken` the transaction can only be rolled back. */
export type ProductUpdateResult =
  | { outcome: 'updated'; product: Product }
  | { outcome: 'unchanged'; product: Product }
  | { outcome: 'invalid'; details: ErrorDetail[] }
  | { outcome: 'slug-taken' }
  | { outcome: 'missing' };

/** Merges an update into a locked product. An update that changes nothing writes nothing and records no event. */
export async function updateProductWithEvent(
  tx: Queryable,
  change: ShopTime & StockChangeOrigin,
  before: Product,
  input: ProductInput,
): Promise<ProductUpdateResult> {
  const merged = mergeProduct(before, input);
  if (!merged.ok) return { outcome: 'invalid', details: merged.details };
  const changed = changedFields(before, merged.value);
  if (changed.length === 0) return { outcome: 'unchanged', product: before };
  const { shopId, now, ...origin } = change;
  // The fields are stored before the stock, because the new `trackInventory` decides whether `inventory.low` is recorded.
  const stored = await updateProduct(tx, shopId, before.id, { fields: merged.value, now });
  if (stored === 'slug-taken') return { outcome: 'slug-taken' };
  let after = stored;
  if (changed.includes('inventory')) {
    const set = { productId: before.id, mode: 'set', requested: merged.value.inventory, expected: null } as const;
    await applyStockChange(tx, shopId, { ...set, ...origin, now });
    after = await findProduct(tx, shopId, before.id);
  }
  if (!after) return { outcome: 'missing' };
  await recordEvent(tx, { shopId, type: 'product.updated', data: { ...toProductView(after), changed }, now });
  return { outcome: 'updated', product: after };
}

/** An update of a group. `check` throws a ServiceError if the update must not change this version of the product. */
export type GroupedUpdate = { productId: string; input: ProductInput; check: (current: Product) => void };

/**
 * The result of an update in a group, or the error of its `check`. `locked`: another transaction has locked the product, and nothing was
 * changed.
 */
export type GroupedUpdateResult = Exclude<ProductUpdateResult, { outcome: 'slug-taken' }> | ServiceError | 'locked';

/**
 * Merges updates into products, in the given order, as if they were made one by one. Each update has its own version, event and result. An
 * update that fails changes nothing. The updates must not change the slug or the stock. Must run in a transaction.
 */
export async function updateProductsWithEvents(
  tx: Queryable,
  { shopId, now, locked }: ShopTime & { locked: WhenLocked },
  updates: readonly GroupedUpdate[],
): Promise<GroupedUpdateResult[]> {
  const ids = [...new Set(updates.map(({ productId }) => productId))];
  const found = await listProductsToUpdate(tx, shopId, ids, locked);
  const after = new Map(found.products.map((product) => [product.id, product]));
  const changedIds = new Set<string>();
  const events: EventData['product.updated'][] = [];
  const results = updates.map(({ productId, input, check }): GroupedUpdateResult => {
    const before = after.get(productId);
    if (!before) return found.locked.has(productId) ? 'locked' : { outcome: 'missing' };
    const refusal = refusalOf(check, before);
    if (refusal) return refusal;
    const merged = mergeProduct(before, input);
    if (!merged.ok) return { outcome: 'invalid', details: merged.details };
    const changed = changedFields(before, merged.value);
    if (changed.length === 0) return { outcome: 'unchanged', product: before };
    const product = { ...before, ...merged.value, version: before.version + 1, updatedAt: now };
    after.set(productId, product);
    changedIds.add(productId);
    events.push({ ...toProductView(product), changed });
    return { outcome: 'updated', product };
  });
  if (changedIds.size > 0) {
    await updateProducts(
      tx,
      shopId,
      [...after.values()].filter(({ id }) => changedIds.has(id)),
    );
    await recordEvents(tx, { shopId, type: 'product.updated', data: events, now });
  }
  return results;
}

function refusalOf(check: GroupedUpdate['check'], current: Product): ServiceError | null {
  try {
    check(current);
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** Deletes a locked product. Its entries in the adjustment log stay. */
export async function deleteProductWithEvent(
  tx: Queryable,
  { shopId, now }: ShopTime,
  product: Product,
): Promise<void> {
  await deleteProduct(tx, shopId, product.id);
  await recordEvent(tx, { shopId, type: 'product.deleted', data: { id: product.id, slug: product.slug }, now });
}
