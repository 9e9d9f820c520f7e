// Reads single fields of a raw record. A wrong type or a value out of bounds rejects the record, with a reason that names the field. This
// file must not know which fields a kind of record has.

import { parseAmount } from '../../platform/core/amount.ts';
import { JsonNumber } from '../../platform/core/json-text.ts';
import { parseTime } from '../../platform/core/time.ts';

/** A record was rejected. The message is the reason, for the person who sent the record. */
export class RecordRejected extends Error {
  override readonly name = 'RecordRejected';

  /** A long reason is cut off, because it may contain a field name of any length. */
  constructor(reason: string) {
    super(clip(reason, REASON_MAX));
  }
}

/**
 * The fields of a raw record, or of an object inside a raw record. `path` is empty for the record, and for example `snapshot.` for an
 * object.
 */
export type Fields = { readonly values: Readonly<Record<string, unknown>>; readonly path: string };

/** The longest text of a field that has no limit of its own, in characters. */
export const NAME_MAX = 500;
/** The longest description, in characters. */
export const DESCRIPTION_MAX = 20_000;
/** The most texts of a list that has no limit of its own. */
export const TEXTS_MAX = 10_000;
/** The longest URL, in characters. A data URI counts as a URL. */
export const URL_MAX = 100_000;

const REASON_MAX = 500;
const QUOTED_VALUE_MAX = 60;
const JSON_DEPTH_MAX = 16;

/** Rejects the record because of one field. The reason quotes the value of the field. */
export function rejectField(fields: Fields, name: string, why: string): never {
  throw new RecordRejected(`${fields.path}${name}: ${withValue(why, fields.values[name])}`);
}

/**
 * Returns the reason with the value in brackets. Adds nothing if the reason quotes the value already, or if the value is an object, an
 * array or absent.
 */
export function withValue(reason: string, value: unknown): string {
  const isNumber = value instanceof JsonNumber;
  if ((value ?? null) === null || (typeof value === 'object' && !isNumber)) return reason;
  const quoted = quoteValue(value);
  return reason.includes(quoted) ? reason : `${reason} (${quoted})`;
}

/** Returns the value of a field. Rejects the record if the field is absent or null. */
export function requireField<T>(read: (fields: Fields, name: string) => T | null, fields: Fields, name: string): T {
  return read(fields, name) ?? rejectField(fields, name, 'is missing');
}

/**
 * Returns a value as JSON for a reason, cut off if it is long. For an array or object returns only the type, because the value may be
 * deeply nested.
 */
export function quoteValue(value: unknown): string {
  if (value instanceof JsonNumber) return clip(value.text, QUOTED_VALUE_MAX);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return clip(JSON.stringify(value) ?? 'nothing', QUOTED_VALUE_MAX);
}

