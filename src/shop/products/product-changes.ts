// Inserts, updates and deletes products for requests and imports. Records the event of each change, and logs each change of stock, in the
// same transaction. Callers check permissions.

import type { ErrorDetail } from '../../platform/core/errors.ts';
import type { Product, ProductFields, ProductInput } from './product.ts';
import { IDENTIFIERS, changedFields, mergeProduct } from './product.ts';
import { toProductView } from './product-view.ts';
import { createId } from '../../platform/core/time-ordered-id.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { recordEvents } from '../events.ts';
import type { Clash } from '../queries/products.ts';
import { deleteProduct, findProduct, insertProducts, listClashes, updateProducts } from '../queries/products.ts';
import { endReservationsOf } from '../queries/reservations.ts';
import type { StockChangeOrigin } from '../queries/stock.ts';
import { applyStockChanges } from '../stock.ts';

/** The shop and the time of a change. */
export type ShopTime = { shopId: string; now: number };

export type ProductInsertResult = { outcome: 'created'; product: Product } | { outcome: 'taken'; clashes: Clash[] };

/**
 * Inserts a product. `taken`: other products of the shop have its identifiers, and nothing is stored. There are no clashes if these products
 * were deleted at once.
 */
export async function insertProductWithEvent(
  tx: Queryable,
  { shopId, now }: ShopTime,
  fields: ProductFields,
): Promise<ProductInsertResult> {
  const product: Product = { ...fields, id: createId('prod', now), version: 1, createdAt: now, updatedAt: now };
  if (!(await insertProducts(tx, shopId, [product])).has(product.id)) {
    const [clashes = []] = await listClashes(tx, shopId, [product]);
    return { outcome: 'taken', clashes };
  }
  await recordEvents(tx, shopId, [{ type: 'product.created', data: toProductView(product) }], now);
  return { outcome: 'created', product };
}

export type ProductUpdateResult =
  | { outcome: 'updated'; product: Product }
  | { outcome: 'unchanged'; product: Product }
  | { outcome: 'invalid'; details: ErrorDetail[] }
  | { outcome: 'taken'; clashes: Clash[] }
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
  const given = { ...merged.value, id: before.id };
  if (changed.some((name) => IDENTIFYING.has(name))) {
    const [clashes = []] = await listClashes(tx, shopId, [given]);
    if (clashes.length > 0) return { outcome: 'taken', clashes };
  }
  // The fields are stored before the stock, because the new `trackInventory` decides whether `inventory.low` is recorded.
  let [after = null] = await updateProducts(tx, shopId, [given], now);
  if (changed.includes('inventory')) {
    const set = { productId: before.id, mode: 'set', requested: merged.value.inventory, expected: null } as const;
    await applyStockChanges(tx, shopId, [set], { ...origin, now });
    after = await findProduct(tx, shopId, before.id);
  }
  if (!after) return { outcome: 'missing' };
  await recordEvents(tx, shopId, [{ type: 'product.updated', data: { ...toProductView(after), changed } }], now);
  return { outcome: 'updated', product: after };
}

/** The fields whose change can clash with another product. */
const IDENTIFYING: ReadonlySet<keyof ProductFields> = new Set([...IDENTIFIERS, 'groupId']);

/** Says which product has the identifiers that a product cannot have. */
export function describeClashes(clashes: readonly Clash[]): ErrorDetail[] {
  return clashes.map(({ path, productId }) => {
    const message =
      path === 'options'
        ? `are those of another product with the same groupId: ${productId}`
        : `is taken by another product of this shop: ${productId}`;
    return { path, message, productId };
  });
}

/** Deletes a locked product. Its entries in the adjustment log stay, and the reservations of it end. */
export async function deleteProductWithEvent(
  tx: Queryable,
  { shopId, now }: ShopTime,
  product: Product,
): Promise<void> {
  await endReservationsOf(tx, shopId, product.id);
  await deleteProduct(tx, shopId, product.id);
  await recordEvents(tx, shopId, [{ type: 'product.deleted', data: { id: product.id, slug: product.slug } }], now);
}
