// Creates and updates many products of a shop with few statements: for batches of the store interface, and for imports. The rows have the
// effects of single requests that were made one after the other in the given order.

import type { ErrorDetail } from '../../platform/core/errors.ts';
import { createId } from '../../platform/core/time-ordered-id.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { recordEvents } from '../events.ts';
import type { EventToRecord } from '../events.ts';
import {
  IdentifierTaken,
  claimProductImports,
  claimSlugNumbers,
  deleteIdentifiers,
  insertProducts,
  listIdentifierOwners,
  listProductsByKey,
  listSlugsLike,
  updateProducts,
} from '../queries/products.ts';
import type { Clash, ProductIdentity, ProductKey, WantedIdentifiers } from '../queries/products.ts';
import type { StockChange, StockChangeOrigin } from '../queries/stock.ts';
import { applyStockChanges } from '../stock.ts';
import { describeClashes } from './product-changes.ts';
import type { ShopTime } from './product-changes.ts';
import { toNewProduct } from './product-input.ts';
import { IDENTIFIERS, changedFields, mergeProduct } from './product.ts';
import type { Identifier, NewProduct, Product, ProductInput } from './product.ts';
import { toProductView } from './product-view.ts';
import { toFreeSlug, toSlug } from './slug.ts';

/** `key`: the product to update. If the shop has no such product, one is created, except for a key by id. Null: a product is created. */
export type ProductUpsert = { key: ProductKey | null; input: ProductInput };

/** `product`: as it is after the row. `missing`: the key is an id, and the shop has no such product. */
export type ProductUpsertResult =
  | { outcome: 'created' | 'updated' | 'unchanged'; product: Product }
  | { outcome: 'rejected'; details: ErrorDetail[] }
  | { outcome: 'missing' };

/**
 * Stores the rows in the transaction, with their events and entries in the adjustment log. Batches and imports of one shop wait for each other:
 * each holds products and identifiers that the other may need. Throws an error with which the transaction is repeated if another transaction
 * has stored an identifier of a row meanwhile.
 */
export async function upsertProducts(
  tx: Queryable,
  change: ShopTime & StockChangeOrigin,
  rows: readonly ProductUpsert[],
): Promise<ProductUpsertResult[]> {
  if (rows.length === 0) return [];
  const { shopId, now, ...origin } = change;
  await claimProductImports(tx, [shopId]);
  const stored = await listProductsByKey(
    tx,
    shopId,
    rows.flatMap(({ key }) => key ?? []),
  );
  const plan = new UpsertPlan(now, stored, await listIdentifierOwners(tx, shopId, toWantedIdentifiers(rows, stored)));
  plan.useSlugs(
    await readUsedSlugs(
      tx,
      shopId,
      rows.flatMap((row) => plan.derivedSlugOf(row) ?? []),
    ),
  );
  const results = rows.map((row) => plan.apply(row));
  await plan.write(tx, { shopId, ...origin });
  return results;
}

/** What the rows do to the products, in memory. The products with keys are locked, so that nothing else changes them meanwhile. */
class UpsertPlan {
  readonly #now: number;
  /** The products of the rows as they are after the rows so far. */
  readonly #products: Map<string, Product>;
  /** The stock with which each new product was created. */
  readonly #created = new Map<string, number>();
  readonly #updated = new Set<string>();
  readonly #stock: StockChange[] = [];
  readonly #createdEvents: EventToRecord[] = [];
  readonly #updatedEvents: EventToRecord[] = [];
  /** The product that has each identifier: in the database, and after the rows so far. */
  readonly #storedOwners: ReadonlyMap<string, string>;
  readonly #owners: Map<string, string>;
  /** Stored products of which another product gets an identifier. */
  readonly #handedOver = new Set<string>();
  #usedSlugs = new Set<string>();

