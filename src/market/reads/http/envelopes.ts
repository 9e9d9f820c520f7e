// Defines the schemas of the response envelopes, `{data, pagination}` and `{error}`, and the descriptions of the error statuses in the OpenAPI
// document. Reads paging cursors.

import type { TSchema } from 'typebox';
import Type from 'typebox';
import { CURSOR_LENGTH_MAX, openCursor } from '../../../platform/core/cursor.ts';
import type { ServiceError } from '../../../platform/core/errors.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { createResponseTable } from '../../../platform/http/response-table.ts';
import { closed, ref, typeOrNull } from '../../../platform/http/schema-builders.ts';

/**
 * The schema of `{data, pagination}`: `data` has rows of the component schema `schemaId`, and `members` are added to the envelope. `rows`
 * replaces the example of the component schema.
 */
export const pageOf = (
  schemaId: string,
  { members = {}, rows }: { members?: Record<string, TSchema>; rows?: readonly object[] } = {},
) =>
  Type.Object(
    {
      data: Type.Array(ref<unknown>(schemaId), {
        description: 'The rows of this page.',
        ...(rows && { examples: [rows] }),
      }),
      pagination: ref('Pagination'),
      ...members,
    },
    { description: 'A page.', ...closed },
  );

export const PaginationSchema = Type.Object(
  {
    nextCursor: typeOrNull<string>('string', 'Opaque cursor of the next page; null on the last one.'),
    hasMore: Type.Boolean({
      description: 'True when there is a next page. A short or empty page does not mean that the list has ended.',
    }),
  },
  {
    $id: 'Pagination',
    title: 'Pagination',
    description: 'Where the next page of a list begins.',
    examples: [{ nextCursor: 'mJ1t0Zs7nW5XUVx6Zx0lVzI1', hasMore: true }],
    ...closed,
  },
);

export const pageQuery = {
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: CURSOR_LENGTH_MAX,
      description: 'The `nextCursor` of the previous page, unchanged.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Rows per page.' })),
};
export type PageQuery = { cursor?: string; limit: number };

/**
 * The payload of a paging cursor that was issued for `scope`. Throws `bad_request` for any other text. `list` names the list in the
 * message.
 */
export function readCursor(secret: Buffer, { scope, list }: { scope: string; list: string }, cursor: string): string {
  const payload = openCursor(secret, scope, cursor);
  if (payload === null) throw invalidCursor(list);
  return payload;
}

export function invalidCursor(list: string): ServiceError {
  return parameterError('cursor', `is not a cursor of ${list}`);
}

const ERROR_CODES = [
  'bad_request',
  'not_found',
  'method_not_allowed',
  'rate_limited',
  'upstream_error',
  'unavailable',
  'internal_error',
];

/** `codes`: the error codes of the interface in addition to those of all public interfaces. */
/** `fields`: what the error has besides code and message. */
export const errorSchemaWith = (codes: readonly string[], fields: Readonly<Record<string, TSchema>> = {}) =>
  Type.Object(
    {
      error: Type.Object(
        {
          code: Type.Unsafe<string>({
            type: 'string',
            enum: [...ERROR_CODES, ...codes],
            description: 'The kind of error.',
          }),
          message: Type.String({ description: 'A text for people: what is wrong and how to correct it.' }),
          ...fields,
        },
        { description: 'The error.', ...closed },
      ),
    },
    { $id: 'Error', title: 'Error', description: 'The body of every response that is not a success.', ...closed },
  );

const errorResponses = createResponseTable({
  descriptions: {
    400: 'A path or query parameter is not valid (`bad_request`).',
    404: 'Not found (`not_found`).',
    410: 'The offset names events that are no longer kept, or that are not in the log (`gone`).',
    429: 'The rate limit is exhausted (`rate_limited`). Requests for lists share one limit, and requests for all other endpoints share another.',
    500: 'Something went wrong inside the service (`internal_error`).',
    502: 'The index cannot be read (`upstream_error`).',
    503: 'The service cannot reach its database (`unavailable`).',
  },
  always: [429, 500, 503],
  envelope: 'Error',
});

export function marketResponses(success: object, ...errors: (400 | 404 | 410 | 502)[]): Record<string, object> {
  return {
    ...errorResponses(200, success, ...errors),
    304: { description: 'The ETag in `If-None-Match` is that of the current response.', type: 'null' },
  };
}
