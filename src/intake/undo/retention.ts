// Deletes the recorded changes of old imports, so that they do not grow without limit.

import type { Statements } from '../../platform/database/port.ts';
import { deleteImportChanges } from '../queries/import-changes.ts';
import { listOldImports, updateUndoDeleted } from '../queries/imports.ts';

/** An import can be undone for this long after its start. */
export const UNDO_KEPT_MS = 30 * 24 * 60 * 60_000;

/**
 * Deletes the recorded changes of at most `limit` imports that began more than UNDO_KEPT_MS before `now`. The imports stay in the list.
 * Returns the number of imports whose changes were deleted.
 */
export async function deleteOldChanges(
  { main, indexer }: Record<'main' | 'indexer', Statements>,
  now: number,
  limit: number,
): Promise<number> {
  const ids = await listOldImports(main, now - UNDO_KEPT_MS, limit);
  if (ids.length === 0) return 0;
  await deleteImportChanges(indexer, 'indexer', ids);
  await deleteImportChanges(main, 'main', ids);
  await updateUndoDeleted(main, ids);
  return ids.length;
}
