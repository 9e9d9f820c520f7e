// Copies the rows of a table in the order of their keys. Each transaction on the target also records how far the copy is, so that a move
// that was stopped continues with the next row.

import { setExactText } from '../backup/catalogue.ts';
import type { Database, Queryable } from '../port.ts';
import { boolean, list, nullable, rowDecoder, safeInteger, text } from '../rows.ts';
import { exactly } from './compare.ts';
import type { Key, RowBatch } from './rows.ts';
import { insertRows, readBatch } from './rows.ts';
import type { MoveState } from './state.ts';
import { lockRunner } from './state.ts';
import type { MovedTable } from './tables.ts';

/** The approximate size of a batch. While it is read, the embedded engine runs no other statement. */
const BATCH_CHARS = { postgresql: 2_000_000, embedded: 256_000 };
const BATCH_ROWS_FIRST = 50;
const BATCH_ROWS_MAX = 20_000;

type CopyContext = { source: Database; target: Database; state: MoveState };

const decodeProgress = rowDecoder('index_move.progress', {
  after: nullable(list(text)),
  copied: safeInteger,
  complete: boolean,
});

/** `onRows` is called with the number of rows that earlier processes have copied, and then with the number of rows of each batch. */
export async function copyTable(
  context: CopyContext,
  table: MovedTable,
  onRows: (rows: number) => void,
): Promise<void> {
  const { source, target } = context;
  const [row] = await target.query(
    `select after_key as after, copied, complete from index_move.progress where table_name = $1`,
    [table.name],
  );
  const found = row ? decodeProgress(row) : { after: null, copied: 0, complete: false };
  onRows(found.copied);
  if (found.complete) return;
  let limit = BATCH_ROWS_FIRST;
  const read = (range: { after: Key | null; limit: number }) => exactly(source, (tx) => readBatch(tx, table, range));
  let batch = await read({ after: found.after, limit });
  for (;;) {
    const isLast = batch.rows < limit;
    limit = nextLimit(batch, BATCH_CHARS[source.engine]);
    // The next batch is read while this one is written.
    const next = isLast ? null : read({ after: batch.last, limit });
    next?.catch(() => undefined);
    await writeBatch(context, table, { batch, isLast });
    onRows(batch.rows);
    if (next === null) return;
    batch = await next;
  }
}

function nextLimit({ rows, columns }: RowBatch, chars: number): number {
  const size = columns.reduce((sum, column) => sum + column.length, 0);
  return Math.max(1, Math.min(BATCH_ROWS_MAX, Math.floor((chars * rows) / Math.max(1, size))));
}

async function writeBatch(
  { target, state }: CopyContext,
  table: MovedTable,
  { batch, isLast }: { batch: RowBatch; isLast: boolean },
): Promise<void> {
  await target.transaction(async (tx) => {
    await setExactText(tx);
    await lockRunner(tx, state);
    // `insertRows` leaves out a row that conflicts with a copied row. Such a conflict shows that the source has changed since the copied row
    // was read. The replay of the recorded changes (replay.ts) then copies both rows again.
    if (batch.rows > 0) await insertRows(tx, table, batch);
    await tx.query(
      `insert into index_move.progress as stored (table_name, after_key, copied, complete) values ($1, $2, $3, $4)
       on conflict (table_name) do update set after_key = coalesce(excluded.after_key, stored.after_key),
         copied = stored.copied + excluded.copied, complete = excluded.complete`,
      [table.name, batch.last, batch.rows, isLast],
    );
  });
}

const decodeEstimate = rowDecoder('pg_class', { rows: safeInteger });

/** The number of rows of each table. On PostgreSQL an estimate, because counting takes long. */
export async function countRowsOfTables(
  source: Database,
  tables: readonly MovedTable[],
): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const { name, sql } of tables) {
    const estimate = source.engine === 'postgresql' ? await readEstimate(source, sql) : -1;
    rows[name] = estimate >= 0 ? estimate : await readCount(source, sql);
  }
  return rows;
}

/** -1 if the table was never analysed. */
async function readEstimate(source: Queryable, table: string): Promise<number> {
  const [row] = await source.query(`select reltuples::bigint as rows from pg_class where oid = $1::regclass`, [table]);
  return row ? decodeEstimate(row).rows : -1;
}

async function readCount(source: Queryable, table: string): Promise<number> {
  const [row] = await source.query(`select count(*) as rows from ${table}`);
  return row ? decodeEstimate(row).rows : 0;
}