  constructor(now: number, stored: readonly Product[], owners: readonly ProductIdentity[]) {
    this.#now = now;
    this.#products = new Map(stored.map((product) => [product.id, product]));
    this.#storedOwners = new Map(
      [...owners, ...stored].flatMap((one) => toIdentifiers(one).map(({ text }) => [text, one.id] as const)),
    );
    this.#owners = new Map(this.#storedOwners);
  }

  /** The slug without a number that a row needs if it creates a product. Null if the row names a slug, or a stored product. */
  derivedSlugOf({ key, input: { slug, name } }: ProductUpsert): string | null {
    const isDerived = slug === undefined && name !== undefined && key?.by !== 'slug' && key?.by !== 'id';
    return isDerived && !(key && this.#find(key)) ? toSlug(name) : null;
  }

  useSlugs(used: Set<string>): void {
    this.#usedSlugs = used;
  }

  apply({ key, input }: ProductUpsert): ProductUpsertResult {
    const before = key && this.#find(key);
    if (before) return this.#update(before, input);
    if (key?.by === 'id') return { outcome: 'missing' };
    const parsed = toNewProduct(key?.by === 'slug' ? { ...input, slug: key.value } : input);
    return parsed.ok ? this.#create(parsed.value) : { outcome: 'rejected', details: parsed.details };
  }

  #find({ by, value }: ProductKey): Product | null {
    const id = by === 'id' ? value : this.#owners.get(toText(by, value));
    return (id !== undefined && this.#products.get(id)) || null;
  }

  #create(fields: NewProduct): ProductUpsertResult {
    const slug = fields.slug ?? toFreeSlug(toSlug(fields.name), this.#usedSlugs);
    const now = this.#now;
    const product = { ...fields, slug, id: createId('prod', now), version: 1, createdAt: now, updatedAt: now };
    const clashes = this.#clashesOf(product);
    if (clashes.length > 0) return { outcome: 'rejected', details: describeClashes(clashes) };
    this.#keep(product);
    this.#created.set(product.id, product.inventory);
    this.#createdEvents.push({ type: 'product.created', data: toProductView(product) });
    return { outcome: 'created', product };
  }

  #update(before: Product, input: ProductInput): ProductUpsertResult {
    const merged = mergeProduct(before, input);
    if (!merged.ok) return { outcome: 'rejected', details: merged.details };
    const changed = changedFields(before, merged.value);
    if (changed.length === 0) return { outcome: 'unchanged', product: before };
    const product = { ...before, ...merged.value, updatedAt: this.#now };
    const clashes = this.#clashesOf(product);
    if (clashes.length > 0) return { outcome: 'rejected', details: describeClashes(clashes) };
    for (const { text } of toIdentifiers(before)) this.#owners.delete(text);
    this.#keep(product);
    if (!this.#created.has(product.id)) this.#updated.add(product.id);
    if (changed.includes('inventory')) {
      this.#stock.push({ productId: product.id, mode: 'set', requested: product.inventory, expected: null });
    }
    this.#updatedEvents.push({ type: 'product.updated', data: { ...toProductView(product), changed } });
    return { outcome: 'updated', product };
  }

  #clashesOf(product: Product): Clash[] {
    return toIdentifiers(product).flatMap(({ path, text }) => {
      const productId = this.#owners.get(text);
      return productId === undefined || productId === product.id ? [] : [{ path, productId }];
    });
  }

  #keep(product: Product): void {
    this.#products.set(product.id, product);
    this.#usedSlugs.add(product.slug);
    for (const { text } of toIdentifiers(product)) {
      this.#owners.set(text, product.id);
      const stored = this.#storedOwners.get(text);
      if (stored !== undefined && stored !== product.id) this.#handedOver.add(stored);
    }
  }

  /** Writes what the rows have changed. The events of new products come first, and the others have the order of the rows. */
  async write(tx: Queryable, { shopId, ...origin }: { shopId: string } & StockChangeOrigin): Promise<void> {
    const now = this.#now;
    await deleteIdentifiers(tx, shopId, [...this.#handedOver]);
    const created = [...this.#created].flatMap(([id, inventory]) => {
      const product = this.#products.get(id);
      return product ? [{ ...product, inventory }] : [];
    });
    const inserted = await insertProducts(tx, shopId, created);
    if (inserted.size < created.length) throw new IdentifierTaken('another transaction has created such a product');
    await recordEvents(tx, shopId, this.#createdEvents, now);
    const updated = [...this.#updated].flatMap((id) => this.#products.get(id) ?? []);
    await updateProducts(tx, shopId, updated, now);
    await applyStockChanges(tx, shopId, this.#stock, { ...origin, now });
    await recordEvents(tx, shopId, this.#updatedEvents, now);
  }
}

/** The identifiers of a product, as texts that are equal if and only if the identifiers are. */
function toIdentifiers(product: Omit<ProductIdentity, 'id'>): { path: Identifier; text: string }[] {
  const { groupId, options } = product;
  const pairs = options.map(({ name, value }) => JSON.stringify([name, value]));
  const values: Record<Identifier, string | null> = {
    slug: product.slug,
    sku: product.sku,
    externalId: product.externalId,
    options: groupId === null ? null : JSON.stringify([groupId, ...pairs.toSorted(compareText)]),
  };
  return IDENTIFIERS.flatMap((path) => {
    const value = values[path];
    return value === null ? [] : [{ path, text: toText(path, value) }];
  });
}

const toText = (path: Identifier, value: string) => `${path} ${value}`;

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The identifiers that the rows may give to products. Of a group, all variants are read. */
function toWantedIdentifiers(rows: readonly ProductUpsert[], stored: readonly Product[]): WantedIdentifiers {
  const inputs = rows.map(({ input }) => input);
  return {
    slugs: inputs.flatMap(({ slug }) => slug ?? []),
    skus: inputs.flatMap(({ sku }) => sku ?? []),
    externalIds: inputs.flatMap(({ externalId }) => externalId ?? []),
    groupIds: [...new Set([...inputs, ...stored].flatMap(({ groupId }) => groupId ?? []))],
  };
}

/** The slugs that equal one of the derived slugs, with or without a number. Only one transaction at a time assigns numbers. */
async function readUsedSlugs(tx: Queryable, shopId: string, derived: readonly string[]): Promise<Set<string>> {
  const used = await listSlugsLike(tx, shopId, [...new Set(derived)]);
  const numbered = derived.filter((slug, index) => used.has(slug) || derived.indexOf(slug) < index);
  if (numbered.length === 0) return used;
  await claimSlugNumbers(tx, shopId, [...new Set(numbered)]);
  return listSlugsLike(tx, shopId, [...new Set(derived)]);
}
