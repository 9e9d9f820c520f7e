// The type of a JSON value in a response or tool result, and functions that read members of JSON objects.

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

export function hasMembers(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member `name` of an object. Null if `value` is no object or has no such member. */
export function memberOf(value: Json | undefined, name: string): Json {
  return hasMembers(value) ? (value[name] ?? null) : null;
}

/** The member `name` of an object. Null if the member is not a string. */
export function textMemberOf(value: Json | undefined, name: string): string | null {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : null;
}
