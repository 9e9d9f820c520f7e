// Divides the rows of a recorded change by what an undo does with them.

import type { ChangedRow, RowImage } from '../queries/import-changes.ts';

/** The rows to delete, by key, and the rows to restore. */
export type RevertedRows = { removed: readonly string[]; restored: readonly RowImage[] };

/** A row that was left as it is, and why. */
export type KeptRow = { key: string; reason: string };

/** `missing`: how many of the rows do not exist any more. `changed`: rows that have changed since the import. */
export function divideRows(
  rows: readonly ChangedRow[],
): RevertedRows & { missing: number; changed: readonly KeptRow[] } {
  const same = rows.filter(({ state }) => state === 'same');
  return {
    removed: same.flatMap(({ key, image }) => (image === null ? [key] : [])),
    restored: same.flatMap(({ key, image }) => (image === null ? [] : [{ key, image }])),
    missing: rows.filter(({ state }) => state === 'missing').length,
    changed: rows.flatMap(({ key, state }) =>
      state === 'changed' ? [{ key, reason: 'has changed since the import' }] : [],
    ),
  };
}
