// Reads the products of a file, as `mercat import` does: product records (NDJSON) or a product export of Shopify (CSV).

import { parse } from 'csv-parse/browser/esm/sync';
import { JsonNumber, isJsonObject, parseJsonText } from '../../../../src/platform/core/json-text.ts';
import { parseNewProduct } from '../../../../src/shop/products/product-input.ts';
import type { ShopifyRow, ShopifyTally } from '../../../../src/shop/products/shopify.ts';
import {
  OWN_COLUMN,
  createShopifyTally,
  handleOf,
  isShopifyHeader,
  readShopifyHeader,
  toShopifyRecords,
} from '../../../../src/shop/products/shopify.ts';
import { toSlug } from '../../../../src/shop/products/slug.ts';
import { texts } from '../texts.ts';

const t = texts.files;
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** The fields that the record states, as they are sent to the service. The slug identifies the product. */
export type FileRecord = { line: number; slug: string; name: string; fields: Record<string, unknown> };

export type Rejected = { line: number; reason: string };

/** `shopify`: what was read of an export of Shopify, and what a product has no place for. Null for records. */
export type FileContent = { records: FileRecord[]; rejected: Rejected[]; shopify: ShopifyTally | null };

/** Why nothing of a file can be read. The message is for the user. */
export class UnreadableFile extends Error {}

/** Throws UnreadableFile. A row that cannot be read is in `rejected`, and the rows after it are read. */
export function readProductFile(bytes: ArrayBuffer): FileContent {
  const text = decode(bytes);
  const isRecords = /^\s*\{/.test(text);
  const content = isRecords ? readRecords(text) : readShopify(text);
  return rejectRepeated(content);
}

function decode(bytes: ArrayBuffer): string {
  try {
    // The decoder removes a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableFile(t.notUtf8);
  }
}

function readRecords(text: string): FileContent {
  const content: FileContent = { records: [], rejected: [], shopify: null };
  for (const [index, source] of text.split(/\r?\n/).entries()) {
    if (source.trim() === '') continue;
    const line = index + 1;
    const record = parseRecord(source);
    if (typeof record === 'string') content.rejected.push({ line, reason: record });
    else add(content, line, record);
  }
  return content;
}

/** The record without its kind and shop: the products belong to the shop of the session. A text is the reason why it cannot be read. */
function parseRecord(source: string): Record<string, unknown> | string {
  try {
    const record = parseJsonText(source);
    if (!isJsonObject(record)) return t.notARecord;
    const { kind, shop: _shop, ...fields } = record;
    return kind === 'product' ? fields : t.notAProduct;
  } catch {
    return t.notJson;
  }
}

function readShopify(text: string): FileContent {
  const tally = createShopifyTally();
  const content: FileContent = { records: [], rejected: [], shopify: tally };
  const [header, ...rows] = parseCsv(text);
  if (!header || !isShopifyHeader(header.cells)) throw new UnreadableFile(t.unknownFormat);
  const columns = readShopifyHeader(header.cells);
  const slugs = new Set<string>();
  for (const group of groupByHandle(rows, columns, content)) {
    for (const { line, record } of toShopifyRecords(group, { tally, slugs })) {
      if (record === null) content.rejected.push({ line, reason: t.notOwnFields(OWN_COLUMN) });
      else add(content, line, toExactNumbers(record));
    }
  }
  return content;
}

type Row = { line: number; cells: string[] };

function parseCsv(text: string): Row[] {
  const [, separator, content = text] = /^"?sep=([,;\t|])"?\r?\n([^]*)$/i.exec(text) ?? [];
  const delimiter = DELIMITERS.find((one) => one === separator) ?? findDelimiter(content);
  try {
    const options = { delimiter, relax_column_count: true, skip_empty_lines: true, info: true } as const;
    const records = parse(content, options) as unknown as { record: string[]; info: { lines: number } }[];
    // `lines` is the last line of a row, whose quoted cells may contain line breaks.
    return records.map(({ record }, index) => ({ line: (records[index - 1]?.info.lines ?? 0) + 1, cells: record }));
  } catch (error) {
    throw new UnreadableFile(t.notCsv(error instanceof Error ? error.message : ''), { cause: error });
  }
}

/** The delimiter that occurs most often in the header. */
function findDelimiter(text: string): string {
  const header = (/^[^\r\n]*/.exec(text)?.[0] ?? '').replaceAll(/"[^"]*"/g, '');
  const count = (delimiter: string) => header.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best), ',');
}

/** A row without a handle belongs to the product of the row before it. */
function groupByHandle(
  rows: readonly Row[],
  columns: readonly string[],
  { rejected, shopify }: FileContent,
): ShopifyRow[][] {
  const groups: ShopifyRow[][] = [];
  for (const { line, cells } of rows) {
    if (shopify) shopify.rows += 1;
    if (cells.length !== columns.length) {
      rejected.push({ line, reason: t.cells(cells.length, columns.length) });
      continue;
    }
    const row = { line, cells: new Map(columns.map((name, index) => [name, cells[index]?.trim() ?? ''])) };
    const handle = handleOf(row);
    const last = groups.at(-1);
    const first = last?.[0];
    if (first && (handle === '' || handle === handleOf(first))) last.push(row);
    else if (handle === '') rejected.push({ line, reason: t.noHandle });
    else groups.push([row]);
  }
  return groups;
}

/** The rules of the service expect numbers as their literal text. */
function toExactNumbers(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      typeof value === 'number' ? new JsonNumber(String(value)) : value,
    ]),
  );
}

/** Adds the record if the service would accept it as a product. */
function add({ records, rejected }: FileContent, line: number, given: Record<string, unknown>): void {
  const parsed = parseNewProduct(given);
  if (!parsed.ok) {
    rejected.push({ line, reason: parsed.details.map(({ path, message }) => `${path}: ${message}`).join('; ') });
    return;
  }
  const fields = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, toSendable(value)]));
  const { name, slug } = parsed.value;
  records.push({ line, name, slug: slug ?? toSlug(name), fields });
}

/** A decimal is sent as text, because a number would round it. */
function toSendable(value: unknown): unknown {
  if (!(value instanceof JsonNumber)) return value;
  return /^-?\d{1,15}$/.test(value.text)
    ? Number(value.text)
    : String(Number(value.text)) === value.text
      ? Number(value.text)
      : value.text;
}

/** Of records with the same slug or SKU, the first is kept: the others would overwrite it. */
function rejectRepeated({ records, rejected, shopify }: FileContent): FileContent {
  const lines = new Map<string, number>();
  const kept: FileRecord[] = [];
  for (const record of records) {
    const { line, slug, fields } = record;
    const keys = [`slug ${slug}`, ...(typeof fields['sku'] === 'string' ? [`SKU ${fields['sku']}`] : [])];
    const used = keys.find((key) => lines.has(key));
    if (used !== undefined) {
      rejected.push({ line, reason: t.repeated(used, lines.get(used) ?? 0) });
      continue;
    }
    for (const key of keys) lines.set(key, line);
    kept.push(record);
  }
  return { records: kept, rejected: rejected.toSorted((a, b) => a.line - b.line), shopify };
}
