// Reads products for callers. Contents are cached by version, because the content of a version never changes. Every read compares the
// cached versions with the database. Therefore a read includes every change that any process committed before the call. Concurrent reads of
// a shop share their statements.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/core/clock.ts';
import type { Deadline } from '../../platform/core/deadline.ts';
import { BatchedReads } from '../../platform/database/batched-reads.ts';
import type { Statements } from '../../platform/database/port.ts';
import { beginFeed } from '../changes.ts';
import type { PageVersions, ProductVersion } from '../queries/products.ts';
import { listProductPages, listProductSummaries, listProductVersions, listProducts } from '../queries/products.ts';
import type { ListPosition, ProductFilter, ProductOrder } from '../queries/product-list.ts';
import { listMatchingProducts } from '../queries/product-list.ts';
import type { Product, ProductSummary, ProductType } from './product.ts';

/**
 * `sequence`: every change with a higher position in the shop's feed may be missing in the page. The same object is returned as long as the page does
 * not change.
 */
export type ProductPage = { products: ProductSummary[]; next: string | null; sequence: number };
export type ProductListQuery = {
  /** Only products older than the product with this id. Null for the first page. */
  before: string | null;
  limit: number;
  collection: string | null;
  type: ProductType | null;
};

/** `filter` decides which products are on the pages. `collection` and `type` filter the products of a page. */
export type ProductMatchQuery = Pick<ProductListQuery, 'limit' | 'collection' | 'type'> &
  ProductOrder & { filter: ProductFilter; after: ListPosition | null };

/** The most memory of each of the three caches: products, summaries and pages. */
const BYTES_MAX = 16 * 1024 * 1024;
/** An entry occupies this many times the size of its JSON, because the response that is made from the entry is kept too. */
const COPIES = 2;
/** An estimate of the memory of an entry in addition to its text: objects, keys and headers. */
const ENTRY_OVERHEAD_BYTES = 1_536;
/**
 * The most shops whose ShopReads are kept. When the ShopReads of a shop are dropped, later reads of the shop share no statement with reads
 * in progress.
 */
const SHOPS_MAX = 1_000;
const VERSIONS_MAX = 500;
const PAGES_MAX = 20;
const CONTENTS_MAX = 100;

type ShopReads = {
  versions: BatchedReads<number>;
  pages: BatchedReads<PageVersions>;
  products: BatchedReads<Product>;
  summaries: BatchedReads<ProductSummary>;
};

const NO_PRODUCTS: PageVersions = { versions: '', sequence: null };

const sizeOf = (content: object) => JSON.stringify(content).length * COPIES + ENTRY_OVERHEAD_BYTES;

