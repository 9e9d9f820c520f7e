// Undoes one import, the newest change first, with one transaction for each change. The changes in the indexer are undone before the
// changes in the primary database. The record of an undone change is deleted, so a call after an interrupted undo
// continues with the changes that are left.

import type { OnChanged } from '../../platform/core/collection-versions.ts';
import type { Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { Deadline } from '../../platform/core/deadline.ts';
import { OperatorError } from '../../platform/core/errors.ts';
import type { Database } from '../../platform/database/port.ts';
import { repeatAborted } from '../../platform/database/port.ts';
import { deriveHistory } from '../../market/reads/derive-history.ts';
import type { ImportSchema } from '../queries/import-changes.ts';
import { closeImportLog, findLastChange, listChangedRows } from '../queries/import-changes.ts';
import type { StoredImport, UndoState } from '../queries/imports.ts';
import { findImport, updateUndoState } from '../queries/imports.ts';
import type { TrackedKind } from '../queries/tracked-tables.ts';
import type { RecordKind } from '../records/kinds.ts';
import { readUndoableRows } from './list-imports.ts';
import type { KeptRow } from './divided-rows.ts';
import { divideRows } from './divided-rows.ts';
import type { UndoneChange } from './undo-change.ts';
import { undoLastChange } from './undo-change.ts';

export type UndoContext = {
  main: Database;
  indexer: Database;
  chains: Chains;
  clock: Clock;
  onChanged: OnChanged;
  copyCatalog: () => Promise<void>;
};

/** The numbers of rows that an undo deleted, restored, did not find, and did not revert. */
export type UndoCounts = { removed: number; restored: number; missing: number; kept: number };

/**
 * How far an undo has come. The changes of `schema` whose number is below `before` are next. If `before` is null, all changes of `schema`
 * are next.
 */
export type UndoPosition = { schema: ImportSchema; before: number | null };

/**
 * The result of one part of an undo. `next`: where the next part continues, null after the last part. `kept`: the rows that were not
 * reverted, at most KEPT_SHOWN_MAX. `state` is null in a dry run, and in all parts before the last part.
 */
export type UndoPart = {
  id: string;
  rows: Partial<Record<RecordKind, UndoCounts>>;
  kept: { kind: RecordKind; row: string; reason: string }[];
  next: UndoPosition | null;
  state: UndoState | null;
};

/** The most rows that `kept` lists in one part of an undo. */
const KEPT_SHOWN_MAX = 20;

const START: UndoPosition = { schema: 'indexer', before: null };

/**
 * Undoes the changes from `position` on, for about `budgetMs`. The first part closes the import, so that it cannot store more rows. Throws
 * OperatorError if there is no such import, or its changes are no longer recorded.
 */
export async function undoPart(
  context: UndoContext,
  id: string,
  { position = START, budgetMs }: { position?: UndoPosition; budgetMs: number },
): Promise<UndoPart> {
  await requireUndoable(context, id);
  if (position.schema === 'indexer' && position.before === null) await begin(context, id);
  const tally = new UndoTally(id);
  const touched = new Set<string>();
  const deadline = Deadline.after(budgetMs);
  let { schema, before } = position;
  try {
    do {
      const undone = await undoOne(context, { importId: id, schema, before });
      if (undone) {
        tally.add(undone);
        for (const collectionId of undone.collectionIds) touched.add(collectionId);
        before = undone.seq;
      } else if (schema === 'indexer') {
        schema = 'main';
        before = null;
      } else return tally.part(null, await end(context, id));
    } while (!deadline.hasPassed);
  } finally {
    const derived = await deriveHistory(context, [...touched]);
    if (derived.length > 0) context.onChanged({ collectionIds: new Set(derived), kinds: new Set(['listing']) });
  }
  return tally.part({ schema, before }, null);
}

/** Returns what an undo would do now. Changes nothing. */
export async function previewUndo(context: UndoContext, id: string): Promise<UndoPart> {
  await requireUndoable(context, id);
  const tally = new UndoTally(id);
  for (const schema of ['indexer', 'main'] as const) {
    // An undo first restores the rows of later changes. When it reaches an earlier change of such a row, the row is as that change left
    // it. So the row counts as `same`.
    const restored = new Set<string>();
    let before: number | null = null;
    for (;;) {
      const change = await findLastChange(context[schema], schema, { importId: id, before });
      if (!change) break;
      before = change.seq;
      const rows = (await listChangedRows(context[schema], id, change)).map((row) =>
        restored.has(`${change.kind} ${row.key}`) ? { ...row, state: 'same' as const } : row,
      );
      const divided = divideRows(rows);
      for (const { key } of divided.restored) restored.add(`${change.kind} ${key}`);
      tally.add({
        ...change,
        removed: divided.removed.length,
        restored: divided.restored.length,
        missing: divided.missing,
        kept: [...divided.changed],
      });
    }
  }
  return tally.part(null, null);
}

async function requireUndoable({ main }: UndoContext, id: string): Promise<StoredImport> {
  const stored = await findImport(main, id);
  if (!stored) throw new OperatorError(`there is no import ${JSON.stringify(id)}; see mercat imports list`);
  if (!stored.undoKept) {
    throw new OperatorError(`the changes of ${id} are no longer recorded, because the import is too old`);
  }
  return stored;
}

async function begin({ main, indexer, clock }: UndoContext, id: string): Promise<void> {
  await updateUndoState(main, id, 'undoing', clock());
  await closeImportLog(main, 'main', id);
  await closeImportLog(indexer, 'indexer', id);
}

async function end(context: UndoContext, id: string): Promise<UndoState> {
  const left = await readUndoableRows(context, [id]);
  const state = left.has(id) ? 'partly undone' : 'undone';
  await updateUndoState(context.main, id, state, context.clock());
  return state;
}

/** The kinds of rows of which the indexer has a copy or a figure. */
const COPIED_KINDS: ReadonlySet<TrackedKind> = new Set(['collection', 'order', 'bid']);

/** Undoes one change and reports it, so that cached responses and the copied catalog are updated. */
async function undoOne(
  context: UndoContext,
  position: { importId: string; schema: ImportSchema; before: number | null },
): Promise<UndoneChange | null> {
  const { chains, clock, onChanged, copyCatalog } = context;
  const db = context[position.schema];
  const undone = await repeatAborted(() =>
    db.transaction((tx) => undoLastChange(tx, position, { chains, now: clock() })),
  );
  if (!undone || undone.removed + undone.restored === 0) return undone;
  if (COPIED_KINDS.has(undone.kind)) await copyCatalog();
  onChanged({ collectionIds: new Set(undone.collectionIds), kinds: new Set([undone.kind]) });
  return undone;
}

/** Adds up the rows of one part by kind. Rows of the kind `coverage` are not counted, because they are not records. */
class UndoTally {
  readonly #id: string;
  readonly #rows: UndoPart['rows'] = {};
  readonly #kept: UndoPart['kept'] = [];

  constructor(id: string) {
    this.#id = id;
  }

  add({ kind, removed, restored, missing, kept }: Omit<UndoneChange, 'seq' | 'collectionIds'>): void {
    if (!isRecordKind(kind)) return;
    const counts = (this.#rows[kind] ??= { removed: 0, restored: 0, missing: 0, kept: 0 });
    counts.removed += removed;
    counts.restored += restored;
    counts.missing += missing;
    counts.kept += kept.length;
    this.#kept.push(...toShown(kind, kept).slice(0, Math.max(0, KEPT_SHOWN_MAX - this.#kept.length)));
  }

  part(next: UndoPosition | null, state: UndoState | null): UndoPart {
    return { id: this.#id, rows: this.#rows, kept: this.#kept, next, state };
  }
}

function isRecordKind(kind: TrackedKind): kind is RecordKind {
  return kind !== 'coverage';
}

function toShown(kind: RecordKind, kept: readonly KeptRow[]): UndoPart['kept'] {
  return kept.map(({ key, reason }) => ({ kind, row: key.replace('\n', ' '), reason }));
}
