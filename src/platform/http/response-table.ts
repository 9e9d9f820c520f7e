// Makes the table of a route's responses for the OpenAPI document: the successful response, and the errors in the envelope of the interface.

import { RATE_LIMIT_HEADERS } from './openapi.ts';

export type ErrorResponses = {
  /** What each status means in this interface. */
  descriptions: Readonly<Record<number, string>>;
  /** The error statuses that every route of the interface can return. */
  always: readonly number[];
  /** The `$id` of the schema of an error. */
  envelope: string;
};

/** The error statuses of every route with API keys. */
export const KEYED_ERRORS: readonly number[] = [400, 401, 403, 429, 500, 503];

/** Returns the function that makes the response table of a route. */
export function createResponseTable({ descriptions, always, envelope }: ErrorResponses) {
  const toResponse = (status: number) => ({
    description: descriptions[status],
    ...(status === 429 && { headers: RATE_LIMIT_HEADERS }),
    content: { 'application/json': { schema: { $ref: `${envelope}#` } } },
  });
  return (status: number, success: object, ...errors: number[]): Record<string, object> => ({
    [status]: success,
    ...Object.fromEntries([...errors, ...always].map((error) => [error, toResponse(error)])),
  });
}
