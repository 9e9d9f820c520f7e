// The wire shapes of the store interface.

import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import { STORE_SCOPES } from '../keys/scopes.ts';
import {
  COLLECTIONS_MAX,
  COLLECTION_LENGTH_MAX,
  DESCRIPTION_LENGTH_MAX,
  MORE_IMAGES_MAX,
  NAME_LENGTH_MAX,
  PRODUCT_TYPES,
  URL_LENGTH_MAX,
} from '../products/product.ts';
import { SLUG_LENGTH_MAX } from '../products/slug.ts';
import { STOCK_MAX } from '../stock.ts';
import { createResponses } from '../../http/keyed-responses.ts';

const closed = { additionalProperties: false };
export const ref = <T>(name: string) => Type.Unsafe<T>({ $ref: `${name}#` });
export const nullable = <T>(type: string, description: string, bounds: object = {}) =>
  Type.Unsafe<T | null>({ type: [type, 'null'], ...bounds, description });
export const dateTime = (description: string) => Type.String({ format: 'date-time', description });

const PRICE_PATTERN = '^[0-9]{1,40}(\\.[0-9]{1,18})?$';
const productType = Type.Unsafe<(typeof PRODUCT_TYPES)[number]>({
  type: 'string',
  enum: PRODUCT_TYPES,
  description: 'What kind of product it is.',
});
const collectionSlug = { minLength: 1, maxLength: COLLECTION_LENGTH_MAX };

const listed = {
  id: Type.String({ description: 'Product id.' }),
  name: Type.String({ description: 'Name.' }),
  slug: Type.String({ description: 'Slug, unique in the shop.' }),
  price: Type.String({
    pattern: PRICE_PATTERN,
    description: "Decimal amount in the shop's currency, as it was given.",
  }),
  type: productType,
  inventory: Type.Integer({ minimum: 0, description: 'Stock.' }),
  trackInventory: Type.Boolean({ description: 'Whether stock is counted; if not, the product never sells out.' }),
  requiresShipping: Type.Boolean({ description: 'Whether it is shipped.' }),
  weightGrams: Type.Number({ minimum: 0, description: 'Weight in grams.' }),
  collections: Type.Array(Type.String(), { description: 'Slugs of the collections it is in.' }),
  image: nullable<string>('string', 'Main image URL.'),
  createdAt: dateTime('When it was created.'),
};

export const ProductSummarySchema = Type.Object(listed, {
  $id: 'ProductSummary',
  title: 'ProductSummary',
  description: 'A product in a list.',
  ...closed,
});
export type WireProductSummary = Static<typeof ProductSummarySchema>;

export const ProductSchema = Type.Object(
  {
    ...listed,
    description: nullable<string>('string', 'Description.'),
    moreImages: Type.Array(Type.String(), { description: 'Further image URLs.' }),
    updatedAt: dateTime('When it was last changed.'),
  },
  { $id: 'Product', title: 'Product', description: 'A product.', ...closed },
);
export type WireProduct = Static<typeof ProductSchema>;

const writable = {
  name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, description: 'Name.' }),
  price: Type.Unsafe<string | number>({
    anyOf: [
      { type: 'string', pattern: PRICE_PATTERN },
      { type: 'number', minimum: 0 },
    ],
    description:
      'Decimal amount: at most 40 digits before and 18 after the point, no exponent. Kept exactly as written.',
  }),
};
const optional = {
  slug: Type.String({
    minLength: 1,
    maxLength: SLUG_LENGTH_MAX,
    description: 'Slug; made from the name when omitted.',
  }),
  description: nullable<string>('string', 'Description.', { maxLength: DESCRIPTION_LENGTH_MAX }),
  image: nullable<string>('string', 'Main image URL.', { maxLength: URL_LENGTH_MAX }),
  moreImages: Type.Array(Type.String({ minLength: 1, maxLength: URL_LENGTH_MAX }), {
    maxItems: MORE_IMAGES_MAX,
    description: 'Further image URLs.',
  }),
  type: productType,
  inventory: Type.Integer({ minimum: 0, maximum: STOCK_MAX, description: 'Stock.' }),
  trackInventory: Type.Boolean({
    description: 'Whether stock is counted; physical products are, unless told otherwise.',
  }),
  requiresShipping: Type.Boolean({
    description: 'Whether it is shipped; physical products are, unless told otherwise.',
  }),
  weightGrams: Type.Number({ minimum: 0, description: 'Weight in grams; needed for live carrier rates.' }),
  collection: Type.String({ ...collectionSlug, description: 'A collection to add the product to.' }),
  collections: Type.Array(Type.String(collectionSlug), { maxItems: COLLECTIONS_MAX, description: 'Collection slugs.' }),
};
const allOptional = (properties: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]));

