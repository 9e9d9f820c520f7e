// The list of a shop's products. Which products there are, and in which version, is asked of the database every time; what a
// version looks like never changes, so it is remembered.

import { LRUCache } from 'lru-cache';
import { listProductSummaries, listProductVersions } from '../queries/products.ts';
import type { ProductSummary, ProductType } from './product.ts';
import type { ShopCaller, Store } from '../context.ts';

export type ProductPage = { products: ProductSummary[]; next: string | null };
export type ProductListQuery = {
  before: string | null;
  limit: number;
  collection: string | null;
  type: ProductType | null;
};

/** Characters of JSON that the remembered products would have. */
const REMEMBERED_SIZE_MAX = 16 * 1024 * 1024;

/** A reader of pages, newest first. `collection` and `type` filter after the page is cut: it may be short, even empty. */
export function createProductList(): (
  store: Store,
  caller: ShopCaller,
  query: ProductListQuery,
) => Promise<ProductPage> {
  const remembered = new LRUCache<string, ProductSummary>({
    maxSize: REMEMBERED_SIZE_MAX,
    sizeCalculation: (product) => JSON.stringify(product).length,
  });

  return async (store, caller, { before, limit, collection, type }) => {
    const versions = await listProductVersions(store.main, caller.shopId, { before, limit: limit + 1 });
    const page = versions.slice(0, limit);
    const known = new Map<string, ProductSummary>();
    for (const { id, version } of page) {
      const product = remembered.get(id);
      if (product?.version === version) known.set(id, product);
    }
    const missing = page.filter(({ id }) => !known.has(id)).map(({ id }) => id);
    if (missing.length > 0) {
      for (const product of await listProductSummaries(store.main, caller.shopId, missing)) {
        remembered.set(product.id, product);
        known.set(product.id, product);
      }
    }
    // What was deleted between the two statements is not there any more.
    const products = page
      .flatMap(({ id }) => known.get(id) ?? [])
      .filter(
        (product) =>
          (collection === null || product.collections.includes(collection)) && (type === null || product.type === type),
      );
    return { products, next: versions.length > limit ? (page.at(-1)?.id ?? null) : null };
  };
}
