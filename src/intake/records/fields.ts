// Reads single fields of a raw record: each is of its type and within its bounds, or the record is refused in words that
// name the field. It must never know which fields a kind of record has.

import { parseAmount } from '../../core/amount.ts';
import { JsonNumber } from '../../core/json-text.ts';
import { parseTime } from '../../core/time.ts';

/** Why a record is not taken, in words for the person who sent it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  /** A reason may name a field that the sender made up: it is cut short. */
  constructor(reason: string) {
    super(reason.length <= REASON_MAX ? reason : `${reason.slice(0, REASON_MAX)}…`);
  }
}

/** An object of a raw record, and where in the record it stands: `''` or such as `snapshot.`. */
export type Fields = { readonly values: Readonly<Record<string, unknown>>; readonly path: string };

/** The longest strings of each sort, in characters. Pictures may be data URIs. */
export const NAME_MAX = 500;
export const DESCRIPTION_MAX = 20_000;
export const URL_MAX = 100_000;

const REASON_MAX = 500;
const SHOWN_MAX = 60;
const JSON_DEPTH_MAX = 16;

export function refuse(fields: Fields, name: string, why: string): never {
  throw new Refusal(`${fields.path}${name}: ${why}`);
}

/** The value of a field that must be there. */
export function required<T>(read: (fields: Fields, name: string) => T | null, fields: Fields, name: string): T {
  return read(fields, name) ?? refuse(fields, name, 'is missing');
}

/** A value as it is quoted in a reason: JSON, cut short. What is nested is not quoted: it may be nested very deep. */
export function show(value: unknown): string {
  if (value instanceof JsonNumber)
    return value.text.length <= SHOWN_MAX ? value.text : `${value.text.slice(0, SHOWN_MAX)}…`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}

export function readText(fields: Fields, name: string, lengthMax = NAME_MAX): string | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  if (typeof value !== 'string') return refuse(fields, name, `must be a string, not ${show(value)}`);
  checkText(fields, name, value, lengthMax);
  return value;
}

/** A text that means nothing when it is empty. */
export function readName(fields: Fields, name: string): string | null {
  const text = readText(fields, name);
  return text === '' ? refuse(fields, name, 'must not be empty') : text;
}

/** An amount of base units. A JSON number is refused, because it may have been rounded before it came here. */
export function readAmount(fields: Fields, name: string): bigint | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  if (typeof value !== 'string') {
    return refuse(fields, name, `an amount must be a string of base units, not ${show(value)}`);
  }
  const amount = parseAmount(value);
  return amount ?? refuse(fields, name, `must be an integer of base units from 0 to 2^256-1, not ${show(value)}`);
}

/** A safe integer within bounds. */
export function readInteger(
  fields: Fields,
  name: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {},
): number | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
    return refuse(fields, name, `must be an integer from ${min} to ${max}, not ${show(value)}`);
  }
  return value;
}

/** A finite number from 0 up. */
export function readNumber(fields: Fields, name: string): number | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    return refuse(fields, name, `must be a number from 0 up, not ${show(value)}`);
  }
  return value;
}

export function readBoolean(fields: Fields, name: string): boolean | null {
  const value = fields.values[name] ?? null;
  if (value === null || typeof value === 'boolean') return value;
  return refuse(fields, name, `must be true or false, not ${show(value)}`);
}

/** One of a closed list of words. */
export function readWord<T extends string>(fields: Fields, name: string, words: readonly T[]): T | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  const word = words.find((known) => known === value);
  return word ?? refuse(fields, name, `must be one of ${words.join(', ')}, not ${show(value)}`);
}

/** Milliseconds of an ISO 8601 time with its offset, from 1970 to 9999. */
export function readTime(fields: Fields, name: string): number | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  const ms = typeof value === 'string' ? parseTime(value) : null;
  return ms ?? refuse(fields, name, `must be an ISO 8601 time with Z or an offset, not ${show(value)}`);
}

/** The fields of a nested object. */
export function readFields(fields: Fields, name: string): Fields | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  return isPlainObject(value)
    ? { values: value, path: `${fields.path}${name}.` }
    : refuse(fields, name, `must be an object, not ${show(value)}`);
}

/** An object that is kept as it came: anything that the database would refuse, or a number that was rounded, is refused. */
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
      refuse(fields, name, `must be a string, because the number ${show(value)} may have been rounded`);
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depthLeft === 0) refuse(fields, name, `is nested more than ${JSON_DEPTH_MAX} deep`);
    checkJson({ values: value as Record<string, unknown>, path: `${fields.path}${name}.` }, depthLeft - 1);
  }
}

function checkText(fields: Fields, name: string, text: string, lengthMax: number): void {
  if (text.length > lengthMax) refuse(fields, name, `has ${text.length} characters, more than ${lengthMax}`);
  if (text.includes('\0')) refuse(fields, name, 'must not contain a NUL character');
  if (!text.isWellFormed()) refuse(fields, name, 'must not contain half of a surrogate pair');
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
