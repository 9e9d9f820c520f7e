// The JSON shapes of /api/v1/products.

import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
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
} from '../products/product.ts';
import { SLUG_LENGTH_MAX } from '../products/slug.ts';
import type { ProductSort } from '../queries/product-list.ts';
import { PRODUCT_SORTS, STATUS_FILTERS } from '../queries/product-list.ts';
import { IMAGE_URL_FORMS, IMAGE_URL_PATTERN } from '../../platform/core/image-url.ts';
import { closed, dateTime, ref, refOrNull, typeOrNull } from '../../platform/http/schema-builders.ts';
import {
  EXAMPLE_IDS,
  PRODUCT_CREATE_EXAMPLE,
  PRODUCT_EXAMPLE,
  PRODUCT_SUMMARY_EXAMPLE,
  PRODUCT_UPDATE_EXAMPLE,
  PRODUCT_UPSERT_EXAMPLE,
} from './example-shop.ts';
import { storeError } from './schemas.ts';

const PRICE_PATTERN = '^[0-9]{1,40}(\\.[0-9]{1,18})?$';
const productType = Type.Unsafe<(typeof PRODUCT_TYPES)[number]>({
  type: 'string',
  enum: PRODUCT_TYPES,
  description: 'The kind of product.',
});
const productStatus = Type.Unsafe<(typeof PRODUCT_STATUSES)[number]>({
  type: 'string',
  enum: PRODUCT_STATUSES,
  description:
    '`archived`: the product keeps its stock and its log, and is left out of lists. `draft` has no other effect than its name.',
});
const optionText = { minLength: 1, maxLength: OPTION_LENGTH_MAX };
const options = Type.Array(
  Type.Object(
    {
      name: Type.String({ ...optionText, description: 'The name, such as `Size`.' }),
      value: Type.String({ ...optionText, description: 'The value, such as `M`.' }),
    },
    closed,
  ),
  {
    maxItems: OPTIONS_MAX,
    description: 'What distinguishes this variant. No other product with this `groupId` has the same values.',
  },
);
const collectionSlug = { minLength: 1, maxLength: COLLECTION_LENGTH_MAX };

const summary = {
  id: Type.String({ description: 'Product id.' }),
  name: Type.String({ description: 'Name.' }),
  slug: Type.String({ description: 'Slug, unique in the shop.' }),
  price: Type.String({
    pattern: PRICE_PATTERN,
    description: "Decimal amount in the shop's currency, exactly as it was sent.",
  }),
  type: productType,
  inventory: Type.Integer({ minimum: 0, description: 'Stock.' }),
  trackInventory: Type.Boolean({ description: 'Whether stock is counted. If not, the product never sells out.' }),
  requiresShipping: Type.Boolean({ description: 'Whether the product is shipped.' }),
  weightGrams: Type.Number({ minimum: 0, description: 'Weight in grams.' }),
  collections: Type.Array(Type.String(), { description: 'Slugs of the collections that contain the product.' }),
  image: typeOrNull<string>('string', 'Main image URL.'),
  createdAt: dateTime('When the product was created.'),
  updatedAt: dateTime('When the product was last changed.'),
  sku: typeOrNull<string>('string', 'Stock keeping unit, unique in the shop.'),
  barcode: typeOrNull<string>('string', 'Barcode, such as a GTIN. Several products may have the same.'),
  externalId: typeOrNull<string>('string', 'The id of the product in another system of the shop, unique in the shop.'),
  status: productStatus,
  compareAtPrice: typeOrNull<string>('string', 'The price before a reduction, like `price`.', {
    pattern: PRICE_PATTERN,
  }),
  groupId: typeOrNull<string>('string', 'The products with the same text are the variants of one product.'),
  options,
  metadata: Type.Record(Type.String(), Type.String(), { description: 'Texts of the shop, by key.' }),
};

const ProductSummarySchema = Type.Object(summary, {
  $id: 'ProductSummary',
  title: 'ProductSummary',
  description: 'A product in a list.',
  examples: [PRODUCT_SUMMARY_EXAMPLE],
  ...closed,
});
export type WireProductSummary = Static<typeof ProductSummarySchema>;

/** The fields of a product, in responses and in events. */
export const productProperties = {
  ...summary,
  description: typeOrNull<string>('string', 'Description.'),
  moreImages: Type.Array(Type.String(), { description: 'Further image URLs.' }),
};

const ProductSchema = Type.Object(productProperties, {
  $id: 'Product',
  title: 'Product',
  description: 'A product.',
  examples: [PRODUCT_EXAMPLE],
  ...closed,
});
export type WireProduct = Static<typeof ProductSchema>;

