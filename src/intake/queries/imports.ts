// The list of imports: who imported what and when, and what has been undone. Primary database.

import type { Queryable } from '../../platform/database/port.ts';
import {
  anyJson,
  boolean,
  column,
  nullable,
  oneOf,
  rowDecoder,
  text,
  timestamp,
} from '../../platform/database/rows.ts';

/** `undoing`: an undo has begun and is not complete. `partly undone`: the undo did not revert rows that had changed since the import. */
const UNDO_STATES = ['undoing', 'partly undone', 'undone'] as const;
export type UndoState = (typeof UNDO_STATES)[number];

/** An import at its start. `keyId`: the API key of the import, null if the operator imported. */
type NewImport = {
  id: string;
  keyId: string | null;
  shopId: string | null;
  file: string | null;
  format: string;
  replaces: boolean;
  startedAt: number;
};

/**
 * `endedAt` is null while the import runs, and if its process was killed. `counts`: the counts of the summary, as JSON. `undoKept`: whether
 * the recorded changes of the import, which an undo needs, are still stored.
 */
export type StoredImport = NewImport & {
  keyName: string | null;
  endedAt: number | null;
  error: string | null;
  counts: unknown;
  undoState: UndoState | null;
  undoAt: number | null;
  undoKept: boolean;
};

const decodeImport = rowDecoder('import', {
  id: text,
  keyId: column('key_id', nullable(text)),
  keyName: column('key_name', nullable(text)),
  shopId: column('shop_id', nullable(text)),
  file: nullable(text),
  format: text,
  replaces: boolean,
  startedAt: column('started_at', timestamp),
  endedAt: column('ended_at', nullable(timestamp)),
  error: nullable(text),
  counts: anyJson,
  undoState: column('undo_state', nullable(oneOf(UNDO_STATES))),
  undoAt: column('undo_at', nullable(timestamp)),
  undoKept: column('undo_kept', boolean),
});

const SELECT = `select import.*, api_key.name as key_name from main.import left join main.api_key on api_key.id = import.key_id`;

export async function insertImport(db: Queryable, one: NewImport): Promise<void> {
  await db.query(
    `insert into main.import (id, key_id, shop_id, file, format, replaces, started_at) values ($1, $2, $3, $4, $5, $6, $7)`,
    [one.id, one.keyId, one.shopId, one.file, one.format, one.replaces, new Date(one.startedAt)],
  );
}

export async function updateEndedImport(
  db: Queryable,
  id: string,
  { endedAt, counts, error }: { endedAt: number; counts: object; error: string | null },
): Promise<void> {
  await db.query(`update main.import set ended_at = $2, counts = $3, error = $4 where id = $1`, [
    id,
    new Date(endedAt),
    JSON.stringify(counts),
    error,
  ]);
}

export async function updateUndoState(db: Queryable, id: string, state: UndoState, at: number): Promise<void> {
  await db.query(`update main.import set undo_state = $2, undo_at = $3 where id = $1`, [id, state, new Date(at)]);
}

export async function findImport(db: Queryable, id: string): Promise<StoredImport | null> {
  const [row] = await db.query(`${SELECT} where import.id = $1`, [id]);
  return row ? decodeImport(row) : null;
}

/** The newest imports first. */
export async function listImports(db: Queryable, limit: number): Promise<StoredImport[]> {
  const rows = await db.query(`${SELECT} order by import.id desc limit $1`, [limit]);
  return rows.map(decodeImport);
}

const decodeId = rowDecoder('import', { id: text });

/** The imports that began before `before` and whose recorded changes are still stored. At most `limit`, oldest first. */
export async function listOldImports(db: Queryable, before: number, limit: number): Promise<string[]> {
  const rows = await db.query(
    `select id from main.import where undo_kept and started_at < $1 order by started_at limit $2`,
    [new Date(before), limit],
  );
  return rows.map((row) => decodeId(row).id);
}

export async function updateUndoDeleted(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.query(`update main.import set undo_kept = false where id = any($1)`, [ids]);
}
