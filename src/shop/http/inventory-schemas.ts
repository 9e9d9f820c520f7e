// The JSON shapes of /api/v1/inventory.

import type { Static } from 'typebox';
import Type from 'typebox';
import type { Adjustment, AppliedStockChange, StockLevel } from '../queries/stock.ts';
import { PRODUCT_NAMES } from '../queries/stock.ts';
import { STOCK_MAX } from '../products/product.ts';
import { LOW_STOCK_LEVEL } from '../stock.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { StockBatchResult } from '../stock-batch.ts';
import { BATCH_ROWS_MAX } from './product-schemas.ts';
import { storeError } from './schemas.ts';
import { closed, dateTime, ref, refOrNull, typeOrNull } from '../../platform/http/schema-builders.ts';
import {
  ADJUSTMENT_EXAMPLE,
  EXAMPLE_CHANGE_TIME,
  EXAMPLE_IDS,
  EXAMPLE_STOCK,
  PRODUCT_CREATE_EXAMPLE,
  PRODUCT_EXAMPLE,
} from './example-shop.ts';

const level = {
  productId: EXAMPLE_IDS.product,
  name: PRODUCT_CREATE_EXAMPLE.name,
  inventory: EXAMPLE_STOCK.inventory,
  trackInventory: true,
  lowStock: true,
};
const { previous, adjustment } = EXAMPLE_STOCK;
const change = { previous, adjustment, requested: adjustment };
const { reason } = ADJUSTMENT_EXAMPLE;

const InventoryItemSchema = Type.Object(
  {
    productId: Type.String({ description: 'Product id.' }),
    name: Type.String({ description: 'Name.' }),
    inventory: Type.Integer({ minimum: 0, description: 'Current stock: what can be sold.' }),
    reserved: Type.Integer({ minimum: 0, description: 'What held reservations hold. It is not in `inventory`.' }),
    sku: typeOrNull<string>('string', 'SKU.'),
    slug: Type.String({ description: 'Slug.' }),
    updatedAt: dateTime('When the product, or its stock, was last changed.'),
    trackInventory: Type.Literal(true, { description: 'Only tracked products are listed.' }),
    lowStock: Type.Boolean({ description: 'Whether the stock is at or below the `threshold` of the request.' }),
  },
  {
    $id: 'InventoryItem',
    title: 'InventoryItem',
    description: 'The stock of a product.',
    examples: [
      {
        ...level,
        reserved: 2,
        sku: PRODUCT_CREATE_EXAMPLE.sku,
        slug: PRODUCT_EXAMPLE.slug,
        updatedAt: EXAMPLE_CHANGE_TIME,
      },
    ],
    ...closed,
  },
);

const stockInteger = (description: string) => Type.Integer({ minimum: -STOCK_MAX, maximum: STOCK_MAX, description });

/** The fields that name a product, of which a request has exactly one. */
export const productName = {
  product_id: Type.Optional(Type.String({ minLength: 1, description: 'Product id.' })),
  sku: Type.Optional(Type.String({ minLength: 1, description: 'SKU, instead of the product id.' })),
  externalId: Type.Optional(Type.String({ minLength: 1, description: 'External id, instead of the product id.' })),
};
export const ONE_PRODUCT_NAME = { oneOf: PRODUCT_NAMES.map((name) => ({ required: [name] })) };

const StockRequestSchema = Type.Object(
  {
    ...productName,
    adjustment: Type.Optional(
      stockInteger(
        'The number to add to the stock. A negative number decreases it. Concurrent adjustments are all applied.',
      ),
    ),
    set: Type.Optional(stockInteger('The new stock, for stocktakes. A negative number sets the stock to zero.')),
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'Recorded in the adjustment log.' })),
    expected: Type.Optional(stockInteger('The current stock must equal this number; otherwise the response is a 409.')),
    clamp: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether a change beyond 0 is limited. If false, the response to such a change is a 409, and nothing changes.',
      }),
    ),
  },
  {
    $id: 'StockRequest',
    title: 'StockRequest',
    description: 'A change of stock: exactly one of `adjustment` and `set`, of a product that exactly one field names.',
    allOf: [ONE_PRODUCT_NAME, { oneOf: [{ required: ['adjustment'] }, { required: ['set'] }] }],
    examples: [{ product_id: EXAMPLE_IDS.product, adjustment, reason }],
    ...closed,
  },
);

const StockResultSchema = Type.Object(
  {
    productId: Type.String({ description: 'Product id.' }),
    name: Type.String({ description: 'Name.' }),
    inventory: Type.Integer({ minimum: 0, description: 'Stock after the change.' }),
    trackInventory: Type.Boolean({ description: 'Whether stock is counted.' }),
    lowStock: Type.Boolean({ description: `Whether the stock is tracked and at or below ${LOW_STOCK_LEVEL}.` }),
    previous: Type.Integer({ minimum: 0, description: 'Stock before the change.' }),
    adjustment: Type.Integer({ description: 'The change that was applied.' }),
    requested: Type.Integer({ description: 'The `adjustment` or the `set` of the request.' }),
    clamped: Type.Boolean({
      description: `Whether the change was limited to keep the stock between 0 and ${STOCK_MAX}.`,
    }),
    adjustmentId: Type.String({ description: 'Id of the entry in the adjustment log.' }),
  },
  {
    $id: 'StockResult',
    title: 'StockResult',
    description: 'The result of a change of stock.',
    examples: [{ ...level, ...change, clamped: false, adjustmentId: EXAMPLE_IDS.adjustment }],
    ...closed,
  },
);

