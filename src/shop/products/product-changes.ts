// Inserts, updates and deletes products for requests and imports. Records the event of each change, and logs each change of stock, in the
// same transaction. Callers check permissions.

import type { ErrorDetail } from '../../platform/core/errors.ts';
import type { Product, ProductFields, ProductInput } from './product.ts';
import { changedFields, mergeProduct } from './product.ts';
import { toProductView } from './product-view.ts';
import { createId } from '../../platform/core/time-ordered-id.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { recordEvent } from '../events.ts';
import { deleteProduct, findProduct, insertProduct, updateProduct } from '../queries/products.ts';
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

/** Deletes a locked product. Its entries in the adjustment log stay. */
export async function deleteProductWithEvent(
  tx: Queryable,
  { shopId, now }: ShopTime,
  product: Product,
): Promise<void> {
  await deleteProduct(tx, shopId, product.id);
  await recordEvent(tx, { shopId, type: 'product.deleted', data: { id: product.id, slug: product.slug }, now });
}
