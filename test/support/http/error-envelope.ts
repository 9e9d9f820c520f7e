// Checks of error responses of the marketplace interface.

import assert from 'node:assert/strict';
import type { RawResponse } from './raw-http.ts';

const CODES: Record<number, string> = {
  400: 'bad_request',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'bad_request',
  429: 'rate_limited',
  431: 'bad_request',
  503: 'unavailable',
};

/** Internal details: a stack trace, a file name, SQL, the name of a library, a network address, the name of an error class. */
const INTERNAL_DETAILS =
  /\bat .+:\d+|node_modules|file:|\.[jt]s\b|\/(tmp|home|usr|var|work|src)\/|\b(select|insert|update|delete)\b.+\b(from|into|set|where)\b|postgres|pglite|fastify|127\.0\.0\.1|localhost|::1|ECONN|[A-Z][a-z]+Error\b/i;

/** Fails unless the response has one of the statuses and the error envelope as its body. Also fails if the body has internal details. */
export function assertErrorEnvelope(response: RawResponse, statuses: number | readonly number[], what: string): void {
  const { status, headers, body } = response;
  const summary = `${what.slice(0, 200)}: ${status} ${body.slice(0, 300)}`;
  assert.ok([statuses].flat().includes(status), summary);
  assert.match(headers['content-type'] ?? '', /^application\/json(; charset=utf-8)?$/, summary);
  assert.equal(headers['cache-control'], 'no-store', summary);
  const envelope = JSON.parse(body) as { error: { code: string; message: string } };
  assert.deepEqual(Object.keys(envelope), ['error'], summary);
  assert.deepEqual(Object.keys(envelope.error), ['code', 'message'], summary);
  assert.equal(envelope.error.code, CODES[status], summary);
  assert.ok(envelope.error.message.length > 0, summary);
  assert.doesNotMatch(body, INTERNAL_DETAILS, summary);
}
