// Reads JSON bodies field by field, with a table of readers. Invalid and unknown fields are reported by name, up to a limit.

import type { ErrorDetail } from '../platform/core/errors.ts';
import { isJsonObject } from '../platform/core/json-text.ts';
import { countCharacters, isStorable } from '../platform/core/text.ts';

export type ParsedBody<T> = { ok: true; value: T } | { ok: false; details: ErrorDetail[] };

/** Why a value is invalid. `reason` completes a sentence that begins with the name of the field: `must be a string`. */
export class InvalidValue {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

export type FieldReader<T> = (value: unknown) => T | InvalidValue;
export type FieldReaders<T extends object> = { readonly [K in keyof T]-?: FieldReader<T[K]> };

export const DETAILS_MAX = 50;

/**
 * Reads the fields of a body. A field that the body does not have is absent from the result. Unknown fields are invalid, so that a misspelt
 * field is not ignored. `noun` names the object in errors, such as `a product`.
 */
export function parseBodyFields<T extends object>(
  body: unknown,
  readers: FieldReaders<T>,
  noun: string,
): ParsedBody<Partial<T>> {
  if (!isJsonObject(body)) return { ok: false, details: [{ path: '', message: 'must be a JSON object' }] };
  const table: Readonly<Record<string, FieldReader<unknown>>> = readers;
  const details: ErrorDetail[] = [];
  const value: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(body)) {
    const reader = Object.hasOwn(table, name) ? table[name] : undefined;
    const read = reader ? reader(given) : new InvalidValue(`is not a field of ${noun}`);
    if (read instanceof InvalidValue) details.push({ path: name, message: read.reason });
    else value[name] = read;
    if (details.length >= DETAILS_MAX) break;
  }
  return details.length > 0 ? { ok: false, details } : { ok: true, value: value as Partial<T> };
}

/** Reads text of `lengthMin` to `lengthMax` characters (code points) that the database can store. */
export function readTextField(value: unknown, lengthMin: number, lengthMax: number): string | InvalidValue {
  if (typeof value !== 'string') return new InvalidValue('must be a string');
  if (!isStorable(value)) return new InvalidValue('must be well-formed text without NUL');
  // A character has at most two units, so a much longer text is not counted.
  const length = value.length > 2 * lengthMax ? value.length : countCharacters(value);
  if (length < lengthMin || length > lengthMax)
    return new InvalidValue(`must be ${lengthMin} to ${lengthMax} characters long`);
  return value;
}

export function readBooleanField(value: unknown): boolean | InvalidValue {
  return typeof value === 'boolean' ? value : new InvalidValue('must be true or false');
}
