// Parses and checks column maps. A column map gives the source of each field of a record. A source is a column of a CSV file, a member of
// JSON objects, or one value for every row.

import { OperatorError } from '../../platform/core/errors.ts';
import { isPlainObject, quoteValue } from '../records/fields.ts';
import type { FieldType, RecordKind } from '../records/kinds.ts';
import { findFieldType, RECORD_KINDS } from '../records/kinds.ts';
import type { Conversion } from './conversions.ts';
import { AMOUNT_CONVERSIONS, checkPattern, CONVERSION_NAMES, parseConversion, toFieldType } from './conversions.ts';

/** A field that is read from a column. `pattern` is applied first, then the conversions of `as` in their order, then `map`. */
export type ColumnSource = {
  column: string;
  /** A regular expression whose first group is the value. */
  pattern?: string;
  as?: readonly Conversion[];
  /** The value for each text of the column. A text without a value here is not changed. */
  map?: Readonly<Record<string, string>>;
  /**
   * For amounts: the column with the currency, or the currency of all rows. An amount in a currency other than the native currency of the
   * chain is not converted.
   */
  currency?: string | { value: string };
  /** For amounts: the column with a factor, such as the number of units of a sale whose price is for one unit. */
  times?: string;
};

/** Where the value of a field comes from: a column of the file, or one value for every row. */
export type FieldSource = ColumnSource | { value: string | number | boolean };

/** The source of each field, by field name. A nested field has a dot in its name, such as `snapshot.supply`. */
export type ColumnMap = Readonly<Record<string, FieldSource>>;

/** A value that begins with this text is a placeholder that the operator still has to replace. */
export const PLACEHOLDER = 'REPLACE by ';

/**
 * Parses a column map such as `{"tokenId": "punk_id", "kind": {"value": "sale"}, "price": {"column": "eth", "as":
 * "native-amount"}}`. Throws an OperatorError that names the first mistake.
 */
export function parseColumnMap(map: unknown): ColumnMap {
  if (!isPlainObject(map)) return rejectMap(`must be an object of fields, not ${quoteValue(map)}`);
  const kind = parseKind(map);
  const sources: Record<string, FieldSource> = {};
  for (const [field, source] of Object.entries(map)) {
    const type = findFieldType(kind, field);
    if (type === null || type === 'object') {
      rejectMap(
        `${field}: ${kind === null ? 'no kind of record has such a field' : `a ${kind} record has no such field`}`,
      );
    }
    sources[field] = parseSource(field, source, type);
  }
  return sources;
}

/** Whether a field of the map has a pattern. A malicious pattern can run for a very long time, so only the operator may use patterns. */
export function hasPattern(map: ColumnMap): boolean {
  return Object.values(map).some((source) => 'pattern' in source);
}

function rejectMap(why: string): never {
  throw new OperatorError(`bad column map: ${why}`, { exitCode: 2 });
}

/** Returns the kind of all rows, or null if a column gives the kind of each row. */
function parseKind(map: Record<string, unknown>): RecordKind | null {
  const { kind: source } = map;
  if (source === undefined) {
    return rejectMap('kind: is missing; give it a column or a value, such as {"value": "sale"}');
  }
  if (!isPlainObject(source) || source['value'] === undefined) return null;
  const kind = RECORD_KINDS.find((known) => known === source['value']);
  return kind ?? rejectMap(`kind: must be one of ${RECORD_KINDS.join(', ')}, not ${quoteValue(source['value'])}`);
}

const COLUMN_KEYS = ['column', 'pattern', 'as', 'map', 'currency', 'times'];

function parseSource(field: string, source: unknown, type: FieldType): FieldSource {
  if (typeof source === 'string') return parseColumn(field, { column: source }, type);
  if (!isPlainObject(source)) return rejectMap(`${field}: must be a column name, {"column": …} or {"value": …}`);
  const { value, ...column } = source;
  const unknown = Object.keys(column).find((key) => !COLUMN_KEYS.includes(key));
  if (unknown !== undefined) {
    rejectMap(`${field}: ${quoteValue(unknown)} is not one of ${[...COLUMN_KEYS, 'value'].join(', ')}`);
  }
  if ((column['column'] === undefined) === (value === undefined)) {
    rejectMap(`${field}: needs either a column or a value`);
  }
  return value === undefined ? parseColumn(field, column, type) : parseValue(field, value, { type, others: column });
}