export const ProductCreateSchema = Type.Object(
  { ...writable, ...allOptional(optional) },
  { $id: 'ProductCreate', title: 'ProductCreate', description: 'A product to be created.', ...closed },
);
export const ProductUpdateSchema = Type.Object(allOptional({ ...writable, ...optional }), {
  $id: 'ProductUpdate',
  title: 'ProductUpdate',
  description: 'What changes: omitted fields keep their value, arrays replace, null clears what may be null.',
  ...closed,
});

export const ProductPaginationSchema = Type.Object(
  {
    hasMore: Type.Boolean({ description: 'The only termination signal.' }),
    nextCursor: nullable<string>('string', 'Cursor of the next page; null on the last one.'),
    count: Type.Integer({ minimum: 0, description: 'Number of products in `data`.' }),
  },
  { $id: 'ProductPagination', title: 'ProductPagination', description: 'Where the list goes on.', ...closed },
);

export const InventoryItemSchema = Type.Object(
  {
    productId: Type.String({ description: 'Product id.' }),
    name: Type.String({ description: 'Name.' }),
    inventory: Type.Integer({ minimum: 0, description: 'Current stock.' }),
    trackInventory: Type.Literal(true, { description: 'Only tracked products are listed.' }),
    lowStock: Type.Boolean({ description: 'Whether the stock is at or below the threshold.' }),
  },
  { $id: 'InventoryItem', title: 'InventoryItem', description: 'The stock of a product.', ...closed },
);
export type WireInventoryItem = Static<typeof InventoryItemSchema>;

const stockInteger = (description: string) => Type.Integer({ minimum: -STOCK_MAX, maximum: STOCK_MAX, description });

export const StockRequestSchema = Type.Object(
  {
    product_id: Type.String({ minLength: 1, description: 'Product id.' }),
    adjustment: Type.Optional(stockInteger('Relative change; negative decreases. Concurrent ones all land.')),
    set: Type.Optional(stockInteger('Absolute level, for stocktakes. Below zero is zero.')),
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'For the log.' })),
    expected: Type.Optional(stockInteger('Change nothing unless the stock is this: 409 otherwise.')),
  },
  {
    $id: 'StockRequest',
    title: 'StockRequest',
    description: 'A change of stock: exactly one of `adjustment` and `set`.',
    oneOf: [{ required: ['adjustment'] }, { required: ['set'] }],
    ...closed,
  },
);

export const StockResultSchema = Type.Object(
  {
    productId: Type.String({ description: 'Product id.' }),
    name: Type.String({ description: 'Name.' }),
    inventory: Type.Integer({ minimum: 0, description: 'Stock after the change.' }),
    trackInventory: Type.Boolean({ description: 'Whether stock is counted.' }),
    lowStock: Type.Boolean({ description: 'Whether the stock is at or below 10.' }),
    previous: Type.Integer({ minimum: 0, description: 'Stock before the change.' }),
    adjustment: Type.Integer({ description: 'The change that was really applied.' }),
    requested: Type.Integer({ description: 'The number that was sent.' }),
    clamped: Type.Boolean({ description: 'Whether the change was cut short at a bound.' }),
    adjustmentId: Type.String({ description: 'Id of the log entry.' }),
  },
  { $id: 'StockResult', title: 'StockResult', description: 'What a change of stock did.', ...closed },
);
export type WireStockResult = Static<typeof StockResultSchema>;

