// Column maps of CSV files. A map gives each field of a record a column, or one value for every row. A cell is converted to the type of
// its field. Whether the value is valid is checked later, when the record is parsed.

import { parseAmount, parseNativeAmount } from '../../core/amount.ts';
import type { Chains } from '../../core/chains.ts';
import { OperatorError } from '../../core/errors.ts';
import { isPlainObject, quoteValue, RecordRejected } from '../records/fields.ts';
import type { FieldType, RecordKind } from '../records/kinds.ts';
import { findFieldType, RECORD_KINDS } from '../records/kinds.ts';
import { createDateReader, toUtcTime } from './times.ts';

export const CONVERSIONS = ['native-amount', 'bytea', 'utc-time', 'number', 'boolean'] as const;
export type Conversion = (typeof CONVERSIONS)[number] | DateConversion;

/** `date:` and the pattern of a time, such as `date:MM/DD/YY`. */
type DateConversion = `date:${string}`;

/** The names of all conversions, for messages. */
export const CONVERSION_NAMES = [...CONVERSIONS, 'date:PATTERN'].join(', ');

/** Where the value of a field comes from: a column of the file, or one value for every row. */
export type CsvSource = { column: string; as?: Conversion } | { value: string | number | boolean };

/** The source of each field, by field name. A nested field has a dot in its name, such as `snapshot.supply`. */
export type CsvMap = Readonly<Record<string, CsvSource>>;

/**
 * Parses a column map such as `{"tokenId": "punk_id", "kind": {"value": "sale"}, "price": {"column": "eth", "as":
 * "native-amount"}}`. Throws an OperatorError that names the first mistake.
 */
export function parseCsvMap(map: unknown): CsvMap {
  if (!isPlainObject(map)) return rejectMap(`must be an object of fields, not ${quoteValue(map)}`);
  const kind = parseKind(map);
  const sources: Record<string, CsvSource> = {};
  for (const [field, source] of Object.entries(map)) {
    const type = findFieldType(kind, field);
    if (type === null || type === 'object') {
      rejectMap(`${field}: ${kind === null ? 'no kind of record' : `a ${kind} record`} has no such field`);
    }
    sources[field] = parseSource(field, source, type);
  }
  return sources;
}

function rejectMap(why: string): never {
  throw new OperatorError(`bad column map: ${why}`, { exitCode: 2 });
}

/** Returns the kind that every row has, or null when the kind of a row comes from a column. */
function parseKind(map: Record<string, unknown>): RecordKind | null {
  const { kind: source } = map;
  if (source === undefined) {
    return rejectMap('kind: is missing; give it a column or a value, such as {"value": "sale"}');
  }
  if (!isPlainObject(source) || source['value'] === undefined) return null;
  const kind = RECORD_KINDS.find((known) => known === source['value']);
  return kind ?? rejectMap(`kind: must be one of ${RECORD_KINDS.join(', ')}, not ${quoteValue(source['value'])}`);
}

function parseSource(field: string, source: unknown, type: FieldType): CsvSource {
  if (typeof source === 'string') return { column: source };
  if (!isPlainObject(source)) return rejectMap(`${field}: must be a column name, {"column": …} or {"value": …}`);
  const { column, value, as, ...rest } = source;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) rejectMap(`${field}: ${quoteValue(unknown)} is not one of column, value, as`);
  if ((column === undefined) === (value === undefined)) rejectMap(`${field}: needs either a column or a value`);
  if (value !== undefined) {
    if (as !== undefined) rejectMap(`${field}: "as" converts columns only; a value is used as it is`);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      return rejectMap(`${field}: the value must be a string, a number, true or false`);
    }
    return { value: typeof value === 'string' ? toFieldType(type, value) : value };
  }
  if (typeof column !== 'string') return rejectMap(`${field}: the column must be a string`);
  if (as === undefined) return { column };
  return { column, as: parseConversion(field, as) };
}

function parseConversion(field: string, as: unknown): Conversion {
  const known = CONVERSIONS.find((conversion) => conversion === as);
  if (known) return known;
  if (!isDateConversion(as)) {
    return rejectMap(`${field}: "as" must be one of ${CONVERSION_NAMES}, not ${quoteValue(as)}`);
  }
  if (createDateReader(toPattern(as)) !== null) return as;
  return rejectMap(
    `${field}: the pattern of a time needs a year (YYYY or YY), a month (MM, M or MMM) and a day (DD or D), and each part once, as in "date:MM/DD/YY"; it is ${quoteValue(as)}`,
  );
}

function isDateConversion(as: unknown): as is DateConversion {
  return typeof as === 'string' && as.startsWith('date:');
}

function toPattern(as: DateConversion): string {
  return as.slice('date:'.length);
}

type Cell = string | number | boolean;

