// Changes many products at once. Each change has a change that undoes it.

import type { ProductSummary, ProductUpsert, StockRequest } from '../../../../client/src/store.ts';
import { MercatError } from '../../../../client/src/store.ts';
import { describeFailedChange } from '../../data/errors.ts';
import { patchProducts, patchStock } from '../../data/shop-queries.ts';
import type { ShopSession } from '../session.ts';

/** The most rows of a request. */
const ROWS_MAX = 1_000;
/** How many products are deleted at the same time. There is no request that deletes several. */
const DELETES_MAX = 4;

/** Each row has the `id` or the `product_id` of its product. */
export type BulkChange =
  | { kind: 'products'; rows: readonly (ProductUpsert & { id: string })[] }
  | { kind: 'stock'; rows: readonly (StockRequest & { product_id: string })[] };

export type BulkResult = {
  changed: number;
  unchanged: number;
  /** The products that the service did not change, and why. */
  rejected: readonly { name: string; reason: string }[];
  /** Null if nothing was changed. */
  undo: BulkChange | null;
};

type Products = ReadonlyMap<string, ProductSummary>;

/** `products`: the products of the rows, as they were before. Fails if a request gets no response: the rows before it are then changed. */
export async function changeMany(session: ShopSession, change: BulkChange, products: Products): Promise<BulkResult> {
  return change.kind === 'products'
    ? await changeFields(session, change.rows, products)
    : await changeStock(session, change.rows, products);
}

async function changeFields(
  { client }: ShopSession,
  rows: Extract<BulkChange, { kind: 'products' }>['rows'],
  products: Products,
): Promise<BulkResult> {
  const result = { changed: 0, unchanged: 0, rejected: [] as { name: string; reason: string }[] };
  const undo: (ProductUpsert & { id: string })[] = [];
  for (const part of toParts(rows)) {
    const { data } = await client.storeProducts({ products: [...part] });
    const patches = new Map<string, ProductSummary>();
    for (const [index, { outcome, product, error }] of data.entries()) {
      const row = part[index];
      const before = products.get(row?.id ?? '');
      if (!row) continue;
      if (error) result.rejected.push({ name: before?.name ?? row.id, reason: toReason(error) });
      else if (outcome === 'unchanged') result.unchanged += 1;
      else result.changed += 1;
      if (outcome === 'updated' && before) undo.push(toUndo(row, before));
      if (product) patches.set(row.id, product);
    }
    patchProducts(patches);
  }
  return { ...result, undo: undo.length === 0 ? null : { kind: 'products', rows: undo } };
}

/** The row that gives the product the values again that it had. */
function toUndo(row: ProductUpsert & { id: string }, before: ProductSummary): ProductUpsert & { id: string } {
  return {
    id: row.id,
    ...(row.status !== undefined && { status: before.status }),
    ...(row.price !== undefined && { price: before.price }),
    ...(row.collections !== undefined && { collections: before.collections }),
  };
}

async function changeStock(
  { client }: ShopSession,
  rows: Extract<BulkChange, { kind: 'stock' }>['rows'],
  products: Products,
): Promise<BulkResult> {
  const result = { changed: 0, unchanged: 0, rejected: [] as { name: string; reason: string }[] };
  const undo: (StockRequest & { product_id: string })[] = [];
  for (const part of toParts(rows)) {
    const { data } = await client.changeInventoryBatch({ changes: [...part] });
    const levels = new Map<string, number>();
    for (const [index, { change, error }] of data.entries()) {
      const row = part[index];
      if (!row) continue;
      if (error) {
        const name = products.get(row.product_id)?.name ?? row.product_id;
        result.rejected.push({ name, reason: toReason(error) });
      }
      if (!change) continue;
      if (change.adjustment === 0) result.unchanged += 1;
      else {
        result.changed += 1;
        undo.push({ product_id: row.product_id, adjustment: -change.adjustment, clamp: false });
      }
      levels.set(row.product_id, change.inventory);
    }
    patchStock(levels);
  }
  return { ...result, undo: undo.length === 0 ? null : { kind: 'stock', rows: undo } };
}

/** Deletes the products one by one, and stops at the first that the service does not delete for another reason than that it is deleted already. */
export async function deleteMany({ client }: ShopSession, products: readonly ProductSummary[]): Promise<BulkResult> {
  const waiting = [...products];
  const deleted = new Map<string, null>();
  const failures: { product: ProductSummary; error: unknown }[] = [];
  const work = async () => {
    while (failures.length === 0) {
      const product = waiting.shift();
      if (!product) return;
      try {
        await client.deleteProduct({ productId: product.id });
        deleted.set(product.id, null);
      } catch (error) {
        if (error instanceof MercatError && error.code === 'not_found') deleted.set(product.id, null);
        else failures.push({ product, error });
      }
    }
  };
  await Promise.all(Array.from({ length: DELETES_MAX }, work));
  patchProducts(deleted);
  const rejected = failures.map(({ product, error }) => ({ name: product.name, reason: describeFailedChange(error) }));
  return { changed: deleted.size, unchanged: waiting.length, rejected, undo: null };
}

function toParts<Row>(rows: readonly Row[]): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / ROWS_MAX) }, (_, index) =>
    rows.slice(index * ROWS_MAX, (index + 1) * ROWS_MAX),
  );
}

type RowError = { message: string; details?: readonly { path: string; message: string }[] };

function toReason({ message, details = [] }: RowError): string {
  return details.length === 0 ? message : details.map((detail) => `${detail.path} ${detail.message}`).join('; ');
}
