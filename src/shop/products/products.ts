// Products: created, read, merged and deleted within a shop, each change with its event in one transaction.

import type { Queryable } from '../../database/port.ts';
import { insertEvent } from '../queries/events.ts';
import { insertProductWithEvent, updateProductWithEvent } from './product-changes.ts';
import {
  claimSlugNumbers,
  deleteProduct,
  findProduct,
  findProductForUpdate,
  listSlugsLike,
} from '../queries/products.ts';
import type { NewProduct, Product, ProductInput } from './product.ts';
import { toFreeSlug, toSlug } from './slug.ts';
import { isId } from '../../core/time-ordered-id.ts';
import type { ErrorDetail } from '../../core/errors.ts';
import { ServiceError } from '../../core/errors.ts';
import type { ShopCaller, Store } from '../context.ts';

/** The words of the specification for whatever is wrong with a product's fields. */
export const INVALID_PRODUCT = 'Invalid product payload';

/** Attempts at a free slug: whoever gives one of his own may take the one that was just found free. */
const SLUG_ATTEMPTS_MAX = 5;

export async function readProduct(store: Store, caller: ShopCaller, id: string): Promise<Product> {
  return (isId('prod', id) ? await findProduct(store.main, caller.shopId, id) : null) ?? missing();
}

/** Creates a product. A slug that was given must be free; one made from the name gets a number when it is not. */
export async function createProduct(
  store: Store,
  tx: Queryable,
  caller: ShopCaller,
  fields: NewProduct,
): Promise<Product> {
  const into = { shopId: caller.shopId, now: store.clock() };
  const { slug } = fields;
  const created =
    slug === null
      ? await insertWithFreeSlug(tx, into, fields)
      : await insertProductWithEvent(tx, into, { ...fields, slug });
  return created ?? refuseSlug();
}

async function insertWithFreeSlug(tx: Queryable, into: { shopId: string; now: number }, fields: NewProduct) {
  const wanted = toSlug(fields.name);
  const findFree = async () => toFreeSlug(wanted, await listSlugsLike(tx, into.shopId, wanted));
  let isInLine = false;
  for (let attempts = 0; attempts < SLUG_ATTEMPTS_MAX; attempts += 1) {
    let slug = await findFree();
    if (slug !== wanted && !isInLine) {
      // Numbers are given out in line: without one, of many who are after the next number one could lose every time.
      await claimSlugNumbers(tx, into.shopId, wanted);
      isInLine = true;
      slug = await findFree();
    }
    const created = await insertProductWithEvent(tx, into, { ...fields, slug });
    if (created) return created;
  }
  return null;
}

export type ProductUpdate = {
  id: string;
  input: ProductInput;
  /** Whether the version that is there may be changed; refuses by throwing. */
  check: (product: Product) => void;
};

/** Merges what is given into a product. What changes nothing writes nothing and is no event. */
export async function changeProduct(
  store: Store,
  tx: Queryable,
  caller: ShopCaller,
  update: ProductUpdate,
): Promise<Product> {
  const before = (await lockProduct(tx, caller, update.id)) ?? missing();
  update.check(before);
  const { shopId, keyId } = caller;
  const change = { shopId, keyId, now: store.clock(), source: 'product', reason: 'Product update' } as const;
  const updated = await updateProductWithEvent(tx, change, before, update.input);
  if (updated.outcome === 'invalid') throw invalidProduct(updated.details);
  if (updated.outcome === 'taken') return refuseSlug();
  if (updated.outcome === 'gone') return missing();
  return updated.product;
}

/** Deletes a product; its adjustments stay. */
export async function removeProduct(
  store: Store,
  tx: Queryable,
  caller: ShopCaller,
  options: Pick<ProductUpdate, 'id' | 'check'>,
): Promise<void> {
  const product = (await lockProduct(tx, caller, options.id)) ?? missing();
  options.check(product);
  await deleteProduct(tx, caller.shopId, product.id);
  const data = { id: product.id, slug: product.slug };
  await insertEvent(tx, { shopId: caller.shopId, type: 'product.deleted', data, now: store.clock() });
}

/** Text that is no product id never reaches the database. */
async function lockProduct(tx: Queryable, caller: ShopCaller, id: string): Promise<Product | null> {
  return isId('prod', id) ? findProductForUpdate(tx, caller.shopId, id) : null;
}

export function invalidProduct(details: readonly ErrorDetail[]): ServiceError {
  return new ServiceError('bad_request', INVALID_PRODUCT, { details });
}

function refuseSlug(): never {
  throw invalidProduct([{ path: 'slug', message: 'is taken by another product of this shop' }]);
}

/** The same words for a product that never was, was deleted, or is another shop's. */
function missing(): never {
  throw new ServiceError('not_found', 'Product not found');
}
