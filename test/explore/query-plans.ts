// How the statements of a read are executed: how many rows each of them reads and sorts.

import assert from 'node:assert/strict';
import type { Database, Queryable } from '../../src/database/port.ts';

/** The most rows that a statement may read from a table: a walk, or the tokens of the rarest traits. */
const ROWS_MAX = 1_100;

/** A table with so few rows has one page, which is read sequentially. */
const SMALL_TABLE_ROWS = 2;

/**
 * Explains every statement that `read` runs. Fails on a sequential scan of more than a page, and on a sort or a read of more than `rowsMax` rows.
 */
export async function assertPlans(
  db: Database,
  read: (reading: Queryable) => Promise<unknown>,
  { rowsMax = ROWS_MAX }: { rowsMax?: number } = {},
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
    const [plan] = await db.query(`explain (analyze, format json, timing off) ${sql}`, params);
    const plans = (plan?.['QUERY PLAN'] ?? []) as { Plan: PlanNode }[];
    for (const node of plans.flatMap(({ Plan }) => nodesOf(Plan))) {
      const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
      const table = node['Relation Name'];
      if (table) assert.ok(rows <= rowsMax, `${node['Node Type']} of ${table} reads ${rows} rows: ${sql}`);
      if (node['Node Type'] === 'Sort') assert.ok(rows <= rowsMax, `a sort has ${rows} rows: ${sql}`);
      if (node['Node Type'] === 'Seq Scan')
        assert.ok(rows <= SMALL_TABLE_ROWS, `a sequential scan of ${table}: ${sql}`);
    }
  }
}

type PlanNode = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
};

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
