// /api/v1/inventory: stock levels, changes of stock, and the adjustment log.

import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { STOCK_MAX } from '../products/product.ts';
import { LOW_STOCK_THRESHOLD_DEFAULT, readAdjustments, readStockPage } from '../stock.ts';
import type { StockLevel } from '../queries/stock.ts';
import { changeStockBatch } from '../stock-batch.ts';
import type { NamedStockChange } from '../stock-input.ts';
import { INVALID_STOCK, parseStockRequest } from '../stock-input.ts';
import type { ErrorDetail } from '../../platform/core/errors.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import { isLockTimeout } from '../../platform/database/port.ts';
import type { WhenLocked } from '../grouped-changes.ts';
import { isJsonObject } from '../../platform/core/json-text.ts';
import { DETAILS_MAX } from '../body-fields.ts';
import { StockWriter } from '../stock-writer.ts';
import { authorize, callerOf, pageContextOf, shopContextOf } from './authorize.ts';
import { bodyOf } from '../../platform/http/json-body.ts';
import type { StoreRoutesContext } from './context.ts';
import { openStoreCursor, sealStoreCursor } from './cursors.ts';
import { onceRequestOf, sendInTransaction, sendOnce, toRepeatable } from './transactions.ts';
import { BATCH_BYTES_MAX, BATCH_ROWS_MAX, BATCH_VALUES_MAX } from './product-schemas.ts';
import { toWireAdjustment, toWireBatchResult, toWireInventoryItem, toWireStockResult } from './inventory-schemas.ts';
import { dataOf, ref } from '../../platform/http/schema-builders.ts';
import { idempotencyHeader, storeResponses } from './schemas.ts';

type LevelsQuery = { product_id?: string; low_stock: boolean; threshold: number };
type LogQuery = { product_id?: string; limit: number; cursor?: string };

const PATH = '/api/v1/inventory';
const tags = ['Inventory'];
const productIdParameter = Type.String({ minLength: 1, description: 'Only this product.' });

export function registerInventoryRoutes(app: FastifyInstance, context: StoreRoutesContext): void {
  registerLevels(app, context);
  registerChange(app, context);
  registerBatch(app, context);
  registerLog(app, context);
}

function registerLevels(app: FastifyInstance, context: StoreRoutesContext): void {
  app.get(
    PATH,
    {
      onRequest: authorize(context, 'inventory:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'listInventory',
        summary: 'Read stock levels',
        description:
          'Returns all tracked products that match the parameters, without paging. Archived products are left out, unless `product_id` names ' +
          'one. Scope `inventory:read`.',
        tags,
        querystring: Type.Object({
          product_id: Type.Optional(productIdParameter),
          low_stock: Type.Optional(
            Type.Boolean({ default: false, description: 'Only products with at most `threshold` in stock.' }),
          ),
          threshold: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: STOCK_MAX,
              default: LOW_STOCK_THRESHOLD_DEFAULT,
              description: 'The level at or below which stock counts as low in this response.',
            }),
          ),
        }),
        response: storeResponses(
          200,
          dataOf(Type.Array(ref('InventoryItem')), {
            count: Type.Integer({ minimum: 0, description: 'Number of items in `data`.', examples: [1] }),
          }),
        ),
      },
    },
    async (request, reply) => {
      const { product_id: productId = null, low_stock: lowStock, threshold } = request.query as LevelsQuery;
      const query = { productId, atMost: lowStock ? threshold : null };
      const caller = callerOf(request);
      const startBy = context.shares.startBy();
      const first = await readStockPage(pageContextOf(request, startBy), caller, query, null);
      const toText = (level: StockLevel) => JSON.stringify(toWireInventoryItem(level, threshold));
      if (first.next === null) return reply.type(JSON_TYPE).send(toInventoryText(first.levels.map(toText)));
      // The response to HEAD has no body, so the other pages are not read.
      if (request.method === 'HEAD') return reply.type(JSON_TYPE).send(Readable.from([]));
      const readPage = (before: string) => readStockPage(pageContextOf(request), caller, query, before);
      const parts = streamInventory(first, { readPage, toText });
      return context.shares.streamTo(caller.shopId, reply.type(JSON_TYPE), parts, startBy);
    },
  );
}

const JSON_TYPE = 'application/json; charset=utf-8';

const toInventoryText = (items: readonly string[]) => `{"data":[${items.join(',')}],"count":${items.length}}`;

type StockPage = Awaited<ReturnType<typeof readStockPage>>;

/** Yields the text of a response page by page. A product that is created meanwhile is not in the response. No product is repeated. */
async function* streamInventory(
  first: StockPage,
  { readPage, toText }: { readPage: (before: string) => Promise<StockPage>; toText: (level: StockLevel) => string },
): AsyncGenerator<string> {
  let count = 0;
  yield '{"data":[';
  for (let page = first; ; page = await readPage(page.next)) {
    if (page.levels.length > 0) yield `${count > 0 ? ',' : ''}${page.levels.map(toText).join(',')}`;
    count += page.levels.length;
    if (page.next === null) break;
    // Lets the process serve other requests between two pages.
    await setImmediate();
  }
  yield `],"count":${count}}`;
}