function parseValue(
  field: string,
  value: unknown,
  { type, others }: { type: FieldType; others: Record<string, unknown> },
): FieldSource {
  const [other] = Object.keys(others);
  if (other !== undefined) rejectMap(`${field}: "${other}" is for columns only; a value is used as it is`);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return rejectMap(`${field}: the value must be a string, a number, true or false`);
  }
  if (typeof value === 'string' && value.startsWith(PLACEHOLDER)) {
    rejectMap(`${field}: replace the value by ${value.slice(PLACEHOLDER.length)}`);
  }
  if (type === 'list') return rejectMap(`${field}: a list can be read from a column only`);
  return { value: typeof value === 'string' ? toFieldType(type, value) : value };
}

function parseColumn(
  field: string,
  { column, pattern, as, map, currency, times }: Record<string, unknown>,
  type: FieldType,
): ColumnSource {
  const conversions = as === undefined ? [] : parseConversions(field, as);
  const isAmount = conversions.some((conversion) => AMOUNT_CONVERSIONS.has(conversion));
  if ((currency !== undefined || times !== undefined) && !isAmount) {
    rejectMap(`${field}: "currency" and "times" need "as": "native-amount" or "base-amount"`);
  }
  if (type === 'list' && !conversions.includes('list')) rejectMap(`${field}: a list needs "as": "list"`);
  if (type !== 'list' && conversions.includes('list')) rejectMap(`${field}: is not a list, so "as" must not be "list"`);
  return {
    column: parseText(field, 'column', column),
    ...(pattern !== undefined && { pattern: parsePattern(field, pattern) }),
    ...(conversions.length > 0 && { as: conversions }),
    ...(map !== undefined && { map: parseValueMap(field, map) }),
    ...(currency !== undefined && { currency: parseCurrency(field, currency) }),
    ...(times !== undefined && { times: parseText(field, 'times', times) }),
  };
}

function parseText(field: string, name: string, text: unknown): string {
  return typeof text === 'string' ? text : rejectMap(`${field}: the ${name} must be a string`);
}

function parseCurrency(field: string, currency: unknown): string | { value: string } {
  if (typeof currency === 'string') return currency;
  if (isPlainObject(currency) && Object.keys(currency).length === 1 && typeof currency['value'] === 'string') {
    return { value: currency['value'] };
  }
  return rejectMap(`${field}: the currency must be a column name or {"value": …}`);
}

function parsePattern(field: string, pattern: unknown): string {
  const mistake = typeof pattern === 'string' ? checkPattern(pattern) : 'must be a string';
  return mistake === null ? String(pattern) : rejectMap(`${field}: the pattern ${mistake}`);
}

function parseValueMap(field: string, map: unknown): Record<string, string> {
  if (!isPlainObject(map)) return rejectMap(`${field}: "map" must be an object, such as {"ETH": "ethereum"}`);
  const values = Object.entries(map).map(([text, value]) => {
    if (typeof value !== 'string') return rejectMap(`${field}: "map" must map ${quoteValue(text)} to a string`);
    return [text, value] as const;
  });
  return Object.fromEntries(values);
}

/** The most conversions of one column. */
const CONVERSIONS_MAX = 8;

function parseConversions(field: string, as: unknown): Conversion[] {
  const names: unknown[] = Array.isArray(as) ? as : [as];
  if (names.length > CONVERSIONS_MAX) rejectMap(`${field}: "as" must have at most ${CONVERSIONS_MAX} conversions`);
  return names.map((name) => {
    const parsed = parseConversion(name);
    if ('conversion' in parsed) return parsed.conversion;
    return rejectMap(
      parsed.mistake === null
        ? `${field}: "as" must be one of ${CONVERSION_NAMES}, not ${quoteValue(name)}`
        : `${field}: ${parsed.mistake}`,
    );
  });
}
