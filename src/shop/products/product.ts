// Products of a shop: their fields with bounds and defaults, and what a create and an update mean.

import type { ErrorDetail } from '../../core/errors.ts';
import { JsonNumber } from '../../core/json-text.ts';
import { SLUG_LENGTH_MAX } from './slug.ts';
import { STOCK_MAX } from '../stock.ts';
import { countCharacters, isStorable } from '../../core/text.ts';

export const PRODUCT_TYPES = ['physical', 'digital', 'nft'] as const;
export type ProductType = (typeof PRODUCT_TYPES)[number];

/** What a shop owner decides about a product. `price` is decimal text exactly as it was given, in the shop's currency. */
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

/** What a create says; a slug that it leaves out is made of the name. */
export type NewProduct = Omit<ProductFields, 'slug'> & { slug: string | null };

/** A product as it is stored. Times in milliseconds. */
export type Product = ProductFields & { id: string; version: number; createdAt: number; updatedAt: number };

/** What a list shows of a product: not its long texts. */
export type ProductSummary = Omit<Product, 'description' | 'moreImages' | 'updatedAt'>;

/** The fields that a body gives; `collection` has been merged into `collections` only where both were known. */
export type ProductInput = Partial<ProductFields> & { collection?: string };

export type Parsed<T> = { ok: true; value: T } | { ok: false; details: ErrorDetail[] };

export const NAME_LENGTH_MAX = 160;
export const COLLECTION_LENGTH_MAX = 120;
export const COLLECTIONS_MAX = 25;
export const MORE_IMAGES_MAX = 20;
export const DESCRIPTION_LENGTH_MAX = 100_000;
export const URL_LENGTH_MAX = 10_000;
/** Enough to mend a request by; more would only be an echo of it. */
const DETAILS_MAX = 50;
const PRICE = /^\d{1,40}(?:\.\d{1,18})?$/;

/** A field's value, or why it cannot be one. */
type Read<T> = (value: unknown) => T | Wrong;
class Wrong {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

const READERS: { [K in keyof Required<ProductInput>]: Read<Required<ProductInput>[K]> } = {
  name: (value) => readText(value, 1, NAME_LENGTH_MAX),
  price: readPrice,
  slug: (value) => readText(value, 1, SLUG_LENGTH_MAX),
  description: (value) => (value === null ? null : readText(value, 0, DESCRIPTION_LENGTH_MAX)),
  image: (value) => (value === null ? null : readText(value, 0, URL_LENGTH_MAX)),
  moreImages: (value) => readTexts(value, MORE_IMAGES_MAX, (one) => readText(one, 1, URL_LENGTH_MAX)),
  type: (value) =>
    PRODUCT_TYPES.find((type) => type === value) ?? new Wrong(`must be one of ${PRODUCT_TYPES.join(', ')}`),
  inventory: (value) => readInteger(value, 0, STOCK_MAX),
  trackInventory: readBoolean,
  requiresShipping: readBoolean,
  weightGrams: readWeight,
  collection: readCollection,
  collections: (value) => readTexts(value, COLLECTIONS_MAX, readCollection),
};

const FIELDS = Object.keys(READERS) as (keyof ProductInput)[];

/** Reads a create: name and price are required, everything else has a default (the slug is given later). */
export function parseNewProduct(body: unknown): Parsed<NewProduct> {
  const input = parseProductInput(body);
  const details = input.ok ? [] : input.details;
  for (const field of ['name', 'price'] as const) {
    if (isObject(body) && body[field] === undefined) details.push({ path: field, message: 'is required' });
  }
  if (!input.ok || details.length > 0) return { ok: false, details };
  const { name = '', price = '', type = 'physical', collection, ...given } = input.value;
  const collections = mergeCollections(given.collections ?? [], collection);
  if (collections.length > COLLECTIONS_MAX) return { ok: false, details: [tooManyCollections('collection')] };
  return {
    ok: true,
    value: {
      name,
      price,
      type,
      slug: given.slug ?? null,
      description: given.description ?? null,
      image: given.image ?? null,
      moreImages: given.moreImages ?? [],
      inventory: given.inventory ?? 0,
      trackInventory: given.trackInventory ?? type === 'physical',
      requiresShipping: given.requiresShipping ?? type === 'physical',
      weightGrams: given.weightGrams ?? 0,
      collections,
    },
  };
}

/** Reads the fields of a body. Unknown ones are wrong: a misspelt field must not be lost. */
export function parseProductInput(body: unknown): Parsed<ProductInput> {
  if (!isObject(body)) return { ok: false, details: [{ path: '', message: 'must be a JSON object' }] };
  const details: ErrorDetail[] = [];
  const value: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(body)) {
    const field = FIELDS.find((known) => known === name);
    const read: unknown = field ? READERS[field](given) : new Wrong('is not a field of a product');
    if (read instanceof Wrong) details.push({ path: name, message: read.why });
    else value[name] = read;
    if (details.length >= DETAILS_MAX) break;
  }
  return details.length > 0 ? { ok: false, details } : { ok: true, value };
}

