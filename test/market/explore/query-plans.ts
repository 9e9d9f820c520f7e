// Checks the execution plans of the statements of a read: how many rows each statement reads and sorts.

import assert from 'node:assert/strict';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import { explainStatement } from '../../support/engines/query-plans.ts';

/**
 * The most rows that a statement may read from a table. A walk (src/market/explore/queries/trait-keys.ts) and a read of the tokens with the rarest
 * traits read at most this many rows.
 */
const ROWS_MAX = 1_100;

/** PostgreSQL scans a table of one page sequentially. A table with at most this many rows has one page. */
const SMALL_TABLE_ROWS = 2;

/**
 * Explains every statement that `read` runs. Fails on a sequential scan of more than SMALL_TABLE_ROWS rows, and on a sort or a read of more
 * than `rowsMax` rows.
 * Also fails if a table in `indexOnly` is read in another way than by an index-only scan.
 */
export async function assertPlans(
  db: Database,
  read: (reading: Queryable) => Promise<unknown>,
  { rowsMax = ROWS_MAX, indexOnly = [] }: { rowsMax?: number; indexOnly?: readonly string[] } = {},
): Promise<void> {
  const statements: { sql: string; params: unknown[] }[] = [];
  const reading: Queryable = {
    query: (sql, params = []) => {
      statements.push({ sql, params: [...params] });
      return db.query(sql, params);
    },
  };
  await read(reading);
  assert.ok(statements.length > 0);
  for (const { sql, params } of statements) {
    for (const { type, table, rows } of await explainStatement(db, sql, params)) {
      if (table !== null && indexOnly.includes(table))
        assert.equal(type, 'Index Only Scan', `${type} of ${table}: ${sql}`);
      if (table !== null) assert.ok(rows <= rowsMax, `${type} of ${table} reads ${rows} rows: ${sql}`);
      if (type === 'Sort') assert.ok(rows <= rowsMax, `a sort has ${rows} rows: ${sql}`);
      if (type === 'Seq Scan') assert.ok(rows <= SMALL_TABLE_ROWS, `a sequential scan of ${table}: ${sql}`);
    }
  }
}
