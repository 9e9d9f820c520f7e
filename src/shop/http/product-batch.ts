// POST /api/v1/products/batch.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { isJsonObject } from '../../platform/core/json-text.ts';
import { bodyOf } from '../../platform/http/json-body.ts';
import { dataOf, ref } from '../../platform/http/schema-builders.ts';
import type { BatchResult } from '../products/product-batch.ts';
import { parseBatchRow, storeBatch } from '../products/product-batch.ts';
import { INVALID_PRODUCT, invalidProduct } from '../products/products.ts';
import { authorize, callerOf, shopContextOf } from './authorize.ts';
import type { StoreRoutesContext } from './context.ts';
import { toWireProduct } from './product-responses.ts';
import type { WireBatchResult } from './product-schemas.ts';
import { BATCH_BYTES_MAX, BATCH_ROWS_MAX, BATCH_VALUES_MAX } from './product-schemas.ts';
import { idempotencyHeader, storeResponses } from './schemas.ts';
import { sendInTransaction } from './transactions.ts';

export function registerProductBatchRoute(app: FastifyInstance, context: StoreRoutesContext): void {
  app.post(
    '/api/v1/products/batch',
    {
      onRequest: authorize(context, 'products:write'),
      bodyLimit: BATCH_BYTES_MAX,
      config: { bucket: 'batch', unreadableBody: INVALID_PRODUCT, valuesMax: BATCH_VALUES_MAX },
      schema: {
        operationId: 'storeProducts',
        summary: 'Create and update many products',
        description:
          'Stores each row, in the given order, as a create or an update would. The response has one result for each row, in the same order. A row ' +
          'that is rejected has no effect on the others, except with `atomic=true`: then nothing is stored, and the response is a 400 of which ' +
          '`details` names the rejected rows. Scope `products:write`.',
        tags: ['Products'],
        querystring: Type.Object({
          atomic: Type.Optional(
            Type.Boolean({ default: false, description: 'Whether nothing is stored if a row is rejected.' }),
          ),
        }),
        headers: idempotencyHeader,
        body: ref('ProductBatch'),
        response: storeResponses(200, dataOf(Type.Array(ref('ProductBatchResult'))), 409, 422),
      },
    },
    async (request, reply) => {
      const rows = readRows(bodyOf(request).value).map(parseBatchRow);
      const { atomic: isAtomic } = request.query as { atomic: boolean };
      return sendInTransaction(request, reply, async (tx) => {
        const results = await storeBatch(shopContextOf(request), tx, callerOf(request), { rows, isAtomic });
        return { status: 200, body: { data: results.map(toWireResult) } };
      });
    },
  );
}

function readRows(body: unknown): unknown[] {
  if (!isJsonObject(body)) throw invalidProduct([{ path: '', message: 'must be a JSON object' }]);
  const { products, ...unknown } = body;
  const details = Object.keys(unknown).map((path) => ({ path, message: 'is not a field of a batch' }));
  if (details.length > 0) throw invalidProduct(details);
  if (Array.isArray(products) && products.length >= 1 && products.length <= BATCH_ROWS_MAX) return products;
  throw invalidProduct([{ path: 'products', message: `must be an array of 1 to ${BATCH_ROWS_MAX} rows` }]);
}

function toWireResult(result: BatchResult): WireBatchResult {
  if (result.outcome !== 'rejected')
    return { outcome: result.outcome, product: toWireProduct(result.product), error: null };
  const { code, message, details } = result.error;
  return {
    outcome: 'rejected',
    product: null,
    error: { code, message, ...(details.length > 0 && { details: [...details] }) },
  };
}
