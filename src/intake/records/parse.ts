// Parses raw records into typed rows with canonical values. An invalid record is rejected with a reason. No database is read here, so
// conflicts with stored rows are detected later.

import { hasMoreValues, parseJsonText } from '../../platform/core/json-text.ts';
import { parseBidRecord } from './bid.ts';
import { parseAnalyticsRecord, parseCollectionRecord, parseRateRecord, parseStatsRecord } from './collection.ts';
import { isPlainObject, quoteValue, readEnum, RecordRejected, requireField, withValue } from './fields.ts';
import type { RecordContext } from './identifiers.ts';
import { parseListingRecord, parseOrderRecord, parseSaleRecord, parseTokenRecord } from './items.ts';
import type { RecordKind } from './kinds.ts';
import { findUnknownField, RECORD_KINDS } from './kinds.ts';
import { parseProductRecord } from './product.ts';

const PARSERS = {
  collection: parseCollectionRecord,
  order: parseOrderRecord,
  listing: parseListingRecord,
  bid: parseBidRecord,
  sale: parseSaleRecord,
  token: parseTokenRecord,
  stats: parseStatsRecord,
  analytics: parseAnalyticsRecord,
  rate: parseRateRecord,
  product: parseProductRecord,
};

export type RowOf<K extends RecordKind> = ReturnType<(typeof PARSERS)[K]>;

export type IntakeRecord = { [K in RecordKind]: { kind: K; row: RowOf<K> } }[RecordKind];

/** A record, and the line of its file on which the record begins. */
export type NumberedRecord = { line: number; record: IntakeRecord };

export type LineRejection = { line: number; kind: RecordKind; reason: string };

/** A parsed record, or the reason why it was rejected. `kind` is null if a rejected record has no known kind. */
export type ParsedRecord = { record: IntakeRecord } | { record: null; kind: RecordKind | null; reason: string };

/** The id of the collection of a record. Null for rates and products, which belong to no collection. */
export function collectionIdOf(record: IntakeRecord): string | null {
  if (record.kind === 'rate' || record.kind === 'product') return null;
  return record.kind === 'collection' ? record.row.id : record.row.collectionId;
}

/** The most values of one line, in all its arrays and objects. */
const LINE_VALUES_MAX = 10_000;
const TOO_MANY_VALUES = `has more than ${LINE_VALUES_MAX} values`;

/** Parses one line of newline-delimited JSON. */
export function parseRecordLine(context: RecordContext, line: string): ParsedRecord {
  if (hasMoreValues(line, LINE_VALUES_MAX)) return { record: null, kind: null, reason: TOO_MANY_VALUES };
  let value: unknown;
  try {
    value = JSON.parse(line);
    // Numbers of product records keep their literal text: a price is stored as it was written, and 1.0 is not accepted as an integer.
    if (isPlainObject(value) && value['kind'] === 'product') value = parseJsonText(line);
  } catch (error) {
    return { record: null, kind: null, reason: withValue(`not JSON: ${(error as Error).message}`, line) };
  }
  if (!isPlainObject(value)) return { record: null, kind: null, reason: `not a JSON object: ${quoteValue(value)}` };
  if (typeof value['price'] === 'number') value['price'] = readPriceLiteral(line);
  return parseRecord(context, value);
}

/** Parses a line as a JSON object with every number as a JsonNumber. Returns the reason if the line is no JSON object. */
export function parseObject(line: string): { object: Record<string, unknown> } | { reason: string } {
  if (hasMoreValues(line, LINE_VALUES_MAX)) return { reason: TOO_MANY_VALUES };
  let value: unknown;
  try {
    value = parseJsonText(line);
  } catch (error) {
    return { reason: withValue(`not JSON: ${(error as Error).message}`, line) };
  }
  return isPlainObject(value) ? { object: value } : { reason: `not a JSON object: ${quoteValue(value)}` };
}

export function parseRecord(context: RecordContext, values: Readonly<Record<string, unknown>>): ParsedRecord {
  let kind: RecordKind | null = null;
  try {
    const fields = { values, path: '' };
    kind = requireField((from, name) => readEnum(from, name, RECORD_KINDS), fields, 'kind');
    const unknown = findUnknownField(kind, values);
    if (unknown !== null) throw new RecordRejected(`${unknown}: a ${kind} record has no such field`);
    return { record: { kind, row: PARSERS[kind](context, fields) } as IntakeRecord };
  } catch (error) {
    if (!(error instanceof RecordRejected)) throw error;
    return { record: null, kind, reason: error.message };
  }
}

/** Returns the price in a line as it is written there. JSON.parse alone would return a double, which may be a rounded price. */
function readPriceLiteral(line: string): unknown {
  const toLiteral = (key: string, value: unknown, context?: { source?: string }) =>
    key === 'price' && typeof value === 'number' ? context?.source : value;
  return (JSON.parse(line, toLiteral) as Record<string, unknown>)['price'];
}
