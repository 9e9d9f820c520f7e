// The operations of the store interface on products: read, create, update and delete. A mistake of the caller is thrown as a
// ServiceError.

import type { Queryable } from '../../platform/database/port.ts';
import type { ShopTime } from './product-changes.ts';
import {
  deleteProductWithEvent,
  describeClashes,
  insertProductWithEvent,
  updateProductWithEvent,
} from './product-changes.ts';
import type { Clash } from '../queries/products.ts';
import { claimSlugNumbers, findProductForUpdate, listSlugsLike } from '../queries/products.ts';
import type { NewProduct, Product, ProductInput } from './product.ts';
import type { ProductReads } from './product-reads.ts';
import { toFreeSlug, toSlug } from './slug.ts';
import { isId } from '../../platform/core/time-ordered-id.ts';
import type { ErrorDetail } from '../../platform/core/errors.ts';
import type { Deadline } from '../../platform/core/deadline.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { ShopCaller, ShopContext } from '../context.ts';

/** The message for any invalid field of a product. The details name the field. */
export const INVALID_PRODUCT = 'Invalid product payload';

/** The limit of attempts to insert a product with a derived slug. An attempt fails if another request has just used the slug. */
const SLUG_ATTEMPTS_MAX = 5;

export async function readProduct(
  reads: ProductReads,
  { shopId, id, startBy }: { shopId: string; id: string; startBy: Deadline },
): Promise<Product> {
  return (isId('prod', id) ? await reads.readProduct(shopId, id, startBy) : null) ?? refuseMissing();
}

/** Creates a product. A slug in the request must be unused. A derived slug gets a number if it is in use. */
export async function createProduct(
  context: ShopContext,
  tx: Queryable,
  caller: ShopCaller,
  fields: NewProduct,
): Promise<Product> {
  const at = { shopId: caller.shopId, now: context.clock() };
  const { slug } = fields;
  if (slug === null) return insertWithDerivedSlug(tx, at, fields);
  const result = await insertProductWithEvent(tx, at, { ...fields, slug });
  return result.outcome === 'created' ? result.product : refuseClashes(result.clashes);
}

async function insertWithDerivedSlug(tx: Queryable, at: ShopTime, fields: NewProduct): Promise<Product> {
  const derived = toSlug(fields.name);
  const findFree = async () => toFreeSlug(derived, await listSlugsLike(tx, at.shopId, [derived]));
  let hasClaim = false;
  for (let attempts = 0; attempts < SLUG_ATTEMPTS_MAX; attempts += 1) {
    let slug = await findFree();
    if (slug !== derived && !hasClaim) {
      // Only one transaction at a time assigns numbers. Otherwise a request could fail in every attempt under many concurrent requests.
      await claimSlugNumbers(tx, at.shopId, [derived]);
      hasClaim = true;
      slug = await findFree();
    }
    const result = await insertProductWithEvent(tx, at, { ...fields, slug });
    if (result.outcome === 'created') return result.product;
    const others = result.clashes.filter(({ path }) => path !== 'slug');
    if (others.length > 0) return refuseClashes(others);
  }
  return refuseClashes([]);
}

export type ProductUpdate = {
  id: string;
  input: ProductInput;
  /** Throws if the current version is not the one that the caller wants to change. */
  check: (product: Product) => void;
};

/** Merges an update into a product. An update that changes nothing writes nothing and records no event. */
export async function changeProduct(
  context: ShopContext,
  tx: Queryable,
  caller: ShopCaller,
  update: ProductUpdate,
): Promise<Product> {
  const before = (await lockProduct(tx, caller, update.id)) ?? refuseMissing();
  update.check(before);
  const { shopId, keyId } = caller;
  const change = { shopId, keyId, now: context.clock(), source: 'product', reason: 'Product update' } as const;
  const result = await updateProductWithEvent(tx, change, before, update.input);
  if (result.outcome === 'invalid') throw invalidProduct(result.details);
  if (result.outcome === 'taken') return refuseClashes(result.clashes);
  if (result.outcome === 'missing') return refuseMissing();
  return result.product;
}

/** Deletes a product. Its entries in the adjustment log stay. */
export async function removeProduct(
  context: ShopContext,
  tx: Queryable,
  caller: ShopCaller,
  { id, check }: Pick<ProductUpdate, 'id' | 'check'>,
): Promise<void> {
  const product = (await lockProduct(tx, caller, id)) ?? refuseMissing();
  check(product);
  await deleteProductWithEvent(tx, { shopId: caller.shopId, now: context.clock() }, product);
}

/** The product, locked until the transaction ends. Text that is not a product id is not sent to the database. */
async function lockProduct(tx: Queryable, caller: ShopCaller, id: string): Promise<Product | null> {
  return isId('prod', id) ? findProductForUpdate(tx, caller.shopId, id) : null;
}

export function invalidProduct(details: readonly ErrorDetail[]): ServiceError {
  return new ServiceError('bad_request', INVALID_PRODUCT, { details });
}

/** Without clashes, other requests are using and giving up the slug at the same time. */
function refuseClashes(clashes: readonly Clash[]): never {
  const details =
    clashes.length > 0
      ? describeClashes(clashes)
      : [{ path: 'slug', message: 'is taken by another product of this shop' }];
  throw invalidProduct(details);
}

function refuseMissing(): never {
  throw missingProduct();
}

/** The error is the same for a product that never existed, was deleted, or belongs to another shop. */
export function missingProduct(): ServiceError {
  return new ServiceError('not_found', 'Product not found');
}
