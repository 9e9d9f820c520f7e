// /api/v1/inventory: stock levels, changes of stock, and the adjustment log.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { openCursor, sealCursor } from '../../core/cursor.ts';
import { JsonNumber } from '../../core/json-text.ts';
import { LOW_STOCK_LEVEL, LOW_STOCK_THRESHOLD, STOCK_MAX } from '../stock.ts';
import { countCharacters, isStorable } from '../../core/text.ts';
import type { Adjustment, StockLevel, StockResult } from '../queries/stock.ts';
import type { ErrorDetail } from '../../core/errors.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Adjust } from '../inventory.ts';
import { DEFAULT_REASON, changeStock, readAdjustments, readLevels } from '../inventory.ts';
import { authorize, callerOf, storeOf } from './authorize.ts';
import { bodyOf } from '../../http/json-body.ts';
import type { StoreContext } from './context.ts';
import { hasIdempotencyKey, sendEffect } from './transactions.ts';
import type { WireAdjustment, WireInventoryItem, WireStockResult } from './schemas.ts';
import { dataOf, idempotencyHeader, ref, storeResponses } from './schemas.ts';

type LevelsQuery = { product_id?: string; low_stock: boolean; threshold: number };
type LogQuery = { product_id?: string; limit: number; cursor?: string };

const PATH = '/api/v1/inventory';
const tags = ['Inventory'];
const INVALID_STOCK = 'Invalid inventory payload';
const REASON_LENGTH_MAX = 500;
const productIdParameter = Type.String({ minLength: 1, description: 'Only this product.' });

export function registerInventoryRoutes(app: FastifyInstance, context: StoreContext): void {
  registerLevels(app, context);
  registerChange(app, context);
  registerLog(app, context);
}

function registerLevels(app: FastifyInstance, context: StoreContext): void {
  app.get(
    PATH,
    {
      onRequest: authorize(context, 'inventory:read'),
      schema: {
        operationId: 'listInventory',
        summary: 'Read stock levels',
        description: 'Every tracked product, not paged. Scope `inventory:read`.',
        tags,
        querystring: Type.Object({
          product_id: Type.Optional(productIdParameter),
          low_stock: Type.Optional(
            Type.Boolean({ default: false, description: 'Only items at or below the threshold.' }),
          ),
          threshold: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: STOCK_MAX,
              default: LOW_STOCK_THRESHOLD,
              description: 'What counts as low in this answer.',
            }),
          ),
        }),
        response: storeResponses(
          200,
          dataOf(Type.Array(ref('InventoryItem')), {
            count: Type.Integer({ minimum: 0, description: 'Items in `data`.' }),
          }),
        ),
      },
    },
    async (request) => {
      const { product_id: productId = null, low_stock: lowStock, threshold } = request.query as LevelsQuery;
      const levels = await readLevels(storeOf(request), callerOf(request), { productId, lowStock, threshold });
      return { data: levels.map((level) => toWireItem(level, threshold)), count: levels.length };
    },
  );
}

function registerChange(app: FastifyInstance, context: StoreContext): void {
  app.post(
    PATH,
    {
      onRequest: authorize(context, 'inventory:write'),
      config: { unreadableBody: INVALID_STOCK },
      schema: {
        operationId: 'changeInventory',
        summary: 'Change stock',
        description:
          'Atomic: concurrent adjustments all land. Never below zero. Going from above 10 to 10 or below sends ' +
          '`inventory.low` once. Scope `inventory:write`.',
        tags,
        headers: idempotencyHeader,
        body: ref('StockRequest'),
        response: storeResponses(200, dataOf(ref('StockResult')), 404, 409, 422),
      },
    },
    async (request, reply) => {
      const adjust = parseAdjust(bodyOf(request).value);
      const caller = callerOf(request);
      const store = storeOf(request);
      // One statement does it all: a transaction around it is only needed when the answer is kept with it.
      if (!hasIdempotencyKey(request)) {
        return { data: toWireResult(await changeStock(store, store.main, caller, adjust), adjust) };
      }
      return sendEffect(context, request, reply, async (tx) => ({
        status: 200,
        body: { data: toWireResult(await changeStock(store, tx, caller, adjust), adjust) },
      }));
    },
  );
}

