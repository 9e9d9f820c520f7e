// A product of a shop: its fields, their limits, and the effect of an update.

import type { ErrorDetail } from '../../platform/core/errors.ts';

export const PRODUCT_TYPES = ['physical', 'digital', 'nft'] as const;
export type ProductType = (typeof PRODUCT_TYPES)[number];

/** `archived`: the product keeps its stock and its log, and is left out of lists. */
export const PRODUCT_STATUSES = ['active', 'draft', 'archived'] as const;
export type ProductStatus = (typeof PRODUCT_STATUSES)[number];

/** What distinguishes a variant from the others of its group, such as the size M. */
export type ProductOption = { name: string; value: string };

/**
 * The fields that a shop sets. `price` and `compareAtPrice` are decimal text exactly as it was sent, in the shop's currency. The products with
 * one `groupId` are the variants of one product. The keys of `metadata` are sorted.
 */
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
  sku: string | null;
  barcode: string | null;
  externalId: string | null;
  status: ProductStatus;
  compareAtPrice: string | null;
  groupId: string | null;
  options: ProductOption[];
  metadata: Record<string, string>;
};

/** The fields of a new product. If `slug` is null, the slug is derived from the name. */
export type NewProduct = Omit<ProductFields, 'slug'> & { slug: string | null };

/** The fields of an update. `collection` is added to the collections. `metadata` is merged by key: null removes a key. */
export type ProductInput = Partial<Omit<ProductFields, 'metadata'>> & {
  collection?: string;
  metadata?: Readonly<Record<string, string | null>>;
};

/** A stored product. Times in milliseconds. */
export type Product = ProductFields & { id: string; version: number; createdAt: number; updatedAt: number };

/** A product in a list, without the fields that only a response with one product has. */
export type ProductSummary = Omit<Product, 'description' | 'moreImages'>;

/** The highest stock: the largest signed 32-bit integer. Numbers in requests are from `-STOCK_MAX` to `STOCK_MAX`. */
export const STOCK_MAX = 2 ** 31 - 1;
export const PRODUCT_NAME_LENGTH_MAX = 160;
export const PRODUCT_DESCRIPTION_LENGTH_MAX = 100_000;
export const IMAGE_URL_LENGTH_MAX = 10_000;
export const MORE_IMAGES_MAX = 20;
export const COLLECTION_LENGTH_MAX = 120;
export const COLLECTIONS_MAX = 25;
export const SKU_LENGTH_MAX = 120;
export const BARCODE_LENGTH_MAX = 120;
export const EXTERNAL_ID_LENGTH_MAX = 255;
export const GROUP_ID_LENGTH_MAX = 255;
export const OPTIONS_MAX = 3;
export const OPTION_LENGTH_MAX = 255;
export const METADATA_KEYS_MAX = 50;
export const METADATA_KEY_LENGTH_MAX = 40;
export const METADATA_VALUE_LENGTH_MAX = 500;

/** The product after an update: omitted fields keep their value, lists are replaced, `collection` is added, `metadata` is merged by key. */
export function mergeProduct(
  product: ProductFields,
  input: ProductInput,
): { ok: true; value: ProductFields } | { ok: false; details: ErrorDetail[] } {
  const { collection, metadata: metadataChanges = {}, ...changes } = input;
  const collections = addCollection(changes.collections ?? product.collections, collection);
  const metadata = mergeMetadata(product.metadata, metadataChanges);
  const details = [
    ...(collections.length > COLLECTIONS_MAX ? [TOO_MANY_COLLECTIONS] : []),
    ...(Object.keys(metadata).length > METADATA_KEYS_MAX ? [TOO_MANY_METADATA] : []),
  ];
  if (details.length > 0) return { ok: false, details };
  return { ok: true, value: { ...fieldsOf(product), ...changes, collections, metadata } };
}

export const TOO_MANY_COLLECTIONS: ErrorDetail = {
  path: 'collection',
  message: `would put the product in more than ${COLLECTIONS_MAX} collections`,
};

export const TOO_MANY_METADATA: ErrorDetail = {
  path: 'metadata',
  message: `would have more than ${METADATA_KEYS_MAX} keys`,
};

/** The metadata after a change, with sorted keys, so that equal metadata has equal JSON. */
export function mergeMetadata(
  metadata: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const merged = Object.entries({ ...metadata, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return Object.fromEntries(merged.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

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
  sku: true,
  barcode: true,
  externalId: true,
  status: true,
  compareAtPrice: true,
  groupId: true,
  options: true,
  metadata: true,
};

export const PRODUCT_FIELDS = Object.keys(FIELD_NAMES) as (keyof ProductFields)[];

/** The fields without what the service adds to them, such as the id of a stored product. */
function fieldsOf(product: ProductFields): ProductFields {
  return Object.fromEntries(PRODUCT_FIELDS.map((name) => [name, product[name]])) as ProductFields;
}

/** The fields that two products of a shop cannot have in common, with what is compared. `options` is compared in a group. */
export const IDENTIFIERS = ['slug', 'sku', 'externalId', 'options'] as const;
export type Identifier = (typeof IDENTIFIERS)[number];

export function changedFields(before: ProductFields, after: ProductFields): (keyof ProductFields)[] {
  return PRODUCT_FIELDS.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