function clip(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`;
}

export function readText(fields: Fields, name: string, lengthMax = NAME_MAX): string | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  if (typeof value !== 'string') return rejectField(fields, name, `must be a string, not ${quoteValue(value)}`);
  checkText(fields, name, value, lengthMax);
  return value;
}

export function readTexts(fields: Fields, name: string): string[] | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  const isList = Array.isArray(value) && value.every((text): text is string => typeof text === 'string');
  if (!isList) return rejectField(fields, name, `must be an array of strings, not ${quoteValue(value)}`);
  if (value.length > TEXTS_MAX) rejectField(fields, name, `has ${value.length} elements, more than ${TEXTS_MAX}`);
  for (const text of value) checkText(fields, name, text, NAME_MAX);
  return value;
}

/** Reads text. Rejects empty text. */
export function readName(fields: Fields, name: string): string | null {
  const text = readText(fields, name);
  return text === '' ? rejectField(fields, name, 'must not be empty') : text;
}

/** Reads an amount in base units. The field must be a string, because the program that wrote a JSON number may have rounded it. */
export function readAmount(fields: Fields, name: string): bigint | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  if (typeof value !== 'string') {
    return rejectField(fields, name, `an amount must be a string of base units, not ${quoteValue(value)}`);
  }
  checkLeadingZeros(fields, name, value);
  const amount = parseAmount(value);
  return (
    amount ?? rejectField(fields, name, `must be an integer of base units from 0 to 2^256-1, not ${quoteValue(value)}`)
  );
}

const LEADING_ZEROS = /^0+\d/;

/** Rejects an integer with leading zeros, such as `007`: some programs read it as a number, and others as no amount. */
export function checkLeadingZeros(fields: Fields, name: string, text: string): void {
  if (!LEADING_ZEROS.test(text) || !/^\d+$/.test(text)) return;
  rejectField(
    fields,
    name,
    `must be written without leading zeros, not ${quoteValue(text)}; in a column map, "as": "base-amount" removes them`,
  );
}

export function readInteger(
  fields: Fields,
  name: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {},
): number | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
    return rejectField(fields, name, `must be an integer from ${min} to ${max}, not ${quoteValue(value)}`);
  }
  return value;
}

/** Reads a finite number of 0 or more. */
export function readNumber(fields: Fields, name: string): number | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    return rejectField(fields, name, `must be a number of 0 or more, not ${quoteValue(value)}`);
  }
  return value;
}

export function readBoolean(fields: Fields, name: string): boolean | null {
  const value = fields.values[name] ?? null;
  if (value === null || typeof value === 'boolean') return value;
  return rejectField(fields, name, `must be true or false, not ${quoteValue(value)}`);
}

export function readEnum<T extends string>(fields: Fields, name: string, allowed: readonly T[]): T | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  const found = allowed.find((one) => one === value);
  return found ?? rejectField(fields, name, `must be one of ${allowed.join(', ')}, not ${quoteValue(value)}`);
}

const TIME_HINT =
  'in a column map, "as": "utc-time" reads dates, times without offset and epoch times, and "as": "date:MM/DD/YY" reads times of a pattern';

/** Reads an ISO 8601 time with an offset, from 1970 to 9999. Returns milliseconds since the epoch. */
export function readTimestamp(fields: Fields, name: string): number | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  const ms = typeof value === 'string' ? parseTime(value) : null;
  return (
    ms ??
    rejectField(fields, name, `must be an ISO 8601 time with Z or an offset, not ${quoteValue(value)}; ${TIME_HINT}`)
  );
}

export function readFields(fields: Fields, name: string): Fields | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  return isPlainObject(value)
    ? { values: value, path: `${fields.path}${name}.` }
    : rejectField(fields, name, `must be an object, not ${quoteValue(value)}`);
}

/** Reads an object that is stored unchanged. Rejects text that the database cannot store, and numbers that may have been rounded. */
export function readJson(fields: Fields, name: string): Record<string, unknown> | null {
  const nested = readFields(fields, name);
  if (nested === null) return null;
  checkJson(nested, JSON_DEPTH_MAX);
  return nested.values;
}

function checkJson(fields: Fields, depthLeft: number): void {
  for (const [name, value] of Object.entries(fields.values)) {
    checkText(fields, 'a field name', name, NAME_MAX);
    if (typeof value === 'string') checkText(fields, name, value, URL_MAX);
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      rejectField(fields, name, `must be a string, because the number ${quoteValue(value)} may have been rounded`);
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depthLeft === 0) rejectField(fields, name, `is nested more than ${JSON_DEPTH_MAX} levels deep`);
    checkJson({ values: value as Record<string, unknown>, path: `${fields.path}${name}.` }, depthLeft - 1);
  }
}

function checkText(fields: Fields, name: string, text: string, lengthMax: number): void {
  if (text.length > lengthMax) rejectField(fields, name, `has ${text.length} characters, more than ${lengthMax}`);
  if (text.includes('\0')) rejectField(fields, name, 'must not contain a NUL character');
  if (!text.isWellFormed()) rejectField(fields, name, 'must not contain half of a surrogate pair');
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