function registerLog(app: FastifyInstance, context: StoreContext): void {
  app.get(
    `${PATH}/adjustments`,
    {
      onRequest: authorize(context, 'inventory:read'),
      schema: {
        operationId: 'listAdjustments',
        summary: 'Read the adjustment log',
        description:
          "Newest first, kept after a product is deleted. Each entry's `previous` is the `next` of the one before. " +
          'Scope `inventory:read`.',
        tags,
        querystring: Type.Object({
          product_id: Type.Optional(productIdParameter),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Entries a page.' })),
          cursor: Type.Optional(Type.String({ minLength: 1, description: 'A `nextCursor`, passed back verbatim.' })),
        }),
        response: storeResponses(200, dataOf(Type.Array(ref('Adjustment')), { pagination: ref('StorePagination') })),
      },
    },
    async (request) => {
      const { product_id: productId = null, limit, cursor } = request.query as LogQuery;
      const caller = callerOf(request);
      const scope = `adjustments ${caller.shopId} ${productId ?? '*'}`;
      const before = cursor === undefined ? null : openCursor(context.cursorSecret, scope, cursor);
      if (cursor !== undefined && before === null) {
        const details = [{ path: 'cursor', message: 'is not one that was handed out for this log' }];
        throw new ServiceError('bad_request', 'Invalid query parameters', { details });
      }
      const page = await readAdjustments(storeOf(request), caller, { productId, before, limit });
      const nextCursor = page.next === null ? null : sealCursor(context.cursorSecret, scope, page.next);
      return { data: page.adjustments.map(toWireAdjustment), pagination: { hasMore: nextCursor !== null, nextCursor } };
    },
  );
}

/** Enough to mend a request by; more would only be an echo of it. */
const DETAILS_MAX = 50;
const FIELDS = ['product_id', 'adjustment', 'set', 'reason', 'expected'];

/** Exactly one of `adjustment` and `set`; what cannot be understood changes nothing. */
function parseAdjust(body: unknown): Adjust {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || body instanceof JsonNumber) {
    throw invalid(INVALID_STOCK, [{ path: '', message: 'must be a JSON object' }]);
  }
  const given = body as Record<string, unknown>;
  const details: ErrorDetail[] = Object.keys(given)
    .filter((name) => !FIELDS.includes(name))
    .slice(0, DETAILS_MAX)
    .map((path) => ({ path, message: 'is not a field of a stock request' }));
  const { product_id: productId, reason = DEFAULT_REASON } = given;
  if (typeof productId !== 'string' || productId === '') {
    throw invalid('Missing product_id', [{ path: 'product_id', message: 'must be a product id' }, ...details]);
  }
  if (given['adjustment'] === undefined && given['set'] === undefined) {
    throw invalid('Send either adjustment or set', [{ path: 'adjustment', message: 'or set is required' }, ...details]);
  }
  if (given['adjustment'] !== undefined && given['set'] !== undefined) {
    throw invalid('Send either adjustment or set, not both', [
      { path: 'set', message: 'excludes adjustment' },
      ...details,
    ]);
  }
  const mode = given['set'] === undefined ? 'adjustment' : 'set';
  const requested = readStock(given, mode, details);
  const expected = given['expected'] === undefined ? null : readStock(given, 'expected', details);
  if (typeof reason !== 'string' || !isStorable(reason) || countCharacters(reason) > REASON_LENGTH_MAX) {
    details.push({ path: 'reason', message: `must be well-formed text of at most ${REASON_LENGTH_MAX} characters` });
  }
  if (details.length > 0) throw invalid(INVALID_STOCK, details);
  return { productId, mode, requested, expected, reason: reason as string };
}

function readStock(given: Record<string, unknown>, name: string, details: ErrorDetail[]): number {
  const value = given[name];
  const text = value instanceof JsonNumber && /^(0|-?[1-9]\d{0,15})$/.test(value.text) ? value.text : 'none';
  const number = Number(text);
  if (Math.abs(number) <= STOCK_MAX) return number;
  details.push({ path: name, message: `must be an integer from ${-STOCK_MAX} to ${STOCK_MAX}` });
  return 0;
}

function invalid(message: string, details: ErrorDetail[]): ServiceError {
  return new ServiceError('bad_request', message, { details });
}

function toWireItem(level: StockLevel, threshold: number): WireInventoryItem {
  const { productId, name, inventory } = level;
  return { productId, name, inventory, trackInventory: true, lowStock: inventory <= threshold };
}

function toWireResult(result: StockResult, { mode, requested }: Adjust): WireStockResult {
  const { productId, name, next, trackInventory, previous, adjustmentId } = result;
  const adjustment = next - previous;
  const clamped = mode === 'set' ? next !== requested : adjustment !== requested;
  return {
    productId,
    name,
    inventory: next,
    trackInventory,
    lowStock: next <= LOW_STOCK_LEVEL,
    previous,
    adjustment,
    requested,
    clamped,
    adjustmentId: adjustmentId ?? '',
  };
}

function toWireAdjustment(entry: Adjustment): WireAdjustment {
  const { id, productId, previous, next, requested, reason, source, keyId } = entry;
  const createdAt = new Date(entry.createdAt).toISOString();
  return { id, productId, previous, next, adjustment: next - previous, requested, reason, source, keyId, createdAt };
}
