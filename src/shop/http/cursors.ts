// Makes and opens the paging cursors of the adjustment log and the delivery log. A cursor is valid only for the list and the filters for which it was issued. The
// position in a cursor is encrypted. Rows are numbered across all shops, so a readable position would reveal how many rows other shops have.

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { openCursor, sealCursor } from '../../platform/core/cursor.ts';
import type { StoreRoutesContext } from './context.ts';
import { invalidQuery } from './query-errors.ts';

type CursorContext = Pick<StoreRoutesContext, 'cursorSecret'>;

/**
 * Returns the position in the cursor, or null if `cursor` is undefined. `scope` identifies the list and its filters. Throws `bad_request`
 * if the cursor is invalid or was issued for another scope.
 */
export function openStoreCursor({ cursorSecret }: CursorContext, scope: string, cursor?: string): string | null {
  if (cursor === undefined) return null;
  const payload = openCursor(cursorSecret, scope, cursor);
  if (payload !== null) return toPosition(cursorSecret, payload);
  throw invalidQuery('cursor', 'must be a nextCursor of this list with the same filters');
}

export function sealStoreCursor({ cursorSecret }: CursorContext, scope: string, position: string | null) {
  return position === null ? null : sealCursor(cursorSecret, scope, encrypt(cursorSecret, position));
}

const CIPHER = 'aes-256-ctr';
const IV_BYTES = 16;

function encrypt(secret: Buffer, position: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(secret), iv);
  return Buffer.concat([iv, cipher.update(position, 'utf8'), cipher.final()]).toString('base64url');
}

/** Returns the position in an authenticated payload. */
function toPosition(secret: Buffer, payload: string): string {
  const bytes = Buffer.from(payload, 'base64url');
  const decipher = createDecipheriv(CIPHER, keyOf(secret), bytes.subarray(0, IV_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES)), decipher.final()]).toString('utf8');
}

function keyOf(secret: Buffer): Buffer {
  return createHmac('sha256', secret).update('positions in store cursors').digest();
}
