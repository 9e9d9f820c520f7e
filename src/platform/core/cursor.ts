// Page cursors: opaque, URL-safe and authenticated. A cursor is valid in one scope (endpoint, collection, chain and sort order).

import { createHmac, timingSafeEqual } from 'node:crypto';

const TAG_BYTES = 16;
/**
 * Enough for the longest payload: the id of a collection, and the values that it is sorted by. An id has up to 500 UTF-16 units, at most
 * 1,500 bytes in UTF-8.
 */
export const CURSOR_LENGTH_MAX = 2_400;

/** `payload` is well-formed text of 1 to 1,784 bytes in UTF-8. Throws for a longer payload. */
export function sealCursor(secret: Buffer, scope: string, payload: string): string {
  const body = Buffer.from(payload, 'utf8');
  const cursor = Buffer.concat([tagOf(secret, scope, body), body]).toString('base64url');
  if (cursor.length > CURSOR_LENGTH_MAX) throw new RangeError(`a cursor has ${cursor.length} characters`);
  return cursor;
}

/** The payload of a cursor that `sealCursor` made with the same secret and scope. Null for any other text. */
export function openCursor(secret: Buffer, scope: string, cursor: string): string | null {
  if (cursor.length > CURSOR_LENGTH_MAX) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  // `Buffer.from` ignores padding, stray characters and unused bits, so several texts decode to the same bytes. Only the text that
  // `sealCursor` returned is accepted.
  if (bytes.length <= TAG_BYTES || bytes.toString('base64url') !== cursor) return null;
  const body = bytes.subarray(TAG_BYTES);
  return timingSafeEqual(bytes.subarray(0, TAG_BYTES), tagOf(secret, scope, body)) ? body.toString('utf8') : null;
}

function tagOf(secret: Buffer, scope: string, body: Buffer): Buffer {
  const scopeBytes = Buffer.from(scope, 'utf8');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(scopeBytes.length);
  return createHmac('sha256', secret).update(length).update(scopeBytes).update(body).digest().subarray(0, TAG_BYTES);
}
