// Undoes the import of products. The rules of the store apply: each change records an event, and each change of stock is logged.

import type { Queryable } from '../../platform/database/port.ts';
import {
  boolean,
  column,
  double,
  integer,
  json,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  text,
} from '../../platform/database/rows.ts';
import type { ProductUpdateResult } from '../../shop/products/product-changes.ts';
import {
  deleteProductWithEvent,
  describeClashes,
  updateProductWithEvent,
} from '../../shop/products/product-changes.ts';
import type { Product } from '../../shop/products/product.ts';
import { PRODUCT_STATUSES, PRODUCT_TYPES } from '../../shop/products/product.ts';
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
  sku: nullable(text),
  barcode: nullable(text),
  externalId: column('external_id', nullable(text)),
  status: oneOf(PRODUCT_STATUSES),
  compareAtPrice: column('compare_at_price', nullable(text)),
  groupId: column('group_id', nullable(text)),
  options: list(object({ name: text, value: text })),
  metadata: json('an object of texts', isMetadata),
});

/** The columns that the image of a row lacks if an earlier version recorded it. */
const LATER_COLUMNS = {
  sku: null,
  barcode: null,
  external_id: null,
  status: 'active',
  compare_at_price: null,
  group_id: null,
  options: [],
  metadata: {},
};

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
    const image = JSON.parse(images.get(key) ?? '{}') as Record<string, unknown>;
    const { metadata, ...fields } = decodeFields({ ...LATER_COLUMNS, ...image });
    const removedKeys = Object.keys(product.metadata).map((name) => [name, null]);
    const input = { ...fields, metadata: { ...Object.fromEntries(removedKeys), ...metadata } };
    const change = { shopId, now, source: 'import', reason: `Undo of ${importId}`, keyId: null } as const;
    const result = await updateProductWithEvent(tx, change, product, input);
    const reason = describeFailure(result);
    if (reason !== null) kept.push({ key, reason });
  }
  return kept;
}

function describeFailure(result: ProductUpdateResult): string | null {
  if (result.outcome === 'updated' || result.outcome === 'unchanged') return null;
  if (result.outcome === 'missing') return 'the product is missing';
  const details = result.outcome === 'taken' ? describeClashes(result.clashes) : result.details;
  return details.map(({ path, message }) => `${path} ${message}`).join('; ');
}

function isMetadata(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');
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
