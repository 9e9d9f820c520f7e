// Divides the rows of a recorded change by what an undo does with them.

import type { ChangedRow, RowImage } from '../queries/import-changes.ts';

/** The keys of the rows to delete, and the rows to restore. */
export type RevertedRows = { removed: readonly string[]; restored: readonly RowImage[] };

/** A row that an undo does not revert, and the reason. */
export type KeptRow = { key: string; reason: string };

/** `missing`: the number of rows that no longer exist. `changed`: the rows that have changed since the import. */
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
