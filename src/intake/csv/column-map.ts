// The column map of a CSV file: which field comes from which column, or is the same in every row, and how a cell is
// turned into what the field holds. It must never decide whether a value is good: that is the record's own business.

import { parseAmount, parseNativeAmount } from '../../core/amount.ts';
import type { Chains } from '../../core/chains.ts';
import { OperatorError } from '../../core/errors.ts';
import { isPlainObject, Refusal, show } from '../records/fields.ts';
import type { FieldType, RecordKind } from '../records/kinds.ts';
import { findFieldType, RECORD_KINDS } from '../records/kinds.ts';

export const CONVERSIONS = ['native-amount', 'bytea', 'utc-time', 'number', 'boolean'] as const;
export type Conversion = (typeof CONVERSIONS)[number];

/** Where a field comes from. */
export type CsvSource = { column: string; as?: Conversion } | { value: string | number | boolean };

/** By field, nested ones with a dot. */
export type CsvMap = Readonly<Record<string, CsvSource>>;

/**
 * Reads a column map: `{"tokenId": "punk_id", "kind": {"value": "sale"}, "price": {"column": "eth", "as":
 * "native-amount"}}`. Throws one OperatorError that names what is wrong with it.
 */
export function parseCsvMap(map: unknown): CsvMap {
  if (!isPlainObject(map)) return wrong(`must be an object of fields, not ${show(map)}`);
  const kind = readKind(map);
  const sources: Record<string, CsvSource> = {};
  for (const [field, told] of Object.entries(map)) {
    const type = findFieldType(kind, field);
    if (type === null || type === 'object') {
      wrong(`${field}: ${kind === null ? 'no kind of record' : `a ${kind} record`} has no such field`);
    }
    sources[field] = parseSource(field, told, type);
  }
  return sources;
}

function wrong(why: string): never {
  throw new OperatorError(`bad column map: ${why}`, { exitCode: 2 });
}

/** The kind of every row, or null when a column tells it. */
function readKind(map: Record<string, unknown>): RecordKind | null {
  const told = map['kind'];
  if (told === undefined) return wrong('kind: is missing; give it a column or a value, such as {"value": "sale"}');
  if (!isPlainObject(told) || told['value'] === undefined) return null;
  const kind = RECORD_KINDS.find((known) => known === told['value']);
  return kind ?? wrong(`kind: must be one of ${RECORD_KINDS.join(', ')}, not ${show(told['value'])}`);
}

function parseSource(field: string, told: unknown, type: FieldType): CsvSource {
  if (typeof told === 'string') return { column: told };
  if (!isPlainObject(told)) return wrong(`${field}: must be a column name, {"column": …} or {"value": …}`);
  const { column, value, as, ...rest } = told;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) wrong(`${field}: ${show(unknown)} is not one of column, value, as`);
  if ((column === undefined) === (value === undefined)) wrong(`${field}: needs either a column or a value`);
  if (value !== undefined) {
    if (as !== undefined) wrong(`${field}: a value is taken as it is, without "as"`);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      return wrong(`${field}: the value must be a string, a number, true or false`);
    }
    return { value: typeof value === 'string' ? toTyped(type, value) : value };
  }
  if (typeof column !== 'string') return wrong(`${field}: the column must be a string`);
  if (as === undefined) return { column };
  const conversion = CONVERSIONS.find((known) => known === as);
  if (!conversion) return wrong(`${field}: "as" must be one of ${CONVERSIONS.join(', ')}, not ${show(as)}`);
  return { column, as: conversion };
}

/** Makes a raw record of the cells of one row. A Refusal is thrown when a cell would come to mean something else. */
export type RowReader = (cells: readonly string[]) => Record<string, unknown>;