function registerChange(app: FastifyInstance, context: StoreRoutesContext): void {
  const writer = new StockWriter({
    statementsOf: (shopId, options) => context.shares.sharedStatementsOf(shopId, options),
    clock: context.shop.clock,
    secretKeys: context.shop.secretKeys,
    toResponse: (change) => toRepeatable({ status: 200, body: { data: toWireStockResult(change) } }),
  });
  app.post(
    PATH,
    {
      onRequest: authorize(context, 'inventory:write'),
      config: { bucket: 'key', unreadableBody: INVALID_STOCK },
      schema: {
        operationId: 'changeInventory',
        summary: 'Change stock',
        description:
          'Atomic: concurrent adjustments are all applied. Stock never goes below zero. A change of tracked stock from ' +
          'above 10 to 10 or below sends `inventory.low`. Scope `inventory:write`.',
        tags,
        headers: idempotencyHeader,
        body: ref('StockRequest'),
        response: storeResponses(200, dataOf(ref('StockResult')), 404, 409, 422),
      },
    },
    async (request, reply) => {
      const { shopId, keyId } = callerOf(request);
      const change = { ...parseStockRequest(bodyOf(request).value), keyId };
      const once = onceRequestOf(request);
      const made = await context.shares.admit(shopId, (startBy) => writer.change(shopId, change, { once, startBy }));
      return sendOnce(reply, made);
    },
  );
}

function registerBatch(app: FastifyInstance, context: StoreRoutesContext): void {
  app.post(
    `${PATH}/batch`,
    {
      onRequest: authorize(context, 'inventory:write'),
      bodyLimit: BATCH_BYTES_MAX,
      config: { bucket: 'batch', unreadableBody: INVALID_STOCK, valuesMax: BATCH_VALUES_MAX },
      schema: {
        operationId: 'changeInventoryBatch',
        summary: 'Change many stocks',
        description:
          'Makes each change, in the given order, as a single request would. The response has one result for each change, in the same order. A ' +
          'rejected change has no effect on the others, except with `atomic=true`: then nothing changes, and the response is the error of the ' +
          'first rejected change, whose `details` name all of them. The changes of a product that another client of the database keeps locked are ' +
          'rejected as `unavailable`. Scope `inventory:write`.',
        tags,
        querystring: Type.Object({
          atomic: Type.Optional(
            Type.Boolean({ default: false, description: 'Whether nothing changes if a change is rejected.' }),
          ),
        }),
        headers: idempotencyHeader,
        body: ref('StockBatch'),
        response: storeResponses(200, dataOf(Type.Array(ref('StockBatchResult'))), 404, 409, 422),
      },
    },
    async (request, reply) => {
      const rows = readChanges(bodyOf(request).value).map(parseRow);
      const { atomic: isAtomic } = request.query as { atomic: boolean };
      const send = (locked: WhenLocked) =>
        sendInTransaction(request, reply, async (tx) => {
          const batch = { rows, isAtomic, locked };
          const results = await changeStockBatch(shopContextOf(request), tx, callerOf(request), batch);
          return { status: 200, body: { data: results.map(toWireBatchResult) } };
        });
      try {
        return await send('wait');
      } catch (error) {
        // A product stayed locked. Its changes are rejected, and the others are made.
        if (isLockTimeout(error)) return send('skip');
        throw error;
      }
    },
  );
}

function readChanges(body: unknown): unknown[] {
  const wrong = (details: ErrorDetail[]) => new ServiceError('bad_request', INVALID_STOCK, { details });
  if (!isJsonObject(body)) throw wrong([{ path: '', message: 'must be a JSON object' }]);
  const { changes, ...unknown } = body;
  const details = Object.keys(unknown).map((path) => ({ path, message: 'is not a field of a batch' }));
  if (details.length > 0) throw wrong(details.slice(0, DETAILS_MAX));
  if (Array.isArray(changes) && changes.length >= 1 && changes.length <= BATCH_ROWS_MAX) return changes;
  throw wrong([{ path: 'changes', message: `must be an array of 1 to ${BATCH_ROWS_MAX} changes` }]);
}

/** The change of a row, or the error of a row that cannot be read. */
function parseRow(row: unknown): NamedStockChange | ServiceError {
  try {
    return parseStockRequest(row);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

function registerLog(app: FastifyInstance, context: StoreRoutesContext): void {
  app.get(
    `${PATH}/adjustments`,
    {
      onRequest: authorize(context, 'inventory:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'listAdjustments',
        summary: 'Read the adjustment log',
        description:
          'Newest first. Entries stay when their product is deleted. `previous` of an entry equals `next` of the entry for the ' +
          'preceding change of the same product. Scope `inventory:read`.',
        tags,
        querystring: Type.Object({
          product_id: Type.Optional(productIdParameter),
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Entries per page.' }),
          ),
          cursor: Type.Optional(Type.String({ minLength: 1, description: 'A `nextCursor`, passed back unchanged.' })),
        }),
        response: storeResponses(200, dataOf(Type.Array(ref('Adjustment')), { pagination: ref('StorePagination') })),
      },
    },
    async (request) => {
      const { product_id: productId = null, limit, cursor } = request.query as LogQuery;
      const caller = callerOf(request);
      const scope = `adjustments ${caller.shopId} ${productId ?? '*'}`;
      const before = openStoreCursor(context, scope, cursor);
      const page = await readAdjustments(shopContextOf(request), caller, { productId, before, limit });
      const nextCursor = sealStoreCursor(context, scope, page.next);
      return { data: page.adjustments.map(toWireAdjustment), pagination: { hasMore: nextCursor !== null, nextCursor } };
    },
  );
}
