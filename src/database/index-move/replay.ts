// Copies the rows whose keys the source has recorded since the move began. A row is copied as it is now, so copying a change twice does no harm.

import { setExactText } from '../backup/catalogue.ts';
import type { Database, Queryable } from '../port.ts';
import { list, rowDecoder, safeInteger, text } from '../rows.ts';
import type { Key } from './rows.ts';
import { deleteRows, insertRows, readRows } from './rows.ts';
import type { MoveState } from './state.ts';
import { lockRunner } from './state.ts';
import type { MovedTable } from './tables.ts';

/** One transaction copies at most this many changes. While it reads them, the embedded engine runs no other statement. */
const CHANGES_MAX = { postgresql: 5_000, embedded: 500 };
/** One statement removes at most this many records. */
const RECORDS_DELETED_MAX = 50_000;
export const SNAPSHOT = `set transaction isolation level repeatable read read only`;

/** `keys`: by table, the keys of the rows that have changed, each key once. `seqs`: the numbers of the records of the changes. */
export type RecordedChanges = { seqs: readonly number[]; keys: ReadonlyMap<string, readonly Key[]> };

const decodeChange = rowDecoder('index_move.change', { seq: safeInteger, table: text, key: list(text) });

/** Copies at most CHANGES_MAX changes, and removes their records. Returns their number. */
export async function replayChanges({ source, target, tables, state }: ReplayContext): Promise<number> {
  const changes = await source.transaction(async (tx) => {
    // The records and the rows are read from one snapshot, so that the rows have every change whose record is read.
    await tx.query(SNAPSHOT);
    await setExactText(tx);
    return replayFrom(tx, { target, tables, state }, { after: 0, limit: CHANGES_MAX[source.engine] });
  });
  await deleteRecords(source, changes.seqs);
  return changes.seqs.length;
}

export type ReplayContext = { source: Database; target: Database; tables: readonly MovedTable[]; state: MoveState };

/**
 * Copies all changes that the snapshot of `tx` has, so that the target has the same rows as the snapshot. Returns the numbers of their
 * records, which the caller removes. `onPart` receives the number of changes of each part.
 */
export async function replaySnapshot(
  tx: Queryable,
  context: Omit<ReplayContext, 'source'>,
  { onPart }: { onPart: (changes: number) => Promise<void> },
): Promise<readonly number[]> {
  const seqs: number[] = [];
  for (;;) {
    const changes = await replayFrom(tx, context, { after: seqs.at(-1) ?? 0, limit: CHANGES_MAX.postgresql });
    for (const seq of changes.seqs) seqs.push(seq);
    await onPart(changes.seqs.length);
    if (changes.seqs.length < CHANGES_MAX.postgresql) return seqs;
  }
}

async function replayFrom(
  tx: Queryable,
  { target, tables, state }: Omit<ReplayContext, 'source'>,
  range: { after: number; limit: number },
): Promise<RecordedChanges> {
  const changes = await readChanges(tx, range);
  if (changes.seqs.length === 0) return changes;
  await target.transaction(async (targetTx) => {
    await setExactText(targetTx);
    await lockRunner(targetTx, state);
    // All rows are deleted before any row is inserted, so that an inserted row does not conflict with a row that is to be deleted.
    for (const table of tables) {
      const keys = changes.keys.get(table.name);
      if (keys) await deleteRows(targetTx, table, keys);
    }
    for (const table of tables) {
      const keys = changes.keys.get(table.name);
      if (!keys) continue;
      const batch = await readRows(tx, table, keys);
      // The rows are as in the snapshot, so they can have changes whose records are in later parts. For example, a row has taken a unique value
      // that another row gave up, and the target still has the other row with this value. `insertRows` leaves such a row out. The records of
      // both changes are in later parts, which copy the two rows again.
      if (batch.rows > 0) await insertRows(targetTx, table, batch);
    }
  });
  return changes;
}

/** The first `limit` recorded changes after the record `after`. */
export async function readChanges(
  source: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<RecordedChanges> {
  const rows = await source.query(
    `select seq, table_name as table, key from index_move.change where seq > $1 order by seq limit ${limit}`,
    [after],
  );
  return toChanges(rows.map(decodeChange));
}

function toChanges(rows: readonly { seq: number; table: string; key: Key }[]): RecordedChanges {
  const byTable = new Map<string, Map<string, Key>>();
  for (const { table, key } of rows) {
    const keys = byTable.get(table) ?? new Map<string, Key>();
    byTable.set(table, keys.set(JSON.stringify(key), key));
  }
  return {
    seqs: rows.map(({ seq }) => seq),
    keys: new Map([...byTable].map(([table, keys]) => [table, [...keys.values()]])),
  };
}

/** Removes the records of changes that the target has. */
export async function deleteRecords(source: Queryable, seqs: readonly number[]): Promise<void> {
  for (let start = 0; start < seqs.length; start += RECORDS_DELETED_MAX) {
    const part = seqs.slice(start, start + RECORDS_DELETED_MAX);
    await source.query(`delete from index_move.change where seq = any($1::bigint[])`, [part]);
  }
}
