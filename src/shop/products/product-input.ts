// Reads the fields of products from JSON: bodies of requests, and imported records.

import { IMAGE_URL_FORMS, isImageUrl } from '../../platform/core/image-url.ts';
import { JsonNumber, isJsonObject } from '../../platform/core/json-text.ts';
import type { FieldReader, FieldReaders, ParsedBody } from '../body-fields.ts';
import { InvalidValue, parseBodyFields, readBooleanField, readTextField } from '../body-fields.ts';
import { STOCK_MAX } from '../stock.ts';
import type { NewProduct, ProductInput } from './product.ts';
import {
  COLLECTIONS_MAX,
  COLLECTION_LENGTH_MAX,
  IMAGE_URL_LENGTH_MAX,
  MORE_IMAGES_MAX,
  PRODUCT_DESCRIPTION_LENGTH_MAX,
  PRODUCT_NAME_LENGTH_MAX,
  PRODUCT_TYPES,
  TOO_MANY_COLLECTIONS,
  addCollection,
} from './product.ts';
import { SLUG_LENGTH_MAX } from './slug.ts';

const PRICE = /^\d{1,40}(?:\.\d{1,18})?$/;

const READERS: FieldReaders<ProductInput> = {
  name: (value) => readTextField(value, 1, PRODUCT_NAME_LENGTH_MAX),
  price: readPrice,
  slug: (value) => readTextField(value, 1, SLUG_LENGTH_MAX),
  description: (value) => (value === null ? null : readTextField(value, 0, PRODUCT_DESCRIPTION_LENGTH_MAX)),
  image: (value) => (value === null || value === '' ? value : readImageUrl(value)),
  moreImages: (value) => readTexts(value, MORE_IMAGES_MAX, readImageUrl),
  type: (value) =>
    PRODUCT_TYPES.find((type) => type === value) ?? new InvalidValue(`must be one of ${PRODUCT_TYPES.join(', ')}`),
  inventory: readStock,
  trackInventory: readBooleanField,
  requiresShipping: readBooleanField,
  weightGrams: readWeight,
  collection: readCollection,
  collections: (value) => readTexts(value, COLLECTIONS_MAX, readCollection),
};

/** Reads a new product. `name` and `price` are required. Every other field has a default. */
export function parseNewProduct(body: unknown): ParsedBody<NewProduct> {
  const input = parseProductInput(body);
  const details = input.ok ? [] : input.details;
  for (const field of ['name', 'price'] as const) {
    if (isJsonObject(body) && body[field] === undefined) details.push({ path: field, message: 'is required' });
  }
  if (!input.ok || details.length > 0) return { ok: false, details };
  const { name = '', price = '', type = 'physical', collection, ...given } = input.value;
  const collections = addCollection(given.collections ?? [], collection);
  if (collections.length > COLLECTIONS_MAX) return { ok: false, details: [TOO_MANY_COLLECTIONS] };
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

export function parseProductInput(body: unknown): ParsedBody<ProductInput> {
  return parseBodyFields<ProductInput>(body, READERS, 'a product');
}

/** Reads the URL of an image. A scheme that may run code in a buyer's browser, such as `javascript:`, is rejected. */
function readImageUrl(value: unknown): string | InvalidValue {
  const url = readTextField(value, 1, IMAGE_URL_LENGTH_MAX);
  if (url instanceof InvalidValue || isImageUrl(url)) return url;
  return new InvalidValue(`must begin with ${IMAGE_URL_FORMS}`);
}

function readCollection(value: unknown): string | InvalidValue {
  return readTextField(value, 1, COLLECTION_LENGTH_MAX);
}

function readTexts(value: unknown, countMax: number, read: FieldReader<string>): string[] | InvalidValue {
  if (!Array.isArray(value)) return new InvalidValue('must be an array of strings');
  if (value.length > countMax) return new InvalidValue(`must have at most ${countMax} entries`);
  const texts: string[] = [];
  for (const [index, one] of value.entries()) {
    const text = read(one);
    if (text instanceof InvalidValue) return new InvalidValue(`entry ${index} ${text.reason}`);
    texts.push(text);
  }
  return texts;
}

function readPrice(value: unknown): string | InvalidValue {
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text === 'string' && PRICE.test(text)) return text;
  return new InvalidValue('must be a non-negative decimal with at most 40 digits before and 18 after the point');
}

function readStock(value: unknown): number | InvalidValue {
  const integer = value instanceof JsonNumber && /^(0|-?[1-9]\d{0,15})$/.test(value.text) ? Number(value.text) : NaN;
  return integer >= 0 && integer <= STOCK_MAX ? integer : new InvalidValue(`must be an integer from 0 to ${STOCK_MAX}`);
}

function readWeight(value: unknown): number | InvalidValue {
  const weight = value instanceof JsonNumber ? Number(value.text) : NaN;
  // `-0` is stored as 0.
  return Number.isFinite(weight) && weight >= 0 ? Math.abs(weight) : new InvalidValue('must be a non-negative number');
}
