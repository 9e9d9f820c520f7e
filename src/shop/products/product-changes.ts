// Changes of products, each with its entry in the log of stock and its event, in the transaction that it is given: whoever
// changes a product does it through here. It must never decide who may.

import type { ErrorDetail } from '../../core/errors.ts';
import type { Product, ProductFields, ProductInput } from './product.ts';
import { changedFields, mergeProduct } from './product.ts';
import { toProductView } from './product-view.ts';
import { createId } from '../../core/time-ordered-id.ts';
import type { Queryable } from '../../database/port.ts';
import { insertEvent } from '../queries/events.ts';
import { findProduct, insertProduct, updateProduct } from '../queries/products.ts';
import type { StockChange } from '../queries/stock.ts';
import { adjustStock } from '../queries/stock.ts';

/** In which shop, by whom, and what the log of stock says of it. */
export type ProductChange = { shopId: string; now: number } & Pick<StockChange, 'keyId' | 'source' | 'reason'>;

/** The new product, or null when its slug is taken: nothing is stored then. */
export async function insertProductWithEvent(
  tx: Queryable,
  { shopId, now }: Pick<ProductChange, 'shopId' | 'now'>,
  fields: ProductFields,
): Promise<Product | null> {
  const product: Product = { ...fields, id: createId('prod', now), version: 1, createdAt: now, updatedAt: now };
  if (!(await insertProduct(tx, shopId, product))) return null;
  await insertEvent(tx, { shopId, type: 'product.created', data: toProductView(product), now });
  return product;
}

/** `gone`: the product is not there; `taken`: its new slug is another one's, and the transaction can only be rolled back. */
export type ProductUpdated =
  | { outcome: 'updated'; product: Product }
  | { outcome: 'unchanged'; product: Product }
  | { outcome: 'invalid'; details: ErrorDetail[] }
  | { outcome: 'taken' }
  | { outcome: 'gone' };

/** Merges what is given into a product that is locked. What changes nothing writes nothing and is no event. */
export async function updateProductWithEvent(
  tx: Queryable,
  change: ProductChange,
  before: Product,
  input: ProductInput,
): Promise<ProductUpdated> {
  const merged = mergeProduct(before, input);
  if (!merged.ok) return { outcome: 'invalid', details: merged.details };
  const changed = changedFields(before, merged.value);
  if (changed.length === 0) return { outcome: 'unchanged', product: before };
  const { shopId, now, keyId, source, reason } = change;
  // The fields first: whether stock is tracked decides about the low-stock event of the same request.
  const stored = await updateProduct(tx, shopId, before.id, { fields: merged.value, now });
  if (stored === 'slug-taken') return { outcome: 'taken' };
  let after = stored;
  if (changed.includes('inventory')) {
    const set = { productId: before.id, mode: 'set', requested: merged.value.inventory, expected: null } as const;
    await adjustStock(tx, shopId, { ...set, reason, source, keyId, now });
    after = await findProduct(tx, shopId, before.id);
  }
  if (!after) return { outcome: 'gone' };
  await insertEvent(tx, { shopId, type: 'product.updated', data: { ...toProductView(after), changed }, now });
  return { outcome: 'updated', product: after };
}
