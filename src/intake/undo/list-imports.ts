// Lists the imports for the operator, each with the number of its rows that an undo can still take back.

import type { Queryable } from '../../platform/database/port.ts';
import { listRecordedRows } from '../queries/import-changes.ts';
import type { StoredImport } from '../queries/imports.ts';
import { listImports } from '../queries/imports.ts';

/** The number of rows of each kind that an undo would take back if none of them has changed since the import. */
type UndoableRows = Record<string, number>;

/**
 * An import in the list, with times in ISO 8601. `by` is the API key that was used for the import. It is null for an import by the operator.
 * `endedAt` is null while the import runs, and if its process was killed. `undoable` is empty if nothing can be undone any more.
 */
export type ListedImport = {
  id: string;
  startedAt: string;
  endedAt: string | null;
  by: { key: string; name: string | null; shop: string | null } | null;
  file: string | null;
  format: string;
  replace: boolean;
  counts: unknown;
  error: string | null;
  undoable: UndoableRows;
  undo: { state: string; at: string | null } | null;
};

/** The newest imports first. */
export async function readImports(
  context: { main: Queryable; indexer: Queryable },
  limit: number,
): Promise<ListedImport[]> {
  const stored = await listImports(context.main, limit);
  const undoable = await readUndoableRows(
    context,
    stored.map(({ id }) => id),
  );
  return stored.map((one) => toListed(one, undoable.get(one.id) ?? {}));
}

/** Counts the rows that can be undone, by import and kind. An import without such rows has no entry. Rows of the kind `coverage` are not counted. */
export async function readUndoableRows(
  { main, indexer }: { main: Queryable; indexer: Queryable },
  importIds: readonly string[],
): Promise<Map<string, UndoableRows>> {
  const rows = [
    ...(await listRecordedRows(main, 'main', importIds)),
    ...(await listRecordedRows(indexer, 'indexer', importIds)),
  ].filter(({ kind }) => kind !== 'coverage');
  const byImport = new Map<string, UndoableRows>();
  for (const { importId, kind, rows: count } of rows) {
    byImport.set(importId, { ...byImport.get(importId), [kind]: count });
  }
  return byImport;
}

function toListed(one: StoredImport, undoable: UndoableRows): ListedImport {
  const { id, startedAt, endedAt, keyId, keyName, shopId, file, format, replaces, counts, error, undoState, undoAt } =
    one;
  const toText = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    id,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: toText(endedAt),
    by: keyId === null ? null : { key: keyId, name: keyName, shop: shopId },
    file,
    format,
    replace: replaces,
    counts,
    error,
    undoable,
    undo: undoState === null ? null : { state: undoState, at: toText(undoAt) },
  };
}
