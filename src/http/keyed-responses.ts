// The response table of a route that takes a key, for the document: its success, the errors named, and those that any such request
// can meet.

import { RATE_LIMIT_HEADERS } from './openapi.ts';

const ALWAYS = [400, 401, 403, 429, 500, 503];

/** `words`: what each error means on these routes. `envelope`: the schema of an error there. */
export function createResponses(words: Readonly<Record<number, string>>, envelope: string) {
  return (status: number, success: object, ...errors: number[]): Record<string, object> => {
    const codes = [...new Set([...errors, ...ALWAYS])].toSorted((a, b) => a - b);
    const toResponse = (code: number) => ({
      description: words[code],
      ...(code === 429 && { headers: RATE_LIMIT_HEADERS }),
      content: { 'application/json': { schema: { $ref: `${envelope}#` } } },
    });
    return Object.fromEntries([[status, success], ...codes.map((code) => [code, toResponse(code)])]);
  };
}
