// Undoes the import of products. The rules of the store apply: each change records an event, and each change of stock is logged.

import type { Queryable } from '../../platform/database/port.ts';
import {
  boolean,
  column,
  double,
  integer,
  list,
  nullable,
  oneOf,
  rowDecoder,
  text,
} from '../../platform/database/rows.ts';
import { deleteProductWithEvent, updateProductWithEvent } from '../../shop/products/product-changes.ts';
import type { Product } from '../../shop/products/product.ts';
import { PRODUCT_TYPES } from '../../shop/products/product.ts';
import { listProductsForUpdate } from '../../shop/queries/products.ts';
import type { KeptRow, RevertedRows } from './divided-rows.ts';

const decodeFields = rowDecoder('product', {
  name: text,
  price: text,
  type: oneOf(PRODUCT_TYPES),
  description: nullable(text),
  image: nullable(text),
  moreImages: column('more_images', list(text)),
  inventory: integer,
  trackInventory: column('track_inventory', boolean),
  requiresShipping: column('requires_shipping', boolean),
  weightGrams: column('weight_grams', double),
  collections: list(text),
});

export async function revertProducts(
  tx: Queryable,
  { removed, restored }: RevertedRows,
  { now, importId }: { now: number; importId: string },
): Promise<KeptRow[]> {
  const kept: KeptRow[] = [];
  for (const [shopId, product] of await lockProducts(tx, removed)) {
    await deleteProductWithEvent(tx, { shopId, now }, product);
  }
  const images = new Map(restored.map(({ key, image }) => [key, image]));
  for (const [shopId, product] of await lockProducts(tx, [...images.keys()])) {
    const key = `${shopId}\n${product.slug}`;
    const fields = decodeFields(JSON.parse(images.get(key) ?? '{}') as Record<string, unknown>);
    const change = { shopId, now, source: 'import', reason: `Undo of ${importId}`, keyId: null } as const;
    const { outcome } = await updateProductWithEvent(tx, change, product, fields);
    if (outcome !== 'updated' && outcome !== 'unchanged') kept.push({ key, reason: `the product is ${outcome}` });
  }
  return kept;
}

/** Locks products by their keys. Returns each product with its shop. */
async function lockProducts(tx: Queryable, keys: readonly string[]): Promise<[shopId: string, product: Product][]> {
  const slugs = keys.map((key) => {
    const [shopId = '', slug = ''] = key.split('\n');
    return { shopId, slug };
  });
  if (slugs.length === 0) return [];
  return (await listProductsForUpdate(tx, slugs)).map(({ shopId, product }) => [shopId, product]);
}