const StockBatchSchema = Type.Object(
  {
    changes: Type.Array(ref('StockRequest'), {
      minItems: 1,
      maxItems: BATCH_ROWS_MAX,
      description: 'Changes, made in this order.',
    }),
  },
  {
    $id: 'StockBatch',
    title: 'StockBatch',
    description: 'Many changes of stock.',
    examples: [{ changes: [{ sku: PRODUCT_CREATE_EXAMPLE.sku, adjustment, reason }] }],
    ...closed,
  },
);

const StockBatchResultSchema = Type.Object(
  {
    outcome: Type.Unsafe<'applied' | 'rejected'>({
      type: 'string',
      enum: ['applied', 'rejected'],
      description: 'What became of the change. A rejected change has no effect.',
    }),
    change: refOrNull<Static<typeof StockResultSchema>>(
      'StockResult',
      'The result of the change; null if it is rejected.',
    ),
    error: Type.Unsafe<Static<typeof storeError> | null>({
      anyOf: [storeError, { type: 'null' }],
      description: 'Why the change is rejected, as in the response to a single request; otherwise null.',
    }),
  },
  {
    $id: 'StockBatchResult',
    title: 'StockBatchResult',
    description: 'The result of a change of a batch.',
    examples: [
      {
        outcome: 'applied',
        change: { ...level, ...change, clamped: false, adjustmentId: EXAMPLE_IDS.adjustment },
        error: null,
      },
    ],
    ...closed,
  },
);

const AdjustmentSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the entry.' }),
    productId: Type.String({ description: 'Product id.' }),
    previous: Type.Integer({ minimum: 0, description: 'Stock before the change.' }),
    next: Type.Integer({ minimum: 0, description: 'Stock after the change.' }),
    adjustment: Type.Integer({ description: 'The change that was applied.' }),
    requested: Type.Integer({
      description: 'The `adjustment` or the `set` of a stock request. For product updates and imports, the new stock.',
    }),
    reason: Type.String({ description: 'Why the stock was changed: the `reason` of the request, or a default text.' }),
    source: Type.String({
      description:
        '`inventory` for stock requests, `product` for product updates, `import` for imports, `reservation` for reservations.',
    }),
    keyId: typeOrNull<string>('string', 'Id of the API key that made the change; null for changes without a key.'),
    createdAt: dateTime('When the stock was changed.'),
    reservationId: typeOrNull<string>(
      'string',
      'Id of the reservation that took or returned the stock; null if the source is another one.',
    ),
  },
  {
    $id: 'Adjustment',
    title: 'Adjustment',
    description: 'An entry of the adjustment log.',
    examples: [ADJUSTMENT_EXAMPLE],
    ...closed,
  },
);

export const INVENTORY_SCHEMAS = [
  InventoryItemSchema,
  StockRequestSchema,
  StockResultSchema,
  StockBatchSchema,
  StockBatchResultSchema,
  AdjustmentSchema,
];

export function toWireInventoryItem(level: StockLevel, threshold: number): Static<typeof InventoryItemSchema> {
  const { productId, name, inventory, reserved, sku, slug } = level;
  const updatedAt = new Date(level.updatedAt).toISOString();
  const lowStock = inventory <= threshold;
  return { productId, name, inventory, reserved, sku, slug, updatedAt, trackInventory: true, lowStock };
}

export function toWireStockResult(change: AppliedStockChange): Static<typeof StockResultSchema> {
  const { productId, name, next, trackInventory, previous, mode, requested, adjustmentId } = change;
  const adjustment = next - previous;
  return {
    productId,
    name,
    inventory: next,
    trackInventory,
    lowStock: trackInventory && next <= LOW_STOCK_LEVEL,
    previous,
    adjustment,
    requested,
    clamped: requested !== (mode === 'set' ? next : adjustment),
    adjustmentId,
  };
}

export function toWireAdjustment(entry: Adjustment): Static<typeof AdjustmentSchema> {
  const { id, productId, previous, next, requested, reason, source, keyId, reservationId } = entry;
  const adjustment = next - previous;
  const createdAt = new Date(entry.createdAt).toISOString();
  return {
    id,
    productId,
    previous,
    next,
    adjustment,
    requested,
    reason,
    source,
    keyId,
    createdAt,
    reservationId,
  };
}

export function toWireBatchResult(result: StockBatchResult): Static<typeof StockBatchResultSchema> {
  if (!(result instanceof ServiceError)) return { outcome: 'applied', change: toWireStockResult(result), error: null };
  const { code, message, details } = result;
  return {
    outcome: 'rejected',
    change: null,
    error: { code, message, ...(details.length > 0 && { details: [...details] }) },
  };
}