/** What an update makes of a product: omitted fields keep their value, lists are replaced, `collection` is added. */
export function mergeProduct(product: ProductFields, input: ProductInput): Parsed<ProductFields> {
  const { collection, ...given } = input;
  const collections = mergeCollections(given.collections ?? product.collections, collection);
  if (collections.length > COLLECTIONS_MAX) return { ok: false, details: [tooManyCollections('collection')] };
  const { name, price, slug, description, image, moreImages, type, inventory } = product;
  const { trackInventory, requiresShipping, weightGrams } = product;
  const kept = { name, price, slug, description, image, moreImages, type, inventory };
  return { ok: true, value: { ...kept, trackInventory, requiresShipping, weightGrams, ...given, collections } };
}

/** The names of the fields in which two products differ. */
export function changedFields(before: ProductFields, after: ProductFields): (keyof ProductFields)[] {
  const names = FIELDS.filter((name): name is keyof ProductFields => name !== 'collection');
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

function mergeCollections(collections: readonly string[], collection: string | undefined): string[] {
  return [...new Set(collection === undefined ? collections : [...collections, collection])];
}

function tooManyCollections(path: string): ErrorDetail {
  return { path, message: `would make more than ${COLLECTIONS_MAX} collections` };
}

function isObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !(body instanceof JsonNumber);
}

function readText(value: unknown, lengthMin: number, lengthMax: number): string | Wrong {
  if (typeof value !== 'string') return new Wrong('must be a string');
  if (!isStorable(value)) return new Wrong('must be well-formed text without NUL');
  const length = countCharacters(value);
  if (length < lengthMin || length > lengthMax)
    return new Wrong(`must be ${lengthMin} to ${lengthMax} characters long`);
  return value;
}

function readCollection(value: unknown): string | Wrong {
  return readText(value, 1, COLLECTION_LENGTH_MAX);
}

function readTexts(value: unknown, countMax: number, read: Read<string>): string[] | Wrong {
  if (!Array.isArray(value)) return new Wrong('must be an array of strings');
  if (value.length > countMax) return new Wrong(`must have at most ${countMax} entries`);
  const texts: string[] = [];
  for (const [index, one] of value.entries()) {
    const text = read(one);
    if (text instanceof Wrong) return new Wrong(`entry ${index} ${text.why}`);
    texts.push(text);
  }
  return texts;
}

function readPrice(value: unknown): string | Wrong {
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text === 'string' && PRICE.test(text)) return text;
  return new Wrong('must be a non-negative decimal with at most 40 digits before and 18 after the point');
}

function readInteger(value: unknown, min: number, max: number): number | Wrong {
  const integer =
    value instanceof JsonNumber && /^(0|-?[1-9]\d{0,15})$/.test(value.text) ? Number(value.text) : Number.NaN;
  return integer >= min && integer <= max ? integer : new Wrong(`must be an integer from ${min} to ${max}`);
}

function readWeight(value: unknown): number | Wrong {
  const weight = value instanceof JsonNumber ? Number(value.text) : Number.NaN;
  return Number.isFinite(weight) && weight >= 0 ? Math.abs(weight) : new Wrong('must be a non-negative number');
}

function readBoolean(value: unknown): boolean | Wrong {
  return typeof value === 'boolean' ? value : new Wrong('must be true or false');
}
