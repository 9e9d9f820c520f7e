// Upserts many rows in one statement, and counts what changed. The code does not depend on what the rows mean.

import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from './port.ts';
import type { RowColumns } from './row-source.ts';
import { toRowSource } from './row-source.ts';
import { integer, rowDecoder } from './rows.ts';
import type { WriteRecording } from './write-recording.ts';

/** The three counts add up to the number of rows given. */
export type UpsertCounts = { inserted: number; updated: number; unchanged: number };

/** A row that was not written: its index among the rows given, and the reason. */
export type UpsertRejection = { index: number; reason: string };

export type Upsert<R> = {
  /** The identity of a row, as text. Rows are written in the order of these texts, so that two writers cannot deadlock. */
  keyOf: (row: R) => string;
  /** Combines two rows of one batch with the same identity. Returns the row that `sql` would leave if it wrote `earlier`, then `later`. */
  fold: (earlier: R, later: R) => R;
  columns: RowColumns<R>;
  /**
   * Common table expressions. They read the new rows from the expression `incoming`. The expression `before` must have the stored rows as
   * they were. The expression `upserted` must write the rows, and return one row for each inserted or updated row. Its column `inserted` is
   * computed as `xmax = 0`, because only an updated row has an xmax.
   */
  sql: string;
  /** The parameters of `sql` from `$1` on. */
  params?: readonly unknown[];
  /** Records the rows of `upserted`. `sql` must then return what the recording needs. */
  recording?: WriteRecording;
};

const decodeCounts = rowDecoder('upsert', { inserted: integer, written: integer });

/** Writes any number of rows in one statement. Several rows may have the same identity. */
export async function upsertRows<R>(tx: Queryable, rows: readonly R[], upsert: Upsert<R>): Promise<UpsertCounts> {
  if (rows.length === 0) return { inserted: 0, updated: 0, unchanged: 0 };
  const { sql, params = [], recording } = upsert;
  const folded = foldRows(rows, upsert);
  const source = toRowSource(folded.rows, upsert.columns, { first: 1 + params.length });
  const sent = [...params, ...source.params];
  const [found] = await tx.query(
    `with incoming as (select * from ${source.sql}), ${sql} ${recording?.toSql({ written: 'upserted', before: 'before' }, 1 + sent.length) ?? ''}
     select count(*) filter (where inserted)::int as inserted, count(*)::int as written from upserted`,
    [...sent, ...(recording?.params ?? [])],
  );
  if (!found) throw new Error('an upsert returned no counts');
  const { inserted, written } = decodeCounts(found);
  const updated = written - inserted + folded.changes;
  return { inserted, updated, unchanged: rows.length - inserted - updated };
}

/**
 * Returns one row for each identity, sorted by identity. `changes`: the number of rows that changed an earlier row of the same identity.
 */
export function foldRows<R>(
  rows: readonly R[],
  { keyOf, fold }: Pick<Upsert<R>, 'keyOf' | 'fold'>,
): { rows: R[]; changes: number } {
  const byKey = new Map<string, R>();
  let changes = 0;
  for (const row of rows) {
    const key = keyOf(row);
    const earlier = byKey.get(key);
    const kept = earlier === undefined ? row : fold(earlier, row);
    if (earlier !== undefined && !isDeepStrictEqual(earlier, kept)) changes += 1;
    byKey.set(key, kept);
  }
  const sorted: R[] = [];
  for (const key of [...byKey.keys()].sort()) {
    const row = byKey.get(key);
    if (row !== undefined) sorted.push(row);
  }
  return { rows: sorted, changes };
}

/** The time as text that a timestamptz column accepts. */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** `stored.a, stored.b` for `a, b`: the columns of one side of an upsert. */
export function columnsOf(side: 'stored' | 'excluded', columns: readonly string[]): string {
  return columns.map((column) => `${side}.${column}`).join(', ');
}
