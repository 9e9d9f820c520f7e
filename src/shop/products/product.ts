// A product of a shop: its fields, their limits, and the effect of an update.

import type { ErrorDetail } from '../../platform/core/errors.ts';

export const PRODUCT_TYPES = ['physical', 'digital', 'nft'] as const;
export type ProductType = (typeof PRODUCT_TYPES)[number];

/** The fields that a shop sets. `price` is decimal text exactly as it was sent, in the shop's currency. */
export type ProductFields = {
  name: string;
  price: string;
  slug: string;
  description: string | null;
  image: string | null;
  moreImages: string[];
  type: ProductType;
  inventory: number;
  trackInventory: boolean;
  requiresShipping: boolean;
  weightGrams: number;
  collections: string[];
};

/** The fields of a new product. If `slug` is null, the slug is derived from the name. */
export type NewProduct = Omit<ProductFields, 'slug'> & { slug: string | null };

/** The fields of an update. `collection` is added to the collections. */
export type ProductInput = Partial<ProductFields> & { collection?: string };

/** A stored product. Times in milliseconds. */
export type Product = ProductFields & { id: string; version: number; createdAt: number; updatedAt: number };

/** A product in a list, without the fields that only a response with one product has. */
export type ProductSummary = Omit<Product, 'description' | 'moreImages' | 'updatedAt'>;

export const PRODUCT_NAME_LENGTH_MAX = 160;
export const PRODUCT_DESCRIPTION_LENGTH_MAX = 100_000;
export const IMAGE_URL_LENGTH_MAX = 10_000;
export const MORE_IMAGES_MAX = 20;
export const COLLECTION_LENGTH_MAX = 120;
export const COLLECTIONS_MAX = 25;

/** The product after an update: omitted fields keep their value, lists are replaced, `collection` is added. */
export function mergeProduct(
  product: ProductFields,
  input: ProductInput,
): { ok: true; value: ProductFields } | { ok: false; details: ErrorDetail[] } {
  const { collection, ...changes } = input;
  const collections = addCollection(changes.collections ?? product.collections, collection);
  if (collections.length > COLLECTIONS_MAX) return { ok: false, details: [TOO_MANY_COLLECTIONS] };
  const { name, price, slug, description, image, moreImages, type, inventory } = product;
  const { trackInventory, requiresShipping, weightGrams } = product;
  const current = { name, price, slug, description, image, moreImages, type, inventory };
  return { ok: true, value: { ...current, trackInventory, requiresShipping, weightGrams, ...changes, collections } };
}

export const TOO_MANY_COLLECTIONS: ErrorDetail = {
  path: 'collection',
  message: `would put the product in more than ${COLLECTIONS_MAX} collections`,
};

/** The collections in their order, without duplicates. `collection` is appended if it is not among them. */
export function addCollection(collections: readonly string[], collection: string | undefined): string[] {
  return [...new Set(collection === undefined ? collections : [...collections, collection])];
}

const FIELD_NAMES: Readonly<Record<keyof ProductFields, true>> = {
  name: true,
  price: true,
  slug: true,
  description: true,
  image: true,
  moreImages: true,
  type: true,
  inventory: true,
  trackInventory: true,
  requiresShipping: true,
  weightGrams: true,
  collections: true,
};

export const PRODUCT_FIELDS = Object.keys(FIELD_NAMES) as (keyof ProductFields)[];

export function changedFields(before: ProductFields, after: ProductFields): (keyof ProductFields)[] {
  return PRODUCT_FIELDS.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
