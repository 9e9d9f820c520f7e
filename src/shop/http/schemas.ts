// Schemas that all parts of the store interface share: the envelope, pagination, errors, and request headers.

import Type from 'typebox';
import { STORE_SCOPES } from '../keys/scopes.ts';
import { KEYED_ERRORS, createResponseTable } from '../../platform/http/response-table.ts';
import { closed, typeOrNull } from '../../platform/http/schema-builders.ts';

const StorePaginationSchema = Type.Object(
  {
    hasMore: Type.Boolean({ description: 'Whether another page follows.' }),
    nextCursor: typeOrNull<string>('string', 'Opaque cursor of the next page; null on the last page.'),
  },
  {
    $id: 'StorePagination',
    title: 'StorePagination',
    description: 'Whether a list has another page, and the cursor of that page.',
    examples: [{ hasMore: true, nextCursor: 'Hx9mQ2c0S7kz1VqPw5eYt8LrJ3dNfA6u' }],
    ...closed,
  },
);

/** What is wrong with a request, or with a row of a batch. */
export const storeError = Type.Object(
  {
    code: Type.String({ description: 'The error code.' }),
    message: Type.String({ description: 'What is wrong.' }),
    details: Type.Optional(
      Type.Array(
        Type.Object(
          {
            path: Type.String({ description: 'Field or parameter.' }),
            message: Type.String({ description: 'What is wrong with it.' }),
            productId: Type.Optional(
              Type.String({ description: 'The product of the shop that has the value already.' }),
            ),
          },
          closed,
        ),
        { description: 'The invalid fields or parameters.' },
      ),
    ),
  },
  { description: 'The error.', ...closed },
);

const StoreErrorSchema = Type.Object(
  { error: storeError },
  { $id: 'StoreError', title: 'StoreError', description: 'The body of every error response.', ...closed },
);

export const STORE_SCHEMAS = [StorePaginationSchema, StoreErrorSchema];

const ERRORS: Record<number, string> = {
  400: 'The request is not valid; `details` names the invalid fields or parameters.',
  401: 'Missing or invalid API key.',
  403: 'The key lacks the scope of this endpoint.',
  404: "Not found, or not in the caller's shop.",
  409: 'Another request with this Idempotency-Key is running; or the stock is not sufficient, or not the `expected` one; or the reservation has ended.',
  410: 'Changes after this place are no longer kept; `details` names the oldest `after` that works.',
  412: '`If-Match` does not name the current `ETag`.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'Rate limited.',
  500: 'An internal error of the service.',
  503: 'The database did not respond in time: try again after `Retry-After` seconds.',
};

/** The responses of a route: the successful response, the given errors, and the errors of every route. */
export const storeResponses = createResponseTable({
  descriptions: ERRORS,
  always: KEYED_ERRORS,
  envelope: 'StoreError',
});

/** All scopes of the store interface, for its OpenAPI document. */
export const SCOPE_LIST = STORE_SCOPES.map((scope) => `\`${scope}\``).join(', ');

const idempotencyKey = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description:
      'Makes retries safe. A request that is repeated with the same key within 24 hours is not executed again, and gets the first ' +
      'response. Error responses are not stored.',
  }),
);
const ifMatch = Type.Optional(
  Type.String({
    description:
      'One or more ETags, separated by commas, or `*` for any version. If the current ETag is not among them, the response is a 412.',
  }),
);

export const idempotencyHeader = Type.Object({ 'idempotency-key': idempotencyKey });
export const matchHeader = Type.Object({ 'if-match': ifMatch });
export const changeHeaders = Type.Object({ 'idempotency-key': idempotencyKey, 'if-match': ifMatch });
