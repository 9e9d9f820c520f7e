// Reads the fields of products from JSON: bodies of requests, and imported records.

import type { ErrorDetail } from '../../platform/core/errors.ts';
import { IMAGE_URL_FORMS, isImageUrl } from '../../platform/core/image-url.ts';
import { JsonNumber, isJsonObject } from '../../platform/core/json-text.ts';
import type { FieldReader, FieldReaders, ParsedBody } from '../body-fields.ts';
import { InvalidValue, parseBodyFields, readBooleanField, readTextField } from '../body-fields.ts';
import type { NewProduct, ProductInput, ProductOption } from './product.ts';
import {
  BARCODE_LENGTH_MAX,
  COLLECTIONS_MAX,
  COLLECTION_LENGTH_MAX,
  EXTERNAL_ID_LENGTH_MAX,
  GROUP_ID_LENGTH_MAX,
  IMAGE_URL_LENGTH_MAX,
  METADATA_KEYS_MAX,
  METADATA_KEY_LENGTH_MAX,
  METADATA_VALUE_LENGTH_MAX,
  MORE_IMAGES_MAX,
  OPTIONS_MAX,
  OPTION_LENGTH_MAX,
  PRODUCT_DESCRIPTION_LENGTH_MAX,
  PRODUCT_NAME_LENGTH_MAX,
  PRODUCT_STATUSES,
  PRODUCT_TYPES,
  SKU_LENGTH_MAX,
  STOCK_MAX,
  TOO_MANY_COLLECTIONS,
  TOO_MANY_METADATA,
  addCollection,
  mergeMetadata,
} from './product.ts';
import { SLUG_LENGTH_MAX } from './slug.ts';

const PRICE = /^\d{1,40}(?:\.\d{1,18})?$/;

const READERS: FieldReaders<ProductInput> = {
  name: (value) => readTextField(value, 1, PRODUCT_NAME_LENGTH_MAX),
  price: readPrice,
  slug: (value) => readTextField(value, 1, SLUG_LENGTH_MAX),
  description: orNull((value) => readTextField(value, 0, PRODUCT_DESCRIPTION_LENGTH_MAX)),
  image: (value) => (value === null || value === '' ? value : readImageUrl(value)),
  moreImages: (value) => readTexts(value, MORE_IMAGES_MAX, readImageUrl),
  type: readOneOf(PRODUCT_TYPES),
  inventory: readStock,
  trackInventory: readBooleanField,
  requiresShipping: readBooleanField,
  weightGrams: readWeight,
  collection: readCollection,
  collections: (value) => readTexts(value, COLLECTIONS_MAX, readCollection),
  sku: orNull((value) => readTextField(value, 1, SKU_LENGTH_MAX)),
  barcode: orNull((value) => readTextField(value, 1, BARCODE_LENGTH_MAX)),
  externalId: orNull((value) => readTextField(value, 1, EXTERNAL_ID_LENGTH_MAX)),
  status: readOneOf(PRODUCT_STATUSES),
  compareAtPrice: orNull(readPrice),
  groupId: orNull((value) => readTextField(value, 1, GROUP_ID_LENGTH_MAX)),
  options: readOptions,
  metadata: readMetadata,
};

const REQUIRED = ['name', 'price'] as const;

/** Reads a new product. `name` and `price` are required. Every other field has a default. */
export function parseNewProduct(body: unknown): ParsedBody<NewProduct> {
  const input = parseProductInput(body);
  if (input.ok) return toNewProduct(input.value);
  const missing = isJsonObject(body) ? REQUIRED.filter((field) => body[field] === undefined) : [];
  return { ok: false, details: [...input.details, ...missing.map(toMissing)] };
}

const toMissing = (path: string): ErrorDetail => ({ path, message: 'is required' });

/** The new product with the given fields. Fails if a required field is missing, or a list would have too many entries. */
export function toNewProduct(input: ProductInput): ParsedBody<NewProduct> {
  const details = REQUIRED.filter((field) => input[field] === undefined).map(toMissing);
  if (details.length > 0) return { ok: false, details };
  const { name = '', price = '', type = 'physical', collection, ...given } = input;
  const collections = addCollection(given.collections ?? [], collection);
  const metadata = mergeMetadata({}, given.metadata ?? {});
  if (collections.length > COLLECTIONS_MAX) details.push(TOO_MANY_COLLECTIONS);
  if (Object.keys(metadata).length > METADATA_KEYS_MAX) details.push(TOO_MANY_METADATA);
  if (details.length > 0) return { ok: false, details };
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
      sku: given.sku ?? null,
      barcode: given.barcode ?? null,
      externalId: given.externalId ?? null,
      status: given.status ?? 'active',
      compareAtPrice: given.compareAtPrice ?? null,
      groupId: given.groupId ?? null,
      options: given.options ?? [],
      metadata,
    },
  };
}

export function parseProductInput(body: unknown): ParsedBody<ProductInput> {
  return parseBodyFields<ProductInput>(body, READERS, 'a product');
}

function orNull<T>(read: FieldReader<T>): FieldReader<T | null> {
  return (value) => (value === null ? null : read(value));
}

function readOneOf<const T extends string>(values: readonly T[]): FieldReader<T> {
  return (value) => values.find((one) => one === value) ?? new InvalidValue(`must be one of ${values.join(', ')}`);
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

function readOptions(value: unknown): ProductOption[] | InvalidValue {
  if (!Array.isArray(value)) return new InvalidValue('must be an array of objects with name and value');
  if (value.length > OPTIONS_MAX) return new InvalidValue(`must have at most ${OPTIONS_MAX} entries`);
  const options: ProductOption[] = [];
  for (const [index, one] of value.entries()) {
    const isPair = isJsonObject(one) && Object.keys(one).toSorted().join(' ') === 'name value';
    if (!isPair) return new InvalidValue(`entry ${index} must be an object with name and value`);
    const name = readTextField(one['name'], 1, OPTION_LENGTH_MAX);
    if (name instanceof InvalidValue) return new InvalidValue(`entry ${index}: name ${name.reason}`);
    const text = readTextField(one['value'], 1, OPTION_LENGTH_MAX);
    if (text instanceof InvalidValue) return new InvalidValue(`entry ${index}: value ${text.reason}`);
    if (options.some((other) => other.name === name)) return new InvalidValue(`entry ${index}: name is used twice`);
    options.push({ name, value: text });
  }
  return options;
}

function readMetadata(value: unknown): Record<string, string | null> | InvalidValue {
  if (!isJsonObject(value)) return new InvalidValue('must be an object of texts');
  const metadata: [string, string | null][] = [];
  for (const [key, given] of Object.entries(value)) {
    const name = readTextField(key, 1, METADATA_KEY_LENGTH_MAX);
    if (name instanceof InvalidValue)
      return new InvalidValue(`key ${JSON.stringify(key.slice(0, METADATA_KEY_LENGTH_MAX))} ${name.reason}`);
    const text = given === null ? null : readTextField(given, 0, METADATA_VALUE_LENGTH_MAX);
    if (text instanceof InvalidValue) return new InvalidValue(`the value of ${JSON.stringify(key)} ${text.reason}`);
    metadata.push([name, text]);
  }
  return Object.fromEntries(metadata);
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
