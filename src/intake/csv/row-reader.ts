// Converts rows to raw records, by a column map. A row is a list of CSV cells or a JSON object. The values are checked later, by the parser
// of the record.

import type { Chains } from '../../platform/core/chains.ts';
import { OperatorError } from '../../platform/core/errors.ts';
import { JsonNumber } from '../../platform/core/json-text.ts';
import { quoteValue, RecordRejected } from '../records/fields.ts';
import type { FieldType, RecordKind } from '../records/kinds.ts';
import { findFieldType, RECORD_KINDS } from '../records/kinds.ts';
import type { ColumnMap, ColumnSource, FieldSource } from './column-map.ts';
import type { AmountTerms, FieldValue } from './conversions.ts';
import { AMOUNT_CONVERSIONS, createConversion, createExtractor, toFieldType } from './conversions.ts';

/**
 * Finds a column, and returns a function that reads the column's text from a row. The text is empty if the row has no value in this column.
 */
export type FindColumn<Row> = (column: string, field: string) => (row: Row) => string;

type FieldReader<Row> = {
  path: [outer: string, inner?: string];
  read: (row: Row, chain: AmountTerms['chain']) => FieldValue;
  isAmount: boolean;
};

export class RowReader<Row> {
  readonly #chains: Chains;
  readonly #fields: readonly FieldReader<Row>[];

  /** Throws the error of `findColumn` if a column of the map is missing in the file. */
  constructor(chains: Chains, map: ColumnMap, findColumn: FindColumn<Row>) {
    this.#chains = chains;
    const kind = toKind(map['kind']);
    this.#fields = Object.entries(map)
      .map(([field, source]) => ({
        path: field.split('.') as FieldReader<Row>['path'],
        read: createCellReader(findColumn, { field, source, type: findFieldType(kind, field) ?? 'text' }),
        isAmount: 'column' in source && isAmountSource(source),
      }))
      // Amounts are converted last, because their conversion depends on the chain of the row.
      .sort((a, b) => Number(a.isAmount) - Number(b.isAmount));
  }

  /** Returns the raw record of a row. If a conversion rejects a cell, throws RecordRejected with the name of the field. */
  read(row: Row): Record<string, unknown> {
    const values = Object.create(null) as Record<string, unknown>;
    for (const { path, read } of this.#fields) {
      const chain = typeof values['chain'] === 'string' ? this.#chains.get(values['chain']) : undefined;
      const cell = readCell(path, () => read(row, chain));
      if (cell !== null && cell !== '') setValue(values, path, cell);
    }
    return values;
  }
}

function toKind(source: FieldSource | undefined): RecordKind | null {
  const value = source && 'value' in source ? source.value : null;
  return RECORD_KINDS.find((known) => known === value) ?? null;
}

function isAmountSource({ as = [] }: ColumnSource): boolean {
  return as.some((conversion) => AMOUNT_CONVERSIONS.has(conversion));
}

function readCell(path: readonly (string | undefined)[], read: () => FieldValue): FieldValue {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RecordRejected)) throw error;
    throw new RecordRejected(`${path.join('.')}: ${error.message}`);
  }
}

function setValue<Row>(
  values: Record<string, unknown>,
  [outer, inner]: FieldReader<Row>['path'],
  value: FieldValue,
): void {
  if (inner === undefined) values[outer] = value;
  else ((values[outer] ??= Object.create(null)) as Record<string, unknown>)[inner] = value;
}

function createCellReader<Row>(
  findColumn: FindColumn<Row>,
  { field, source, type }: { field: string; source: FieldSource; type: FieldType },
): FieldReader<Row>['read'] {
  if ('value' in source) return () => source.value;
  const readText = findColumn(source.column, field);
  const { currency } = source;
  const readCurrency = typeof currency === 'string' ? findColumn(currency, field) : currency && (() => currency.value);
  const readTimes = source.times === undefined ? null : findColumn(source.times, field);
  const extract = source.pattern === undefined ? null : createExtractor(source.pattern);
  const conversions = (source.as ?? []).map(createConversion);
  const valueOf = new Map(Object.entries(source.map ?? {}));
  return (row, chain) => {
    const text = readText(row);
    if (text.trim() === '') return null;
    let cell: FieldValue = extract ? extract(text) : text;
    const terms = { chain, currency: readCurrency?.(row).trim() ?? null, times: readTimes?.(row) ?? null };
    for (const convert of conversions) if (typeof cell === 'string') cell = convert(cell, terms);
    if (typeof cell === 'string') cell = valueOf.get(cell) ?? cell;
    return typeof cell === 'string' ? toFieldType(type, cell) : cell;
  };
}

/** Finds the columns of a CSV file by its header. Throws an OperatorError if the header lacks a column of the map or has it twice. */
export function findInHeader(header: readonly string[]): FindColumn<readonly string[]> {
  const names = header.map((name) => name.trim());
  return (column, field) => {
    const index = names.indexOf(column.trim());
    const intro = `the column map takes ${field} from the column ${quoteValue(column)}, which the file`;
    if (index < 0)
      throw new OperatorError(
        `${intro} does not have; the columns of the file are ${names.map(quoteValue).join(', ')}`,
      );
    if (names.includes(column.trim(), index + 1)) throw new OperatorError(`${intro} has twice`);
    return (cells) => cells[index] ?? '';
  };
}

/** Finds members of JSON objects by name. A dot leads into a nested object or array, as in `stats.supply` and `sales.0.price`. */
export function findInObject(column: string): (row: object) => string {
  const path = column.split('.');
  return (row) => {
    if (Object.hasOwn(row, column)) return toText((row as Record<string, unknown>)[column]);
    let value: unknown = row;
    for (const name of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return '';
      value = (value as Record<string, unknown>)[name];
    }
    return toText(value);
  };
}

/** The text of a JSON value. Numbers are JsonNumbers, which are not rounded. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.text;
  if (value === null || value === undefined) return '';
  return JSON.stringify(value, (_key, inner: unknown) => (inner instanceof JsonNumber ? inner.text : inner));
}