export const AdjustmentSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the entry.' }),
    productId: Type.String({ description: 'Product id.' }),
    previous: Type.Integer({ minimum: 0, description: 'Stock before.' }),
    next: Type.Integer({ minimum: 0, description: 'Stock after.' }),
    adjustment: Type.Integer({ description: 'The change that was applied.' }),
    requested: Type.Integer({ description: 'The number that was sent.' }),
    reason: Type.String({ description: 'Why, as the caller said.' }),
    source: Type.String({
      description: '`inventory` for stock requests, `product` for product updates, `import` for imports.',
    }),
    keyId: nullable<string>('string', 'Id of the API key that made it; null where none did.'),
    createdAt: dateTime('When.'),
  },
  { $id: 'Adjustment', title: 'Adjustment', description: 'An entry of the adjustment log.', ...closed },
);
export type WireAdjustment = Static<typeof AdjustmentSchema>;

export const StorePaginationSchema = Type.Object(
  {
    hasMore: Type.Boolean({ description: 'The only termination signal.' }),
    nextCursor: nullable<string>('string', 'Opaque cursor of the next page; null on the last one.'),
  },
  { $id: 'StorePagination', title: 'StorePagination', description: 'Where a list goes on.', ...closed },
);

export const StoreErrorSchema = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.String({ description: 'What kind of error it is.' }),
        message: Type.String({ description: 'What is wrong.' }),
        details: Type.Optional(
          Type.Array(
            Type.Object(
              {
                path: Type.String({ description: 'Field or parameter.' }),
                message: Type.String({ description: 'What is wrong with it.' }),
              },
              closed,
            ),
            { description: 'Which fields, so that the request can be mended.' },
          ),
        ),
      },
      { description: 'The error.', ...closed },
    ),
  },
  { $id: 'StoreError', title: 'StoreError', description: 'The body of every answer that is not a success.', ...closed },
);

export const STORE_SCHEMAS = [
  ProductSummarySchema,
  ProductSchema,
  ProductCreateSchema,
  ProductUpdateSchema,
  ProductPaginationSchema,
  InventoryItemSchema,
  StockRequestSchema,
  StockResultSchema,
  AdjustmentSchema,
  StorePaginationSchema,
  StoreErrorSchema,
];

export const dataOf = (schema: TSchema, more: Record<string, TSchema> = {}) =>
  Type.Object({ data: schema, ...more }, { description: 'Success.', ...closed });

const ERRORS: Record<number, string> = {
  400: 'The request is not valid; `details` says which fields.',
  401: 'Missing or invalid API key.',
  403: 'The key lacks the scope.',
  404: "Not there, or not in the caller's shop.",
  409: 'Another request with this Idempotency-Key is running, or `expected` did not hold.',
  412: '`If-Match` did not hold.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'Rate limited.',
  500: 'Something went wrong inside the service.',
  503: 'The database is away: try again after `Retry-After` seconds.',
};

export const storeResponses = createResponses(ERRORS, 'StoreError');

export const SCOPES_IN_WORDS = STORE_SCOPES.map((scope) => `\`${scope}\``).join(', ');

const idempotencyKey = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The same key with the same body has its effect once; kept 24 h.',
  }),
);
const ifMatch = Type.Optional(
  Type.String({ description: 'ETags, or `*`: nothing is done unless one of them is the current version.' }),
);

/** Headers that a request may carry: to happen once, to happen to one version only, or both. */
export const idempotencyHeader = Type.Object({ 'idempotency-key': idempotencyKey });
export const matchHeader = Type.Object({ 'if-match': ifMatch });
export const changeHeaders = Type.Object({ 'idempotency-key': idempotencyKey, 'if-match': ifMatch });
