// The envelopes of responses: `{data, pagination}` and `{error}`. And the descriptions of the error statuses in the OpenAPI document.

import type { TSchema } from 'typebox';
import Type from 'typebox';
import { openCursor } from '../../core/cursor.ts';
import { ServiceError } from '../../core/errors.ts';
import { createResponseTable } from '../../http/response-table.ts';
import { closed, ref, typeOrNull } from '../../http/schema-builders.ts';

/** `{data, pagination}` of a page of a component schema, with further members of the envelope. */
export const pageOf = (schemaId: string, members: Record<string, TSchema> = {}) =>
  Type.Object(
    {
      data: Type.Array(ref<unknown>(schemaId), { description: 'The rows of this page.' }),
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
  { $id: 'Pagination', title: 'Pagination', description: 'Where a list continues.', ...closed },
);

/** The query parameters of every list. */
export const pageQuery = {
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1000, description: 'The `nextCursor` of a page, unchanged.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Rows per page.' })),
};
export type PageQuery = { cursor?: string; limit: number };

/** The payload of a paging cursor of `scope`. Throws `bad_request` for any other text. `list` names the list in the message. */
export function readCursor(secret: Buffer, { scope, list }: { scope: string; list: string }, cursor: string): string {
  const payload = openCursor(secret, scope, cursor);
  if (payload === null) throw invalidCursor(list);
  return payload;
}

export function invalidCursor(list: string): ServiceError {
  return new ServiceError('bad_request', `Query parameter cursor is not a cursor of ${list}`);
}

export const ErrorSchema = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.Unsafe<string>({
          type: 'string',
          enum: [
            'bad_request',
            'not_found',
            'method_not_allowed',
            'rate_limited',
            'upstream_error',
            'unavailable',
            'internal_error',
          ],
          description: 'What kind of error it is.',
        }),
        message: Type.String({ description: 'For people: what is wrong and how to correct it.' }),
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
    429: 'The rate limit of this bucket is exhausted (`rate_limited`).',
    500: 'Something went wrong inside the service (`internal_error`).',
    502: 'The index cannot be read (`upstream_error`).',
    503: 'The service cannot reach its database (`unavailable`).',
  },
  always: [429, 500, 503],
  envelope: 'Error',
});

/** The responses of a route in the document: its 200, a 304, and the errors. */
export function marketResponses(success: object, ...errors: (400 | 404 | 502)[]): Record<string, object> {
  return {
    ...errorResponses(200, success, ...errors),
    304: { description: 'The caller has the same response already (`If-None-Match`).', type: 'null' },
  };
}
