// Lists the products of shops. Ids and versions are read from the database for every page. Contents are cached by version, because the
// content of a version never changes.

import { LRUCache } from 'lru-cache';
import type { ProductVersion } from '../queries/products.ts';
import { listProductSummaries, listProductVersions } from '../queries/products.ts';
import type { ProductSummary, ProductType } from './product.ts';
import type { ShopCaller, ShopContext } from '../context.ts';

export type ProductPage = { products: ProductSummary[]; next: string | null };
export type ProductListQuery = {
  /** Only products older than the product with this id. Null for the first page. */
  before: string | null;
  limit: number;
  collection: string | null;
  type: ProductType | null;
};

/** The size of the cache, in characters of JSON. */
const CACHE_SIZE_MAX = 16 * 1024 * 1024;

export class ProductList {
  readonly #cache = new LRUCache<string, ProductSummary>({
    maxSize: CACHE_SIZE_MAX,
    sizeCalculation: (product) => JSON.stringify(product).length,
  });

  /** A page, newest first. `collection` and `type` filter the products of the page, so a page may be short or empty. */
  async read(context: ShopContext, caller: ShopCaller, query: ProductListQuery): Promise<ProductPage> {
    const { before, limit, collection, type } = query;
    const versions = await listProductVersions(context.main, caller.shopId, { before, limit: limit + 1 });
    const page = versions.slice(0, limit);
    const products = (await this.#readSummaries(context, caller, page)).filter(
      (product) =>
        (collection === null || product.collections.includes(collection)) && (type === null || product.type === type),
    );
    return { products, next: versions.length > limit ? (page.at(-1)?.id ?? null) : null };
  }

  /** The products of these versions, in the given order. Products that were deleted meanwhile are left out. */
  async #readSummaries(
    context: ShopContext,
    caller: ShopCaller,
    versions: readonly ProductVersion[],
  ): Promise<ProductSummary[]> {
    const known = new Map<string, ProductSummary>();
    for (const { id, version } of versions) {
      const product = this.#cache.get(id);
      if (product?.version === version) known.set(id, product);
    }
    const missing = versions.filter(({ id }) => !known.has(id)).map(({ id }) => id);
    if (missing.length > 0) {
      for (const product of await listProductSummaries(context.main, caller.shopId, missing)) {
        this.#cache.set(product.id, product);
        known.set(product.id, product);
      }
    }
    return versions.flatMap(({ id }) => known.get(id) ?? []);
  }
}
