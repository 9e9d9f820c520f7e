// Decodes the rows that statements return. If a column is missing or has an unexpected type, decoding the row throws an error. Each decoder
// expects the JavaScript type in which the driver `pg` returns the PostgreSQL type.

import type { Address, AssetId } from '../core/address.ts';
import { toKnownAccount } from '../core/sale-text.ts';
import type { Row } from './port.ts';

/** Reads a value as `T`. Returns undefined if the value has another type. */
export type Decoder<T> = {
  /** The type that the decoder accepts, as words for error messages. */
  readonly expected: string;
  /** The column to read, set by `column()`. Default: the name of the field. */
  readonly column?: string;
  decode(value: unknown): T | undefined;
};

type Columns = Readonly<Record<string, Decoder<unknown>>>;
type Decoded<C extends Columns> = { -readonly [K in keyof C]: C[K] extends Decoder<infer T> ? T : never };

/** A column is missing or has an unexpected type, so the statement or the schema does not fit the decoder. */
export class RowError extends Error {
  override readonly name = 'RowError';
}

/**
 * Returns a function that decodes the rows of one table or statement. `source` is the name of this table or statement in error
 * messages. Each field is read from the column with the name of the field, or from the column that `column()` names. Other columns are
 * ignored.
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
 * If a column is missing or has an unexpected type, the function throws a RowError that names the table or statement, the column and the
 * type found.
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

/** Makes `decoder` read the column `name`. Needed if the field and its column have different names. */
export function column<T>(name: string, decoder: Decoder<T>): Decoder<T> {
  return { ...decoder, column: name };
}

/** Accepts SQL null, and the values that `decoder` accepts. */
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

/** Reads `text` and `varchar`. */
export const text = scalar('text', (value) => (typeof value === 'string' ? value : undefined));

/** Reads `boolean`. */
export const boolean = scalar('boolean', (value) => (typeof value === 'boolean' ? value : undefined));

/** Reads `smallint` and `integer`. For `bigint`, use `safeInteger` or `amount`. */
export const integer = scalar('integer', (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined,
);

/**
 * Reads `bigint` (such as `count(*)`) and `numeric` without fraction digits, up to 2^53 - 1. For counts, block numbers and sequence
 * numbers.
 */
export const safeInteger = scalar('integer up to 2^53 - 1', (value) => {
  const number = typeof value === 'string' && INTEGER.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
});

/** Reads `bigint` and `numeric` without fraction digits as an exact `bigint`. For amounts in base units, quantities and counters. */
export const amount = scalar('integer as text', (value) =>
  typeof value === 'string' && INTEGER.test(value) ? BigInt(value) : undefined,
);

/** Reads `real` and `double precision`. */
export const double = scalar('number', (value) => (typeof value === 'number' ? value : undefined));

/** Reads `numeric` and `double precision` as the nearest double. For `extract(epoch ...)`, averages, and sums that may be rounded. */
export const decimal = scalar('number or decimal text', (value) => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : undefined;
});

/** Reads `timestamptz` as milliseconds since the epoch. */
export const timestamp = scalar('timestamp', (value) =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? value.getTime() : undefined,
);

/** Reads `bytea`. */
export const bytes = scalar('bytes', (value) => (Buffer.isBuffer(value) ? value : undefined));

/** Reads an address from `text`. Only empty text is rejected, because addresses are checked before they are written. */
export const address = scalar('address', (value) => (isFilled(value) ? (value as Address) : undefined));

/** Reads the account of a party from `text`. Null for SQL null, and for the zero address, which stands for an unknown account. */
export const knownAccount: Decoder<string | null> = {
  expected: 'text or null',
  decode: (value) => (value === null || typeof value === 'string' ? toKnownAccount(value) : undefined),
};

/** Reads a token id or mint from `text`. Only empty text is rejected, because assets are checked before they are written. */
export const assetId = scalar('token id or mint', (value) => (isFilled(value) ? (value as AssetId) : undefined));

/** Reads `0x` and hexadecimal digits from `text`, such as a hash or a signature. The digits are not checked. */
export const hex = scalar('0x and hexadecimal digits', (value) =>
  typeof value === 'string' && value.startsWith('0x') ? (value as `0x${string}`) : undefined,
);

/** Reads `text` that is one of `values`. */
export function oneOf<const T extends string>(values: readonly T[]): Decoder<T> {
  const known: ReadonlySet<unknown> = new Set(values);
  return scalar(`one of ${values.join(', ')}`, (value) => (known.has(value) ? (value as T) : undefined));
}

/** Reads an SQL array or a JSON array. `element` decodes each of its elements. */
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

/**
 * Reads the text that `textListSql` makes. `element` decodes each value from its text. Use it for lists of thousands of numbers: the driver
 * and the parser need less time for one text than for an array.
 */
export function textList<T>(element: Decoder<T>): Decoder<T[]> {
  const elements = list(element);
  return scalar(`text list of ${element.expected}`, (value) => {
    if (typeof value !== 'string') return undefined;
    if (value === '') return [];
    return elements.decode(value.split(',').map((one) => (one === 'null' ? null : one)));
  });
}

/** The SQL that aggregates the values of `expression` into one text, which `textList` reads. The values must be numbers or null. */
export const textListSql = (expression: string) =>
  `coalesce(array_to_string(array_agg(${expression}), ',', 'null'), '')`;

/**
 * Reads a JSON object, for example from `json_build_object`. Its members are decoded like columns. A time in JSON is text: decode it with
 * `text`.
 */
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

/** Reads a `json` or `jsonb` value that `is` accepts. `expected` describes such a value in error messages. */
export function json<T>(expected: string, is: (value: unknown) => value is T): Decoder<T> {
  return scalar(expected, (value) => (is(value) ? value : undefined));
}

/** Reads any `json` or `jsonb` value. SQL null is accepted too. */
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