export class ProductReads {
  /** Returns the `Statements` for one batch of reads of a shop. The batch must have begun by `startBy`. */
  readonly #statementsOf: (shopId: string, startBy: Deadline) => Statements;
  readonly #clock: Clock;
  readonly #shops = new LRUCache<string, ShopReads>({ max: SHOPS_MAX });
  readonly #products = new LRUCache<string, Product>({ maxSize: BYTES_MAX, sizeCalculation: sizeOf });
  readonly #summaries = new LRUCache<string, ProductSummary>({ maxSize: BYTES_MAX, sizeCalculation: sizeOf });
  readonly #pages = new LRUCache<string, { versions: string; page: ProductPage }>({
    maxSize: BYTES_MAX,
    sizeCalculation: ({ versions, page }) => versions.length + sizeOf(page.products),
  });

  constructor(statementsOf: (shopId: string, startBy: Deadline) => Statements, clock: Clock) {
    this.#statementsOf = statementsOf;
    this.#clock = clock;
  }

  /**
   * A product of the shop, or null. The same object is returned as long as the product does not change. Throws `unavailable` if a statement
   * has not begun by `startBy`.
   */
  async readProduct(shopId: string, id: string, startBy: Deadline): Promise<Product | null> {
    const { versions, products } = this.#readsOf(shopId);
    const key = `${shopId} ${id}`;
    const cached = this.#products.get(key);
    if (cached && (await versions.read(id, startBy)) === cached.version) return cached;
    const product = await products.read(id, startBy);
    if (product) this.#products.set(key, product);
    else this.#products.delete(key);
    return product;
  }

  /**
   * A page, newest first. `collection` and `type` filter the products of the page, so a page may be short or empty. Throws `unavailable` if
   * a statement has not begun by `startBy`.
   */
  async readPage(shopId: string, query: ProductListQuery, startBy: Deadline): Promise<ProductPage> {
    const { before, limit, collection, type } = query;
    const read = await this.#readsOf(shopId).pages.read(toPageKey({ before, limit: limit + 1 }), startBy);
    const { versions, sequence: joined } = read ?? NO_PRODUCTS;
    const sequence = joined ?? 0;
    const key = JSON.stringify([shopId, before, limit, collection, type]);
    const cached = this.#pages.get(key);
    if (cached?.versions === versions && cached.page.sequence === sequence) return cached.page;
    const all = parseVersions(versions);
    const shown = all.slice(0, limit);
    const products = (await this.#readSummaries(shopId, shown, startBy)).filter(toPageFilter(query));
    const page = { products, next: all.length > limit ? (shown.at(-1)?.id ?? null) : null, sequence };
    this.#pages.set(key, { versions, page });
    return page;
  }

  /** A page of the products that match a filter, with the position after which the next page begins. Otherwise like `readPage`. */
  async readMatching(
    shopId: string,
    query: ProductMatchQuery,
    startBy: Deadline,
  ): Promise<{ products: ProductSummary[]; next: ListPosition | null; sequence: number }> {
    const { filter, sort, order, after, limit } = query;
    const page = { sort, order, after, limit: limit + 1 };
    const statements = this.#statementsOf(shopId, startBy);
    const [read] = await this.#readJoined(statements, shopId, async () => [
      await listMatchingProducts(statements, shopId, filter, page),
    ]);
    const { sequence, found: all } = read ?? { sequence: null, found: [] };
    const shown = all.slice(0, limit);
    const products = (await this.#readSummaries(shopId, shown, startBy)).filter(toPageFilter(query));
    return { products, next: all.length > limit ? (shown.at(-1) ?? null) : null, sequence: sequence ?? 0 };
  }

  /** Lists of a shop whose changes have positions in its feed, from which a copy continues. */
  async #readJoined<T extends { sequence: number | null }>(
    statements: Statements,
    shopId: string,
    read: () => Promise<T[]>,
  ): Promise<T[]> {
    const lists = await read();
    if (lists.every(({ sequence }) => sequence !== null)) return lists;
    await beginFeed(statements, shopId, this.#clock);
    return read();
  }

  /** The products of these versions, in the given order. Products that were deleted meanwhile are left out. */
  async #readSummaries(
    shopId: string,
    versions: readonly ProductVersion[],
    startBy: Deadline,
  ): Promise<ProductSummary[]> {
    const { summaries } = this.#readsOf(shopId);
    const read = versions.map(async ({ id, version }) => {
      const cached = this.#summaries.get(id);
      if (cached?.version === version) return cached;
      const summary = await summaries.read(id, startBy);
      if (summary) this.#summaries.set(id, summary);
      return summary;
    });
    return (await Promise.all(read)).filter((summary) => summary !== null);
  }

  #readsOf(shopId: string): ShopReads {
    const known = this.#shops.get(shopId);
    if (known) return known;
    const statements = (startBy: Deadline) => this.#statementsOf(shopId, startBy);
    const reads: ShopReads = {
      versions: new BatchedReads({
        sizeMax: VERSIONS_MAX,
        readAll: async (ids, startBy) =>
          new Map(parseVersions(await listProductVersions(statements(startBy), shopId, ids)).map(toVersionEntry)),
      }),
      pages: new BatchedReads({
        sizeMax: PAGES_MAX,
        readAll: async (keys, startBy) => {
          const db = statements(startBy);
          const wanted = keys.map(parsePageKey);
          const pages = await this.#readJoined(db, shopId, () => listProductPages(db, shopId, wanted));
          return new Map(keys.map((key, index) => [key, pages[index] ?? NO_PRODUCTS]));
        },
      }),
      products: new BatchedReads({
        sizeMax: CONTENTS_MAX,
        readAll: async (ids, startBy) => byId(await listProducts(statements(startBy), shopId, ids)),
      }),
      summaries: new BatchedReads({
        sizeMax: CONTENTS_MAX,
        readAll: async (ids, startBy) => byId(await listProductSummaries(statements(startBy), shopId, ids)),
      }),
    };
    this.#shops.set(shopId, reads);
    return reads;
  }
}

/** Accepts the products of a page that a list with the query shows. */
function toPageFilter({ collection, type }: Pick<ProductListQuery, 'collection' | 'type'>) {
  return (product: ProductSummary) =>
    (collection === null || product.collections.includes(collection)) && (type === null || product.type === type);
}

/** Parses the text that `listProductVersions` and `listProductPages` return. */
function parseVersions(text: string): ProductVersion[] {
  if (text === '') return [];
  return text.split(',').map((entry) => {
    const [id = '', version = ''] = entry.split(' ');
    return { id, version: Number(version) };
  });
}

const toVersionEntry = ({ id, version }: ProductVersion): [string, number] => [id, version];

function byId<T extends { id: string }>(contents: readonly T[]): Map<string, T> {
  return new Map(contents.map((content) => [content.id, content]));
}

type PageBounds = { before: string | null; limit: number };

function toPageKey({ before, limit }: PageBounds): string {
  return `${limit} ${before ?? ''}`;
}

function parsePageKey(key: string): PageBounds {
  const [limit = '', before = ''] = key.split(' ');
  return { before: before === '' ? null : before, limit: Number(limit) };
}
