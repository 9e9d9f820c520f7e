// The envelope of error responses of the marketplace interface.

import assert from 'node:assert/strict';
import type { RawResponse } from './raw-http.ts';

const CODES: Record<number, string> = {
  400: 'bad_request',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'bad_request',
  429: 'rate_limited',
  431: 'bad_request',
};

/** Internal details: a stack, a file, SQL, an engine, an address, the name of an error class. */
const INSIDE =
  /\bat .+:\d+|node_modules|file:|\.[jt]s\b|\/(tmp|home|usr|var|work|src)\/|\b(select|insert|update|delete)\b.+\b(from|into|set|where)\b|postgres|pglite|fastify|127\.0\.0\.1|localhost|::1|ECONN|[A-Z][a-z]+Error\b/i;

/** Fails unless the response has one of the statuses and the envelope as its complete body, without internal details. */
export function assertErrorEnvelope(answer: RawResponse, statuses: number | readonly number[], what: string): void {
  const { status, headers, body } = answer;
  const said = `${what.slice(0, 200)}: ${status} ${body.slice(0, 300)}`;
  assert.ok([statuses].flat().includes(status), said);
  assert.match(headers['content-type'] ?? '', /^application\/json(; charset=utf-8)?$/, said);
  assert.equal(headers['cache-control'], 'no-store', said);
  const envelope = JSON.parse(body) as { error: { code: string; message: string } };
  assert.deepEqual(Object.keys(envelope), ['error'], said);
  assert.deepEqual(Object.keys(envelope.error), ['code', 'message'], said);
  assert.equal(envelope.error.code, CODES[status], said);
  assert.ok(envelope.error.message.length > 0, said);
  assert.doesNotMatch(body, INSIDE, said);
}