const required = {
  name: Type.String({ minLength: 1, maxLength: PRODUCT_NAME_LENGTH_MAX, description: 'Name.' }),
  price: Type.Unsafe<string | number>({
    anyOf: [
      { type: 'string', pattern: PRICE_PATTERN },
      { type: 'number', minimum: 0 },
    ],
    description:
      'Decimal amount: at most 40 digits before and 18 after the point, no exponent. Stored exactly as written.',
  }),
};
const optional = {
  slug: Type.String({
    minLength: 1,
    maxLength: SLUG_LENGTH_MAX,
    description: 'Slug; derived from the name when omitted.',
  }),
  description: typeOrNull<string>('string', 'Description.', { maxLength: PRODUCT_DESCRIPTION_LENGTH_MAX }),
  image: typeOrNull<string>('string', `Main image URL: begins with ${IMAGE_URL_FORMS}, or is empty.`, {
    maxLength: IMAGE_URL_LENGTH_MAX,
    pattern: `^$|${IMAGE_URL_PATTERN}`,
  }),
  moreImages: Type.Array(Type.String({ minLength: 1, maxLength: IMAGE_URL_LENGTH_MAX, pattern: IMAGE_URL_PATTERN }), {
    maxItems: MORE_IMAGES_MAX,
    description: `Further image URLs, which begin with ${IMAGE_URL_FORMS}.`,
  }),
  type: productType,
  inventory: Type.Integer({ minimum: 0, maximum: STOCK_MAX, description: 'Stock.' }),
  trackInventory: Type.Boolean({ description: 'Whether stock is counted. Default: true for physical products.' }),
  requiresShipping: Type.Boolean({
    description: 'Whether the product is shipped. Default: true for physical products.',
  }),
  weightGrams: Type.Number({ minimum: 0, description: 'Weight in grams, for the calculation of shipping rates.' }),
  collection: Type.String({ ...collectionSlug, description: 'A collection to add the product to.' }),
  collections: Type.Array(Type.String(collectionSlug), { maxItems: COLLECTIONS_MAX, description: 'Collection slugs.' }),
  sku: typeOrNull<string>('string', 'Stock keeping unit, unique in the shop.', {
    minLength: 1,
    maxLength: SKU_LENGTH_MAX,
  }),
  barcode: typeOrNull<string>('string', 'Barcode, such as a GTIN.', { minLength: 1, maxLength: BARCODE_LENGTH_MAX }),
  externalId: typeOrNull<string>('string', 'The id of the product in another system, unique in the shop.', {
    minLength: 1,
    maxLength: EXTERNAL_ID_LENGTH_MAX,
  }),
  status: productStatus,
  compareAtPrice: Type.Unsafe<string | number | null>({
    type: ['string', 'number', 'null'],
    pattern: PRICE_PATTERN,
    minimum: 0,
    description: 'The price before a reduction, in the form of `price`.',
  }),
  groupId: typeOrNull<string>('string', 'The products with the same text are the variants of one product.', {
    minLength: 1,
    maxLength: GROUP_ID_LENGTH_MAX,
  }),
  options,
  metadata: Type.Unsafe<Record<string, string | null>>({
    type: 'object',
    maxProperties: METADATA_KEYS_MAX,
    propertyNames: { minLength: 1, maxLength: METADATA_KEY_LENGTH_MAX },
    additionalProperties: { type: ['string', 'null'], maxLength: METADATA_VALUE_LENGTH_MAX },
    description: 'Texts by key. An update merges them by key: null removes a key, and omitted keys keep their text.',
  }),
};
const allOptional = (properties: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]));

/** The fields of a new product. */
export const newProductProperties = { ...required, ...allOptional(optional) };

const ProductCreateSchema = Type.Object(newProductProperties, {
  $id: 'ProductCreate',
  title: 'ProductCreate',
  description: 'A product to be created.',
  examples: [PRODUCT_CREATE_EXAMPLE],
  ...closed,
});
const ProductUpdateSchema = Type.Object(allOptional({ ...required, ...optional }), {
  $id: 'ProductUpdate',
  title: 'ProductUpdate',
  description:
    'Changes. Omitted fields keep their value, arrays replace the stored arrays, and null clears a nullable field.',
  examples: [PRODUCT_UPDATE_EXAMPLE],
  ...closed,
});

export const IDS_MAX = 100;
const SEARCH_LENGTH_MAX = 200;
const IDS_LENGTH_MAX = 4_000;

