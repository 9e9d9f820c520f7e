// Building blocks of the wire schemas of all interfaces. The documentation and the TypeScript types are derived from the schemas.

import type { TSchema } from 'typebox';
import Type from 'typebox';

/** Options of an object schema that allows no undocumented fields. */
export const closed = { additionalProperties: false };

/** A reference to the component schema whose `$id` is `id`. `T` is its static type. */
export const ref = <T>(id: string) => Type.Unsafe<T>({ $ref: `${id}#` });

export const refOrNull = <T>(id: string, description: string) =>
  Type.Unsafe<T | null>({ anyOf: [{ $ref: `${id}#` }, { type: 'null' }], description });

/** A value of a JSON type, or null. The static type must be given, because TypeBox derives none from a list of types. */
export const typeOrNull = <T>(
  type: 'string' | 'number' | 'integer' | 'boolean',
  description: string,
  keywords: object = {},
) => Type.Unsafe<T | null>({ type: [type, 'null'], description, ...keywords });

export const dateTime = (description: string) => Type.String({ format: 'date-time', description });

export const dateTimeOrNull = (description: string) =>
  typeOrNull<string>('string', description, { format: 'date-time' });

/** The envelope of a successful response: the field `data`, and the fields of `members`. */
export const dataOf = (schema: TSchema, members: Record<string, TSchema> = {}) =>
  Type.Object({ data: schema, ...members }, { description: 'Success.', ...closed });
