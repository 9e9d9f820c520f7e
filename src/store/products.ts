// Products: created, read, merged and deleted within a shop, each change with its event in one transaction.

import type { Queryable } from '../db/database.ts';
import { insertEvent } from '../db/events.ts';
import {
  claimSlugNumbers,
  deleteProduct,
  findProduct,
  findProductForUpdate,
  insertProduct,
  listSlugsLike,
  updateProduct,
} from '../db/products.ts';
import { adjustStock } from '../db/stock.ts';
import type { Product, ProductFields, ProductInput } from '../domain/product.ts';
import { changedFields, mergeProduct } from '../domain/product.ts';
import { toFreeSlug, toSlug } from '../domain/slug.ts';
import { createId, isId } from '../domain/time-ordered-id.ts';
import type { ErrorDetail } from '../errors.ts';
import { ServiceError } from '../errors.ts';
import type { Caller, Store } from './store.ts';

export type NewProduct = Omit<ProductFields, 'slug'> & { slug: string | null };

/** The words of the specification for whatever is wrong with a product's fields. */
export const INVALID_PRODUCT = 'Invalid product payload';

/** What an event tells of a product: the same as the interface shows. Made by the caller, who knows the wire. */
export type DescribeProduct = (product: Product) => object;

/** Attempts at a free slug: others may take the one that was just found free. */
const SLUG_ATTEMPTS_MAX = 20;

export async function readProduct(store: Store, caller: Caller, id: string): Promise<Product> {
  return (isId('prod', id) ? await findProduct(store.main, caller.shopId, id) : null) ?? missing();
}

/** Creates a product. A slug that was given must be free; one made from the name gets a number when it is not. */
export async function createProduct(
  store: Store,
  tx: Queryable,
  caller: Caller,
  options: { fields: NewProduct; describe: DescribeProduct },
): Promise<Product> {
  const now = store.clock();
  const { fields } = options;
  const product = { ...fields, id: createId('prod', now), version: 1, createdAt: now, updatedAt: now };
  const created =
    fields.slug === null
      ? await insertWithFreeSlug(tx, caller, product)
      : await insertAs(tx, caller, product, fields.slug);
  if (!created) throw slugTaken();
  await insertEvent(tx, { shopId: caller.shopId, type: 'product.created', data: options.describe(created), now });
  return created;
}

async function insertWithFreeSlug(
  tx: Queryable,
  caller: Caller,
  product: Product | (NewProduct & Omit<Product, 'slug'>),
) {
  const wanted = toSlug(product.name);
  for (let attempts = 0; attempts < SLUG_ATTEMPTS_MAX; attempts += 1) {
    // Whoever has lost once gets in line: else one of many could lose every time.
    if (attempts > 0) await claimSlugNumbers(tx, caller.shopId, wanted);
    const taken = await listSlugsLike(tx, caller.shopId, wanted);
    const created = await insertAs(tx, caller, product, toFreeSlug(wanted, taken));
    if (created) return created;
  }
  return null;
}

async function insertAs(tx: Queryable, caller: Caller, product: NewProduct & Omit<Product, 'slug'>, slug: string) {
  const named: Product = { ...product, slug };
  return (await insertProduct(tx, caller.shopId, named)) ? named : null;
}

export type ProductUpdate = {
  id: string;
  input: ProductInput;
  /** Whether the version that is there may be changed; refuses by throwing. */
  check: (product: Product) => void;
  describe: DescribeProduct;
};

/** Merges what is given into a product. What changes nothing writes nothing and is no event. */
export async function changeProduct(
  store: Store,
  tx: Queryable,
  caller: Caller,
  update: ProductUpdate,
): Promise<Product> {
  const before = (await lockProduct(tx, caller, update.id)) ?? missing();
  update.check(before);
  const merged = mergeProduct(before, update.input);
  if (!merged.ok) throw invalidProduct(merged.details);
  const changed = changedFields(before, merged.value);
  if (changed.length === 0) return before;
  const now = store.clock();
  // The fields first: whether stock is tracked decides about the low-stock event of the same request.
  const stored = await updateProduct(tx, caller.shopId, before.id, { fields: merged.value, now });
  if (stored === 'slug-taken') throw slugTaken();
  let after = stored;
  if (changed.includes('inventory')) {
    const change = { productId: before.id, mode: 'set', requested: merged.value.inventory, expected: null } as const;
    await adjustStock(tx, caller.shopId, {
      ...change,
      reason: 'Product update',
      source: 'product',
      keyId: caller.keyId,
      now,
    });
    after = await findProduct(tx, caller.shopId, before.id);
  }
  if (!after) return missing();
  const data = { ...update.describe(after), changed };
  await insertEvent(tx, { shopId: caller.shopId, type: 'product.updated', data, now });
  return after;
}

/** Deletes a product; its adjustments stay. */
export async function removeProduct(
  store: Store,
  tx: Queryable,
  caller: Caller,
  options: Pick<ProductUpdate, 'id' | 'check'>,
): Promise<void> {
  const product = (await lockProduct(tx, caller, options.id)) ?? missing();
  options.check(product);
  await deleteProduct(tx, caller.shopId, product.id);
  const data = { id: product.id, slug: product.slug };
  await insertEvent(tx, { shopId: caller.shopId, type: 'product.deleted', data, now: store.clock() });
}

/** Text that is no product id never reaches the database. */
async function lockProduct(tx: Queryable, caller: Caller, id: string): Promise<Product | null> {
  return isId('prod', id) ? findProductForUpdate(tx, caller.shopId, id) : null;
}

export function invalidProduct(details: readonly ErrorDetail[]): ServiceError {
  return new ServiceError('bad_request', INVALID_PRODUCT, { details });
}

function slugTaken(): ServiceError {
  return invalidProduct([{ path: 'slug', message: 'is taken by another product of this shop' }]);
}

/** The same words for a product that never was, was deleted, or is another shop's. */
function missing(): never {
  throw new ServiceError('not_found', 'Product not found');
}
