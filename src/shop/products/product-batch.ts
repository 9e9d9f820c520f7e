// A batch of products that a key stores with one request. Each row is stored or rejected alone, unless the batch is atomic.

import type { ErrorDetail } from '../../platform/core/errors.ts';
import type { ServiceError } from '../../platform/core/errors.ts';
import { isJsonObject } from '../../platform/core/json-text.ts';
import { isId } from '../../platform/core/time-ordered-id.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { ParsedBody } from '../body-fields.ts';
import { DETAILS_MAX } from '../body-fields.ts';
import type { ShopCaller, ShopContext } from '../context.ts';
import type { ProductKey } from '../queries/products.ts';
import { parseProductInput } from './product-input.ts';
import type { Product, ProductInput } from './product.ts';
import type { ProductUpsert, ProductUpsertResult } from './product-upserts.ts';
import { upsertProducts } from './product-upserts.ts';
import { invalidProduct, missingProduct } from './products.ts';

/** A row of a batch. A row that is not a product to store has the reasons instead. */
type BatchRow = ParsedBody<ProductUpsert>;

export type BatchResult =
  | { outcome: 'created' | 'updated' | 'unchanged'; product: Product }
  | { outcome: 'rejected'; error: ServiceError };

/** Reads a row: the fields of an update, and `id`. Of `id`, `externalId` and `sku`, the first that the row has is its key. */
export function parseBatchRow(body: unknown): BatchRow {
  if (!isJsonObject(body) || body['id'] === undefined) {
    const parsed = parseProductInput(body);
    return parsed.ok ? { ok: true, value: { key: toKey(parsed.value), input: parsed.value } } : parsed;
  }
  const { id, ...fields } = body;
  const parsed = parseProductInput(fields);
  if (!parsed.ok) return parsed;
  if (typeof id !== 'string') return { ok: false, details: [{ path: 'id', message: 'must be a string' }] };
  return { ok: true, value: { key: { by: 'id', value: id }, input: parsed.value } };
}

function toKey({ externalId, sku }: ProductInput): ProductKey | null {
  if (typeof externalId === 'string') return { by: 'externalId', value: externalId };
  return typeof sku === 'string' ? { by: 'sku', value: sku } : null;
}

/**
 * Stores the rows in the transaction, in their order, and returns their results in the same order. If the batch is atomic and a row is rejected,
 * throws an error that names all rejected rows, so that the transaction is rolled back.
 */
export async function storeBatch(
  context: ShopContext,
  tx: Queryable,
  { shopId, keyId }: ShopCaller,
  { rows, isAtomic }: { rows: readonly BatchRow[]; isAtomic: boolean },
): Promise<BatchResult[]> {
  const upserts = rows.flatMap((row) => (row.ok && isStorableKey(row.value) ? [row.value] : []));
  const change = { shopId, keyId, now: context.clock(), source: 'product', reason: 'Product batch' } as const;
  const stored = new Map<ProductUpsert, ProductUpsertResult>();
  for (const [index, result] of (await upsertProducts(tx, change, upserts)).entries()) {
    const upsert = upserts[index];
    if (upsert) stored.set(upsert, result);
  }
  const results = rows.map((row): ProductUpsertResult => {
    if (!row.ok) return { outcome: 'rejected', details: row.details };
    return stored.get(row.value) ?? { outcome: 'missing' };
  });
  if (isAtomic) throwRejected(results);
  return results.map(toBatchResult);
}

/** Text that is not a product id is not sent to the database. */
const isStorableKey = ({ key }: ProductUpsert) => key?.by !== 'id' || isId('prod', key.value);

function throwRejected(results: readonly ProductUpsertResult[]): void {
  const details = results.flatMap((result, index) =>
    toDetails(result).map((detail) => ({
      ...detail,
      path: ['products', index, detail.path].filter((part) => part !== '').join('.'),
    })),
  );
  if (details.length > 0) throw invalidProduct(details.slice(0, DETAILS_MAX));
}

function toDetails(result: ProductUpsertResult): readonly ErrorDetail[] {
  if (result.outcome === 'missing') return [{ path: 'id', message: 'is not the id of a product of this shop' }];
  return result.outcome === 'rejected' ? result.details : [];
}

function toBatchResult(result: ProductUpsertResult): BatchResult {
  if (result.outcome === 'missing') return { outcome: 'rejected', error: missingProduct() };
  return result.outcome === 'rejected' ? { outcome: 'rejected', error: invalidProduct(result.details) } : result;
}