/** The parameters of a list of products. */
export const productListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Products per page.' })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, description: 'The `nextCursor` of a page of the same list, passed back unchanged.' }),
  ),
  collection: Type.Optional(
    Type.String({ minLength: 1, maxLength: COLLECTION_LENGTH_MAX, description: 'Collection slug.' }),
  ),
  type: Type.Optional(
    Type.Unsafe<(typeof PRODUCT_TYPES)[number]>({
      type: 'string',
      enum: PRODUCT_TYPES,
      description: 'Type of product.',
    }),
  ),
  ids: filterText(IDS_LENGTH_MAX, `Up to ${IDS_MAX} product ids, separated by commas.`, EXAMPLE_IDS.product),
  sku: filterText(SKU_LENGTH_MAX, 'Only the product with this SKU.', PRODUCT_CREATE_EXAMPLE.sku),
  barcode: filterText(BARCODE_LENGTH_MAX, 'Only products with this barcode.', PRODUCT_CREATE_EXAMPLE.barcode),
  externalId: filterText(
    EXTERNAL_ID_LENGTH_MAX,
    'Only the product with this external id.',
    PRODUCT_CREATE_EXAMPLE.externalId,
  ),
  slug: filterText(SLUG_LENGTH_MAX, 'Only the product with this slug.', PRODUCT_SUMMARY_EXAMPLE.slug),
  status: Type.Optional(
    Type.Unsafe<(typeof STATUS_FILTERS)[number]>({
      type: 'string',
      enum: STATUS_FILTERS,
      description:
        'Only products with this status. Default: all but archived products; and all, if `ids`, `sku`, `barcode`, `externalId` or `slug` names ' +
        'the products.',
    }),
  ),
  group: filterText(GROUP_ID_LENGTH_MAX, 'Only the variants with this `groupId`.', PRODUCT_CREATE_EXAMPLE.groupId),
  q: filterText(
    SEARCH_LENGTH_MAX,
    'Only products whose name, SKU or barcode has words that begin with these words, the best matches first. Case, accents and punctuation ' +
      'make no difference.',
    'lights mug',
  ),
  sort: Type.Optional(
    Type.Unsafe<ProductSort>({
      type: 'string',
      enum: PRODUCT_SORTS,
      description: 'What the list is sorted by. Default: `created`, or the best match with `q`.',
    }),
  ),
  order: Type.Optional(
    Type.Unsafe<'asc' | 'desc'>({
      type: 'string',
      enum: ['asc', 'desc'],
      description: 'The order. Default: `desc` for `created` and `updated`, otherwise `asc`.',
    }),
  ),
});

function filterText(maxLength: number, description: string, example: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength, description, examples: [example] }));
}

const ProductPaginationSchema = Type.Object(
  {
    hasMore: Type.Boolean({
      description: 'Whether another page follows. Even a short or an empty page may have a next page.',
    }),
    nextCursor: typeOrNull<string>('string', 'Cursor of the next page; null on the last page.'),
    count: Type.Integer({ minimum: 0, description: 'Number of products in `data`.' }),
  },
  {
    $id: 'ProductPagination',
    title: 'ProductPagination',
    description: 'Whether the list has another page, and the cursor of that page.',
    examples: [{ hasMore: true, nextCursor: EXAMPLE_IDS.product, count: 1 }],
    ...closed,
  },
);

export const BATCH_ROWS_MAX = 1_000;
/** A batch of rows with descriptions of some thousand characters. */
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** A batch of rows with all fields, and some metadata. */
export const BATCH_VALUES_MAX = 50_000;

const { name: _name, ...batchOptional } = { ...required, ...optional };
const ProductUpsertSchema = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1, description: 'The product to update.' })),
    name: Type.Optional(required.name),
    ...allOptional(batchOptional),
  },
  {
    $id: 'ProductUpsert',
    title: 'ProductUpsert',
    description:
      'A row of a batch. It updates the product with its `id`; without `id`, the product with its `externalId`; without both, the product with its ' +
      '`sku`. If the shop has no product with this `externalId` or `sku`, or the row has none of the three, it creates a product.',
    examples: [PRODUCT_UPSERT_EXAMPLE],
    ...closed,
  },
);

const ProductBatchSchema = Type.Object(
  {
    products: Type.Array(ref('ProductUpsert'), {
      minItems: 1,
      maxItems: BATCH_ROWS_MAX,
      description: 'The rows, which take effect in this order.',
    }),
  },
  {
    $id: 'ProductBatch',
    title: 'ProductBatch',
    description: 'Products to create or update.',
    examples: [{ products: [PRODUCT_UPSERT_EXAMPLE] }],
    ...closed,
  },
);

const ProductBatchResultSchema = Type.Object(
  {
    outcome: Type.Unsafe<'created' | 'updated' | 'unchanged' | 'rejected'>({
      type: 'string',
      enum: ['created', 'updated', 'unchanged', 'rejected'],
      description: 'What the row has done. A rejected row has no effect.',
    }),
    product: refOrNull<WireProduct>('Product', 'The product as it is after the row; null if the row is rejected.'),
    error: Type.Unsafe<Static<typeof storeError> | null>({
      anyOf: [storeError, { type: 'null' }],
      description: 'Why the row is rejected, as in the response to a single request; otherwise null.',
    }),
  },
  {
    $id: 'ProductBatchResult',
    title: 'ProductBatchResult',
    description: 'The result of a row.',
    examples: [{ outcome: 'updated', product: { ...PRODUCT_EXAMPLE, ...PRODUCT_UPDATE_EXAMPLE }, error: null }],
    ...closed,
  },
);
export type WireBatchResult = Static<typeof ProductBatchResultSchema>;

export const PRODUCT_SCHEMAS = [
  ProductUpsertSchema,
  ProductBatchSchema,
  ProductBatchResultSchema,
  ProductSummarySchema,
  ProductSchema,
  ProductCreateSchema,
  ProductUpdateSchema,
  ProductPaginationSchema,
];
