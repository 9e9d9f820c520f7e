// The errors of query parameters that the schema of an operation cannot describe.

import { ServiceError } from '../../platform/core/errors.ts';
import { isStorable } from '../../platform/core/text.ts';

/** The message for every mistake in a query. `details` names the wrong parameter. */
export const INVALID_QUERY = 'Invalid query parameters';

export function invalidQuery(path: string, message: string): ServiceError {
  return new ServiceError('bad_request', INVALID_QUERY, { details: [{ path, message }] });
}

/** Throws `bad_request` for a text that the database cannot be searched for. */
export function checkSearchable(texts: Readonly<Record<string, string | undefined>>): void {
  const unstorable = Object.entries(texts).find(([, text]) => text !== undefined && !isStorable(text));
  if (unstorable) throw invalidQuery(unstorable[0], 'must be well-formed text without NUL');
}
