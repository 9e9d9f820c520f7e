// How rows of one kind are landed in one statement, and what became of them. It must never know what the rows mean.

import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from './port.ts';

/** The sum of the three is the number of rows given. */
export type UpsertCounts = { inserted: number; updated: number; unchanged: number };

export type Upsert<R> = {
  /** The identity of a row, as text. Rows are written in its order, so that two writers cannot lock each other out. */
  keyOf: (row: R) => string;
  /** What the database would hold after `earlier` and then `later`: the rule of the statement, for rows of one batch. */
  fold: (earlier: R, later: R) => R;
  /** The row by column name, amounts and times as text. */
  toColumns: (row: R) => Record<string, unknown>;
  /**
   * Common table expressions over `json_to_recordset($1)`. The one named `landed` writes, and returns `inserted` for each
   * row that it wrote and nothing for the others: `xmax = 0`, because only a row version that an update made has an xmax.
   */
  sql: string;
};

/** Lands any number of rows in one statement; an identity may be among them more than once. */
export async function upsertRows<R>(tx: Queryable, rows: readonly R[], upsert: Upsert<R>): Promise<UpsertCounts> {
  if (rows.length === 0) return { inserted: 0, updated: 0, unchanged: 0 };
  const folded = foldRows(rows, upsert);
  const [found] = await tx.query<{ inserted: number; written: number }>(
    `with ${upsert.sql}
     select count(*) filter (where inserted)::int as inserted, count(*)::int as written from landed`,
    [JSON.stringify(folded.rows.map(upsert.toColumns))],
  );
  const inserted = found?.inserted ?? 0;
  const updated = (found?.written ?? 0) - inserted + folded.changes;
  return { inserted, updated, unchanged: rows.length - inserted - updated };
}

/** One row an identity, in the order of identities, and how many of the rows folded away told something new. */
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
  const sorted = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1));
  return { rows: sorted.map(([, row]) => row), changes };
}

/** The text that a timestamptz column reads. */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** `stored.a, stored.b` for `a, b`: the columns of one side of an upsert. */
export function columnsOf(side: 'stored' | 'excluded', columns: readonly string[]): string {
  return columns.map((column) => `${side}.${column}`).join(', ');
}