/** Ties a map to the header of a file. Throws an OperatorError when the file does not have a column of the map. */
export function createRowReader(chains: Chains, map: CsvMap, header: readonly string[]): RowReader {
  const kind = 'kind' in map && map['kind'] && 'value' in map['kind'] ? (map['kind'].value as RecordKind) : null;
  const readers = Object.entries(map).map(([field, source]) => ({
    path: field.split('.') as [string, string?],
    read: createCellReader(field, source, header, findFieldType(kind, field)),
    isAmount: 'as' in source && source.as === 'native-amount',
  }));
  // Amounts last: how many decimals they have is said by the chain of the same row.
  readers.sort((a, b) => Number(a.isAmount) - Number(b.isAmount));
  return (cells) => {
    const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const { path, read, isAmount } of readers) {
      const value = read(cells);
      if (value !== null) place(values, path, isAmount ? toBaseUnits(chains, values['chain'], path, value) : value);
    }
    return values;
  };
}

type Cell = string | number | boolean;

function createCellReader(
  field: string,
  source: CsvSource,
  header: readonly string[],
  type: FieldType | null,
): (cells: readonly string[]) => Cell | null {
  if ('value' in source) return () => source.value;
  const { column, as } = source;
  const index = header.indexOf(column);
  if (index < 0) {
    throw new OperatorError(
      `the column map takes ${field} from the column ${show(column)}, which the file does not have; it has ${header.map(show).join(', ')}`,
    );
  }
  if (header.includes(column, index + 1)) {
    throw new OperatorError(`the column map takes ${field} from the column ${show(column)}, which the file has twice`);
  }
  return (cells) => {
    const text = cells[index] ?? '';
    if (text.trim() === '') return null;
    return as === undefined ? toTyped(type ?? 'text', text) : CONVERT[as](text);
  };
}

/** What cannot be converted stays the text that it is, for the record to refuse it in its own words, or to keep it. */
const CONVERT: Record<Conversion, (text: string) => Cell> = {
  'native-amount': (text) => text,
  bytea: (text) => (/^\\x[0-9a-f]*$/i.test(text) ? `0x${text.slice(2)}` : text),
  'utc-time': toUtcTime,
  number: (text) => toTyped('number', text),
  boolean: (text) => toTyped('boolean', text),
};

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

function toTyped(type: FieldType, text: string): Cell {
  if (type === 'number') return NUMBER.test(text) ? Number(text) : text;
  if (type === 'boolean') return BOOLEANS.get(text.toLowerCase()) ?? text;
  return text;
}

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(?: ?UTC|Z|\+00(?::?00)?)?$/;
const EPOCH = /^\d{1,15}$/;
/** Epoch seconds stay below this until the year 5138; epoch milliseconds have been above it since 1973. */
const EPOCH_SECONDS_MAX = 100_000_000_000;

function toUtcTime(text: string): string {
  const [, date, time] = DATE_TIME.exec(text) ?? [];
  if (date !== undefined) return `${date}T${time}Z`;
  if (!EPOCH.test(text)) return text;
  const epoch = Number(text);
  return new Date(epoch < EPOCH_SECONDS_MAX ? epoch * 1_000 : epoch).toISOString();
}

/** Base units of decimal text in native units. What they cannot say exactly stays text, unless it would be read as base units. */
function toBaseUnits(chains: Chains, chainId: unknown, path: [string, string?], cell: Cell): Cell {
  const chain = typeof chainId === 'string' ? chains.get(chainId) : undefined;
  if (!chain || typeof cell !== 'string') return cell;
  const raw = parseNativeAmount(cell, chain.decimals);
  if (raw !== null) return raw.toString();
  if (parseAmount(cell) === null) return cell;
  throw new Refusal(`${path.join('.')}: ${show(cell)} ${chain.symbol} is more than an amount can be`);
}

function place(values: Record<string, unknown>, [outer, inner]: [string, string?], value: Cell): void {
  if (inner === undefined) values[outer] = value;
  else ((values[outer] ??= Object.create(null)) as Record<string, unknown>)[inner] = value;
}
