// Copies the rows whose keys the source has recorded since the move began. A row is copied as it is now, so a change may be copied again.

import { setExactText } from '../backup/catalogue.ts';
import type { Database, Queryable } from '../port.ts';
import { list, rowDecoder, text } from '../rows.ts';
import type { Key } from './rows.ts';
import { deleteRows, insertRows, readRows } from './rows.ts';
import type { MoveState } from './state.ts';
import { lockRunner } from './state.ts';
import type { MovedTable } from './tables.ts';

/** One transaction copies at most so many changes. While it reads them, the embedded engine runs no other statement. */
const CHANGES_MAX = { postgresql: 5_000, embedded: 500 };
const SNAPSHOT = `set transaction isolation level repeatable read read only`;

/** `keys`: the keys of each table that have changed, each once. `seqs`: the records of the changes. */
type Changes = { seqs: readonly string[]; keys: ReadonlyMap<string, readonly Key[]> };

const decodeChange = rowDecoder('index_move.change', { seq: text, table: text, key: list(text) });

/** Copies at most CHANGES_MAX changes, and removes their records or, if `keepsRecords`, marks them as applied. Returns their number. */
export async function replayChanges(
  { source, target, tables, state }: ReplayContext,
  { keepsRecords }: { keepsRecords: boolean },
): Promise<number> {
  const changes = await source.transaction(async (tx) => {
    // The rows are as the recorded changes have left them, or newer.
    await tx.query(SNAPSHOT);
    await setExactText(tx);
    return replayFrom(tx, { target, tables, state }, { after: '0', limit: CHANGES_MAX[source.engine] });
  });
  await settle(source, changes.seqs, { keepsRecords });
  return changes.seqs.length;
}

export type ReplayContext = { source: Database; target: Database; tables: readonly MovedTable[]; state: MoveState };

/**
 * Copies all changes that the snapshot of `tx` has, so that the target has the same rows as the snapshot. Returns their records, which the
 * caller removes.
 */
export async function replaySnapshot(
  tx: Queryable,
  context: Omit<ReplayContext, 'source'>,
): Promise<readonly string[]> {
  const seqs: string[] = [];
  for (;;) {
    const changes = await replayFrom(tx, context, { after: seqs.at(-1) ?? '0', limit: CHANGES_MAX.postgresql });
    seqs.push(...changes.seqs);
    if (changes.seqs.length < CHANGES_MAX.postgresql) return seqs;
  }
}

async function replayFrom(
  tx: Queryable,
  { target, tables, state }: Omit<ReplayContext, 'source'>,
  { after, limit }: { after: string; limit: number },
): Promise<Changes> {
  const rows = await tx.query(
    `select seq::text, table_name as table, key from index_move.change
     where not applied and seq > $1 order by index_move.change.seq limit ${limit}`,
    [after],
  );
  const changes = toChanges(rows.map(decodeChange));
  if (changes.seqs.length === 0) return changes;
  await target.transaction(async (targetTx) => {
    await setExactText(targetTx);
    await lockRunner(targetTx, state);
    // Rows are deleted in all tables before any is inserted, for the unique constraints.
    for (const table of tables) {
      const keys = changes.keys.get(table.name);
      if (keys) await deleteRows(targetTx, table, keys);
    }
    for (const table of tables) {
      const keys = changes.keys.get(table.name);
      if (!keys) continue;
      const batch = await readRows(tx, table, keys);
      if (batch.rows > 0) await insertRows(targetTx, table, batch, { ignoresConflicts: false });
    }
  });
  return changes;
}

function toChanges(rows: readonly { seq: string; table: string; key: Key }[]): Changes {
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

/** Removes the records of changes that the target has, or marks them as applied. */
export async function settle(
  source: Queryable,
  seqs: readonly string[],
  { keepsRecords }: { keepsRecords: boolean },
): Promise<void> {
  const sql = keepsRecords ? `update index_move.change set applied = true` : `delete from index_move.change`;
  if (seqs.length > 0) await source.query(`${sql} where seq = any($1::bigint[])`, [seqs]);
}

/** The keys that were recorded, each once, at most `limit` after the key `after` of the same table. */
export async function listRecordedKeys(
  source: Queryable,
  table: MovedTable,
  { after, limit }: { after: Key | null; limit: number },
): Promise<Key[]> {
  const rows = await source.query(
    `select distinct key from index_move.change where table_name = $1 and ($2::text[] is null or key > $2) order by key limit ${limit}`,
    [table.name, after],
  );
  return rows.map((row) => decodeKey(row).key);
}

const decodeKey = rowDecoder('index_move.change', { key: list(text) });
