// Paging cursors of the adjustment and delivery logs. A cursor is valid only for the list and the filters for which it was issued.

import { openCursor, sealCursor } from '../../core/cursor.ts';
import { ServiceError } from '../../core/errors.ts';
import type { StoreRoutesContext } from './context.ts';

type CursorContext = Pick<StoreRoutesContext, 'cursorSecret'>;

/**
 * Returns the position that the cursor holds, or null when `cursor` is undefined. `scope` identifies the list and its filters. Throws
 * `bad_request` for a cursor that is invalid or was issued for another scope.
 */
export function openStoreCursor({ cursorSecret }: CursorContext, scope: string, cursor?: string): string | null {
  if (cursor === undefined) return null;
  const position = openCursor(cursorSecret, scope, cursor);
  if (position !== null) return position;
  throw new ServiceError('bad_request', 'Invalid query parameters', {
    details: [{ path: 'cursor', message: 'must be a nextCursor of this list with the same filters' }],
  });
}

export function sealStoreCursor({ cursorSecret }: CursorContext, scope: string, position: string | null) {
  return position === null ? null : sealCursor(cursorSecret, scope, position);
}
