// From one raw record to rows as the databases take them: every value checked, canonical, and in its own type, or the
// record refused. It must never touch a database: whether a record fits what is stored is decided when it is landed.

import { parseJsonText } from '../../core/json-text.ts';
import { isPlainObject, Refusal, required, readWord, show } from './fields.ts';
import type { RecordKind } from './kinds.ts';
import { findUnknownField, KIND_FIELDS } from './kinds.ts';
import { toCollection, toAnalytics, toRate, toStats } from './collection.ts';
import { toListing, toOrder, toSale, toToken } from './items.ts';
import { toProduct } from './product.ts';
import type { RecordContext } from './identifiers.ts';

const PARSERS = {
  collection: toCollection,
  order: toOrder,
  listing: toListing,
  sale: toSale,
  token: toToken,
  stats: toStats,
  analytics: toAnalytics,
  rate: toRate,
  product: toProduct,
};

export type RowOf<K extends RecordKind> = ReturnType<(typeof PARSERS)[K]>;

/** A record that can be landed. */
export type IntakeRecord = { [K in RecordKind]: { kind: K; row: RowOf<K> } }[RecordKind];

/** A record and the line that it came on. */
export type Entry = { line: number; record: IntakeRecord };

/** Why a record was not landed. */
export type LineRejection = { line: number; kind: RecordKind; reason: string };

/** `kind` is null where not even that could be told. */
export type Parsed = { record: IntakeRecord } | { record: null; kind: RecordKind | null; reason: string };

/** Reads one line of newline-delimited JSON. */
export function parseRecordLine(context: RecordContext, line: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(line);
    // Prices are kept as they were written, and whether a number is an integer is seen in its literal.
    if (isPlainObject(value) && value['kind'] === 'product') value = parseJsonText(line);
  } catch (error) {
    return { record: null, kind: null, reason: `not JSON: ${(error as Error).message}` };
  }
  if (!isPlainObject(value)) return { record: null, kind: null, reason: `not a JSON object: ${show(value)}` };
  if (typeof value['price'] === 'number') value['price'] = readPriceLiteral(line);
  return parseRecord(context, value);
}

/** Reads one raw record. */
export function parseRecord(context: RecordContext, values: Readonly<Record<string, unknown>>): Parsed {
  let kind: RecordKind | null = null;
  try {
    const fields = { values, path: '' };
    kind = required((from, name) => readWord(from, name, Object.keys(KIND_FIELDS) as RecordKind[]), fields, 'kind');
    const unknown = findUnknownField(kind, values);
    if (unknown !== null) throw new Refusal(`${unknown}: a ${kind} record has no such field`);
    return { record: { kind, row: PARSERS[kind](context, fields) } as IntakeRecord };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { record: null, kind, reason: error.message };
  }
}

/** A recorded price is kept as it was received: a JSON number by its literal text, never through a float. */
function readPriceLiteral(line: string): unknown {
  const toLiteral = (key: string, value: unknown, context?: { source?: string }) =>
    key === 'price' && typeof value === 'number' ? context?.source : value;
  return (JSON.parse(line, toLiteral) as Record<string, unknown>)['price'];
}
