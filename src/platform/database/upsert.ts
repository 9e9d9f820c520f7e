// Upserts many rows in one statement, and counts what changed. The code does not depend on what the rows mean.

import { isDeepStrictEqual } from 'node:util';
import { nextSlice } from '../core/slices.ts';
import type { Queryable } from './port.ts';
import type { EncodedRows, RowColumns } from './row-source.ts';
import { encodeRows, PIECE_ROWS, toSource } from './row-source.ts';
import { integer, rowDecoder } from './rows.ts';
import type { RecordWrites } from './write-recording.ts';

/** The three counts add up to the number of rows given. */
export type UpsertCounts = { inserted: number; updated: number; unchanged: number };

/** A row that was not written: its index among the rows given, and the reason. */
export type UpsertRejection = { index: number; reason: string };

/** How rows are told apart, combined and sent. */
export type RowForm<R> = {
  /** The identity of a row, as text. */
  keyOf: (row: R) => string;
  /**
   * The text by which rows are sorted before they are written. Default: `keyOf`. Two writers of the same rows must not deadlock, so the order must
   * be the same in each of them, unless a lock lets only one of them write at a time.
   */
  orderOf?: (row: R) => string;
  /** Combines two rows of one batch with the same identity. Returns the row that the statement would leave if it wrote `earlier`, then `later`. */
  fold: (earlier: R, later: R) => R;
  columns: RowColumns<R>;
};

export type Upsert<R> = RowForm<R> & {
  /**
   * Common table expressions. They read the new rows from the expression `incoming`. The expression `before` must have the stored rows as
   * they were. The expression `upserted` must write the rows, and return one row for each inserted or updated row. Its column `inserted` is
   * computed as `xmax = 0`, because only an updated row has an xmax.
   */
  sql: string;
  /** The parameters of `sql` from `$1` on. */
  params?: readonly unknown[];
  /** Records the rows of `written`. `sql` must then return what the recording needs. */
  record?: RecordWrites | undefined;
  /** The expression with all written rows, if some of them do not count as updated. Default: `upserted`. */
  written?: string;
};

/**
 * Rows that are folded, sorted and encoded for their statement. This is most of the work of this process for a row, and it can be done while the
 * database is busy with earlier rows. `given`: the number of rows before they were folded. `changes`: see `foldRows`.
 */
export type PreparedRows<R> = { given: number; rows: readonly R[]; changes: number; encoded: EncodedRows };

export async function prepareRows<R>(given: readonly R[], form: RowForm<R>): Promise<PreparedRows<R>> {
  const { rows, changes } = await foldRows(given, form);
  return { given: given.length, rows, changes, encoded: await encodeRows(rows, form.columns) };
}

const decodeCounts = rowDecoder('upsert', { inserted: integer, written: integer });

/** Writes any number of rows in one statement. Several rows may have the same identity. Prepared rows must have the form of `upsert`. */
export async function upsertRows<R>(
  tx: Queryable,
  rows: readonly R[] | PreparedRows<R>,
  upsert: Upsert<R>,
): Promise<UpsertCounts> {
  const prepared = 'encoded' in rows ? rows : await prepareRows(rows, upsert);
  if (prepared.given === 0) return { inserted: 0, updated: 0, unchanged: 0 };
  const { sql, params = [], written: writtenRows = 'upserted' } = upsert;
  const recording = await upsert.record?.(tx);
  const source = toSource(prepared.encoded, { first: 1 + params.length });
  const sent = [...params, ...source.params];
  const [found] = await tx.query(
    `with incoming as (select * from ${source.sql}), ${sql} ${recording?.toSql({ written: writtenRows, before: 'before' }, 1 + sent.length) ?? ''}
     select count(*) filter (where inserted)::int as inserted, count(*)::int as written from upserted`,
    [...sent, ...(recording?.params ?? [])],
  );
  if (!found) throw new Error('an upsert returned no counts');
  const { inserted, written } = decodeCounts(found);
  const updated = written - inserted + prepared.changes;
  return { inserted, updated, unchanged: prepared.given - inserted - updated };
}

/**
 * Returns one row for each identity, sorted by `orderOf`. `changes`: the number of rows that changed an earlier row of the same identity.
 * If there are many rows, other work runs after each piece of them.
 */
export async function foldRows<R>(
  rows: readonly R[],
  { keyOf, fold, orderOf }: Pick<RowForm<R>, 'keyOf' | 'fold' | 'orderOf'>,
): Promise<{ rows: R[]; changes: number }> {
  const byKey = new Map<string, R>();
  let changes = 0;
  for (const [index, row] of rows.entries()) {
    if (index > 0 && index % PIECE_ROWS === 0) await nextSlice();
    const key = keyOf(row);
    const earlier = byKey.get(key);
    const kept = earlier === undefined ? row : fold(earlier, row);
    if (earlier !== undefined && !isDeepStrictEqual(earlier, kept)) changes += 1;
    byKey.set(key, kept);
  }
  const sorted = Array.from(byKey, ([key, row]) => ({ order: orderOf?.(row) ?? key, row }));
  sorted.sort((one, other) => (one.order < other.order ? -1 : one.order > other.order ? 1 : 0));
  return { rows: sorted.map(({ row }) => row), changes };
}

/**
 * Combines two records of which the later may lack fields: for a null field of `later`, the value of `earlier` stays. Default: all fields. The statement
 * does the same for the columns of these fields with `coalesce(excluded.column, stored.column)`.
 */
export function mergeKnown<R extends object>(earlier: R, later: R, fields = Object.keys(later) as (keyof R)[]): R {
  const kept = fields.filter((field) => later[field] === null).map((field) => [field, earlier[field]] as const);
  return { ...later, ...Object.fromEntries(kept) };
}

/** The time as text that a timestamptz column accepts. */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** `stored.a, stored.b` for `a, b`: the columns of one side of an upsert. */
export function columnsOf(side: 'stored' | 'excluded', columns: readonly string[]): string {
  return columns.map((column) => `${side}.${column}`).join(', ');
}
