// Decoders of rows: a column that is missing or of another type is an error where the row is read, not a wrong value later.
// The types that decoders expect are those in which the driver returns PostgreSQL's types.

import type { Address, AssetId } from '../core/address.ts';
import type { Row } from './port.ts';

/** Reads a value as `T`, or returns undefined when the value is of another type. */
export type Decoder<T> = {
  /** What the decoder accepts, for error messages. */
  readonly expected: string;
  /** The column to read, when it differs from the field's name: set by `column`. */
  readonly column?: string;
  decode(value: unknown): T | undefined;
};

type Columns = Readonly<Record<string, Decoder<unknown>>>;
type Decoded<C extends Columns> = { -readonly [K in keyof C]: C[K] extends Decoder<infer T> ? T : never };

/** A row that is not as the code expects: the schema and the statement disagree with the decoder. */
export class RowError extends Error {
  override readonly name = 'RowError';
}

/**
 * A function that decodes rows of one table or statement, named `source` in errors. Each field is read from the column of its
 * name, or from the column that `column` gives it; other columns are ignored.
 *
 * ```ts
 * const decodeListing = rowDecoder('listing', {
 *   key: text,
 *   asset: nullable(assetId),
 *   raw: column('price_raw', amount),
 *   expiresAt: column('expires_at', nullable(timestamp)),
 *   status: oneOf(['active', 'filled']),
 * });
 * const listings = (await db.query(sql, [collectionId])).map(decodeListing);
 * // { key: string; asset: AssetId | null; raw: bigint; expiresAt: number | null; status: 'active' | 'filled' }[]
 * ```
 *
 * Throws a RowError that names source, column and the type found.
 */
export function rowDecoder<const C extends Columns>(source: string, columns: C): (row: Row) => Decoded<C> {
  const fields = Object.entries(columns).map(([field, decoder]) => ({
    field,
    column: decoder.column ?? field,
    decoder,
  }));
  return (row) => {
    const decoded: Record<string, unknown> = {};
    for (const { field, column, decoder } of fields) {
      const value = decoder.decode(row[column]);
      if (value === undefined) {
        throw new RowError(`${source}: column ${column} is ${describeType(row[column])}, expected ${decoder.expected}`);
      }
      decoded[field] = value;
    }
    return decoded as Decoded<C>;
  };
}

/** Reads `decoder` from the column `name`, for a field that is called otherwise. */
export function column<T>(name: string, decoder: Decoder<T>): Decoder<T> {
  return { ...decoder, column: name };
}

/** `decoder`, or SQL's null. */
export function nullable<T>(decoder: Decoder<T>): Decoder<T | null> {
  return {
    ...decoder,
    expected: `${decoder.expected} or null`,
    decode: (value) => (value === null ? null : decoder.decode(value)),
  };
}

function scalar<T>(expected: string, decode: (value: unknown) => T | undefined): Decoder<T> {
  return { expected, decode };
}

/** `text`, `varchar`. */
export const text = scalar('text', (value) => (typeof value === 'string' ? value : undefined));

/** `boolean`. */
export const boolean = scalar('boolean', (value) => (typeof value === 'boolean' ? value : undefined));

/** `smallint` or `integer`. A `bigint` is read by `safeInteger` or `amount`. */
export const integer = scalar('integer', (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined,
);

/** `bigint`, `count(*)` or an integral `numeric`, up to 2^53 - 1: for counts, block numbers and sequences. */
export const safeInteger = scalar('integer up to 2^53 - 1', (value) => {
  const number = typeof value === 'string' && INTEGER.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
});

/** `numeric` or `bigint` without a fraction, exactly: for amounts in base units, quantities and counters. */
export const amount = scalar('integer as text', (value) =>
  typeof value === 'string' && INTEGER.test(value) ? BigInt(value) : undefined,
);

/** `real` or `double precision`. */
export const double = scalar('number', (value) => (typeof value === 'number' ? value : undefined));

/** `numeric` or `double precision` as the nearest double: for `extract(epoch ...)`, averages and sums that may be rounded. */
export const decimal = scalar('number or decimal text', (value) => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : undefined;
});

/** `timestamptz`, in milliseconds since the epoch. */
export const timestamp = scalar('timestamp', (value) =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? value.getTime() : undefined,
);

/** `bytea`. */
export const bytes = scalar('bytes', (value) => (Buffer.isBuffer(value) ? value : undefined));

/** `text` of an address, which was checked before it was written. */
export const address = scalar('address', (value) => (isFilled(value) ? (value as Address) : undefined));

/** `text` of a token id or mint, which was checked before it was written. */
export const assetId = scalar('token id or mint', (value) => (isFilled(value) ? (value as AssetId) : undefined));

/** `text` of bytes in hexadecimal, after `0x`: hashes and signatures. */
export const hex = scalar('0x and hexadecimal digits', (value) =>
  typeof value === 'string' && value.startsWith('0x') ? (value as `0x${string}`) : undefined,
);

/** `text` that is one of `values`. */
export function oneOf<const T extends string>(values: readonly T[]): Decoder<T> {
  const known: ReadonlySet<unknown> = new Set(values);
  return scalar(`one of ${values.join(', ')}`, (value) => (known.has(value) ? (value as T) : undefined));
}

/** An array of SQL or of JSON, each element read by `element`. */
export function list<T>(element: Decoder<T>): Decoder<T[]> {
  return scalar(`list of ${element.expected}`, (value) => {
    if (!Array.isArray(value)) return undefined;
    const elements: T[] = [];
    for (const one of value) {
      const decoded = element.decode(one);
      if (decoded === undefined) return undefined;
      elements.push(decoded);
    }
    return elements;
  });
}

/** A JSON object, as from `json_build_object`, its fields read like columns. Times in JSON are text, and are read by `text`. */
export function object<const C extends Columns>(fields: C): Decoder<Decoded<C>> {
  const entries = Object.entries(fields).map(([field, decoder]) => ({ field, key: decoder.column ?? field, decoder }));
  const expected = `object of ${entries.map(({ key, decoder }) => `${key}: ${decoder.expected}`).join(', ')}`;
  return scalar(expected, (value) => {
    if (!isObject(value)) return undefined;
    const decoded: Record<string, unknown> = {};
    for (const { field, key, decoder } of entries) {
      const found = decoder.decode(value[key]);
      if (found === undefined) return undefined;
      decoded[field] = found;
    }
    return decoded as Decoded<C>;
  });
}

/** `json` or `jsonb` of a form that `is` accepts. */
export function json<T>(expected: string, is: (value: unknown) => value is T): Decoder<T> {
  return scalar(expected, (value) => (is(value) ? value : undefined));
}

/** `json` or `jsonb` of any form, null included. */
export const anyJson = scalar<unknown>('JSON', (value) => value);

const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?\d+(\.\d+)?$/;

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The type of a value without the value itself, which may be a secret. */
function describeType(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a timestamp';
  if (Buffer.isBuffer(value)) return 'bytes';
  if (typeof value === 'string') return 'text';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