/** How one field is read from the cells of a row. `read` returns null for a blank cell. */
type FieldReader = {
  path: [outer: string, inner?: string];
  read: (cells: readonly string[]) => Cell | null;
  isAmount: boolean;
};

/** Converts the rows of one file to raw records, by a column map and the header of the file. */
export class RowReader {
  /** The number of cells that each row must have. */
  readonly columns: number;
  readonly #chains: Chains;
  readonly #fields: readonly FieldReader[];

  /** Throws an OperatorError if a column of the map is missing from the header, or occurs twice in the header. */
  constructor(chains: Chains, map: CsvMap, header: readonly string[]) {
    this.columns = header.length;
    this.#chains = chains;
    const { kind: kindSource } = map;
    const kindValue = kindSource && 'value' in kindSource ? kindSource.value : null;
    const kind = RECORD_KINDS.find((known) => known === kindValue) ?? null;
    this.#fields = Object.entries(map)
      .map(([field, source]) => ({
        path: field.split('.') as FieldReader['path'],
        read: createCellReader(field, source, header, findFieldType(kind, field)),
        isAmount: 'as' in source && source.as === 'native-amount',
      }))
      // Native amounts are read last, because the chain of the row decides their number of decimals.
      .sort((a, b) => Number(a.isAmount) - Number(b.isAmount));
  }

  /** Returns the raw record of a row. Throws RecordRejected for a native amount that exceeds the largest amount. */
  read(cells: readonly string[]): Record<string, unknown> {
    const values = Object.create(null) as Record<string, unknown>;
    for (const { path, read, isAmount } of this.#fields) {
      const cell = read(cells);
      if (cell === null) continue;
      setValue(values, path, isAmount ? toBaseUnits(this.#chains, values['chain'], path, cell) : cell);
    }
    return values;
  }
}

function setValue(values: Record<string, unknown>, [outer, inner]: FieldReader['path'], value: Cell): void {
  if (inner === undefined) values[outer] = value;
  else ((values[outer] ??= Object.create(null)) as Record<string, unknown>)[inner] = value;
}

function createCellReader(
  field: string,
  source: CsvSource,
  header: readonly string[],
  type: FieldType | null,
): FieldReader['read'] {
  if ('value' in source) return () => source.value;
  const { column, as } = source;
  const index = header.indexOf(column);
  if (index < 0) {
    throw new OperatorError(
      `the column map takes ${field} from the column ${quoteValue(column)}, which the file does not have; it has ${header.map(quoteValue).join(', ')}`,
    );
  }
  if (header.includes(column, index + 1)) {
    throw new OperatorError(
      `the column map takes ${field} from the column ${quoteValue(column)}, which the file has twice`,
    );
  }
  const convert = createConversion(as, type);
  return (cells) => {
    const text = cells[index] ?? '';
    return text.trim() === '' ? null : convert(text);
  };
}

function createConversion(as: Conversion | undefined, type: FieldType | null): (text: string) => Cell {
  if (as === undefined) return (text) => toFieldType(type ?? 'text', text);
  return isDateConversion(as) ? (createDateReader(toPattern(as)) ?? toUtcTime) : CONVERT[as];
}

/** Conversions of a cell. A cell that cannot be converted stays as it is: the parser of the record accepts it where text is allowed. */
const CONVERT: Record<(typeof CONVERSIONS)[number], (text: string) => Cell> = {
  // `toBaseUnits` converts the cell later, when the chain of the row is known.
  'native-amount': (text) => text,
  bytea: (text) => (/^\\x[0-9a-f]*$/i.test(text) ? `0x${text.slice(2)}` : text),
  'utc-time': toUtcTime,
  number: (text) => toFieldType('number', text),
  boolean: (text) => toFieldType('boolean', text),
};

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

function toFieldType(type: FieldType, text: string): Cell {
  if (type === 'number') return NUMBER.test(text) ? Number(text) : text;
  if (type === 'boolean') return BOOLEANS.get(text.toLowerCase()) ?? text;
  return text;
}

/**
 * Converts decimal text from native units to base units. Text that is not an exact amount in native units is returned unchanged, so
 * that a sale keeps the price that was received. But an integer whose base units exceed the largest amount is rejected: unchanged, it
 * would be read as an amount in base units.
 */
function toBaseUnits(chains: Chains, chainId: unknown, path: FieldReader['path'], cell: Cell): Cell {
  const chain = typeof chainId === 'string' ? chains.get(chainId) : undefined;
  if (!chain || typeof cell !== 'string') return cell;
  const raw = parseNativeAmount(cell, chain.decimals);
  if (raw !== null) return raw.toString();
  if (parseAmount(cell) === null) return cell;
  throw new RecordRejected(`${path.join('.')}: ${quoteValue(cell)} ${chain.symbol} is more than the largest amount`);
}
