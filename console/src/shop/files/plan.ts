// Compares the products of a file with those of the shop: what an import would create and change. The slug identifies a product, as in `mercat import`.

import type { Product, ProductUpsert } from '../../../../client/src/store.ts';
import type { ShopSession } from '../session.ts';
import type { FileContent, FileRecord, Rejected } from './read-file.ts';
import { texts } from '../texts.ts';

const LIST_MAX = 100;
/** The rows of one request for a batch: the service allows 1,000 rows and 4 MiB. */
const BATCH_MAX = 500;
const BATCH_BYTES_MAX = 3 * 1024 * 1024;

export type FieldChange = { field: string; before: string; after: string };

/** `before`: the product of the shop. Null if the record is a new product. */
export type PlannedRow = {
  line: number;
  name: string;
  row: ProductUpsert;
  before: Product | null;
  changes: FieldChange[];
};

export type Plan = { created: PlannedRow[]; updated: PlannedRow[]; unchanged: number; rejected: Rejected[] };

export type Progress = (done: number, all: number) => void;

/** Reads all products of the shop. The lists lack some fields, which the response to a batch without changes has. */
export async function readAllProducts({ client }: ShopSession, onProgress: Progress): Promise<Product[]> {
  const ids: string[] = [];
  for await (const { id } of client.listProducts({ status: 'any', sort: 'created', order: 'asc', limit: LIST_MAX })) {
    ids.push(id);
    onProgress(0, ids.length);
  }
  const products: Product[] = [];
  for (let start = 0; start < ids.length; start += BATCH_MAX) {
    const { data } = await client.storeProducts({
      products: ids.slice(start, start + BATCH_MAX).map((id) => ({ id })),
    });
    products.push(...data.flatMap(({ product }) => product ?? []));
    onProgress(products.length, ids.length);
  }
  return products;
}

export function toPlan({ records, rejected }: FileContent, products: readonly Product[]): Plan {
  const bySlug = new Map(products.map((product) => [product.slug, product]));
  const bySku = new Map(products.flatMap((product) => (product.sku === null ? [] : [[product.sku, product] as const])));
  const plan: Plan = { created: [], updated: [], unchanged: 0, rejected: [...rejected] };
  for (const record of records) {
    const { line, slug, fields } = record;
    const before = bySlug.get(slug) ?? null;
    const owner = typeof fields['sku'] === 'string' ? bySku.get(fields['sku']) : undefined;
    if (owner && owner.id !== before?.id) {
      plan.rejected.push({ line, reason: texts.files.skuUsed(String(fields['sku']), owner.name) });
      continue;
    }
    const planned = toPlanned(record, before);
    if (before === null) plan.created.push(planned);
    else if (planned.changes.length > 0) plan.updated.push(planned);
    else plan.unchanged += 1;
  }
  plan.rejected.sort((a, b) => a.line - b.line);
  return plan;
}

function toPlanned({ line, slug, name, fields }: FileRecord, before: Product | null): PlannedRow {
  const row = { ...fields, ...(before === null ? { slug } : { id: before.id }) } as ProductUpsert;
  return { line, name, row, before, changes: before === null ? [] : findChanges(before, fields) };
}

function findChanges(before: Product, fields: Readonly<Record<string, unknown>>): FieldChange[] {
  const present: Readonly<Record<string, unknown>> = before;
  return Object.entries(fields).flatMap(([field, given]) => {
    const old = present[field];
    // The texts of the metadata that the record does not name stay.
    const after = field === 'metadata' ? mergeMetadata(before.metadata, given as Record<string, string | null>) : given;
    return toComparable(old) === toComparable(after) ? [] : [{ field, before: describe(old), after: describe(after) }];
  });
}

function mergeMetadata(before: Record<string, string>, given: Record<string, string | null>): Record<string, string> {
  const merged = Object.entries({ ...before, ...given }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return Object.fromEntries(merged.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A price may be a number in the record, and is a text in the product. */
function toComparable(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(describeEntry).join(', ');
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  return Object.entries(value)
    .map(([key, one]) => `${key}: ${String(one)}`)
    .join(', ');
}

/** An entry of a list is a text, or an option with a name and a value. */
function describeEntry(entry: unknown): string {
  return typeof entry === 'object' && entry !== null ? Object.values(entry).join(': ') : String(entry);
}

export type Applied = { created: number; updated: number; rejected: Rejected[] };

/** Stores the products of the plan, in parts. Fails if a part gets no response: the parts before it are stored, and a new preview shows the rest. */
export async function applyPlan({ client }: ShopSession, plan: Plan, onProgress: Progress): Promise<Applied> {
  const rows = [...plan.created, ...plan.updated].sort((a, b) => a.line - b.line);
  const applied: Applied = { created: 0, updated: 0, rejected: [] };
  let done = 0;
  for (const part of toParts(rows)) {
    const { data } = await client.storeProducts({ products: part.map(({ row }) => row) });
    for (const [index, { outcome, error }] of data.entries()) {
      const line = part[index]?.line ?? 0;
      if (outcome === 'created') applied.created += 1;
      if (outcome === 'updated') applied.updated += 1;
      if (error)
        applied.rejected.push({
          line,
          reason: [error.message, ...(error.details ?? []).map(({ path, message }) => `${path} ${message}`)].join('; '),
        });
    }
    done += part.length;
    onProgress(done, rows.length);
  }
  return applied;
}

function toParts(rows: readonly PlannedRow[]): PlannedRow[][] {
  const parts: PlannedRow[][] = [];
  let size = 0;
  for (const row of rows) {
    const bytes = new TextEncoder().encode(JSON.stringify(row.row)).length;
    const last = parts.at(-1);
    if (last && last.length < BATCH_MAX && size + bytes <= BATCH_BYTES_MAX) {
      last.push(row);
      size += bytes;
    } else {
      parts.push([row]);
      size = bytes;
    }
  }
  return parts;
}
