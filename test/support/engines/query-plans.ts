// Runs statements, and reads the steps of their plans, with the rows that each step has read. Finds steps that read too much.

import type { Database, Queryable } from '../../../src/platform/database/port.ts';

/**
 * `type`: for example `Seq Scan`. `table`: null for a step that scans no table. `rows`: the rows that the step read in all its loops,
 * including rows that a filter removed.
 */
export type PlanStep = { type: string; table: string | null; rows: number };

type PlanNode = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
};

/** Runs the statement, and returns the steps of its plan. */
export async function explainStatement(db: Queryable, sql: string, params: readonly unknown[]): Promise<PlanStep[]> {
  const [plan] = await db.query(`explain (analyze, format json, timing off) ${sql}`, params);
  const plans = (plan?.['QUERY PLAN'] ?? []) as { Plan: PlanNode }[];
  return plans.flatMap(({ Plan }) => stepsOf(Plan));
}

function stepsOf(node: PlanNode): PlanStep[] {
  const step = {
    type: node['Node Type'],
    table: node['Relation Name'] ?? null,
    rows: (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
  };
  return [step, ...(node.Plans ?? []).flatMap(stepsOf)];
}

/** The most rows that a step may read or sort. */
export type PlanLimits = { rowsMax: number; sortMax: number };

/** PostgreSQL reads a table of two or three pages sequentially. Such a scan is no fault. */
const SMALL_TABLE_ROWS = 250;

/** Runs each statement, and returns what is wrong with its plan: a sequential scan, or more rows read or sorted than the limits allow. */
export async function listPlanFaults(
  db: Database,
  statements: readonly { sql: string; params: readonly unknown[] }[],
  { rowsMax, sortMax }: PlanLimits,
): Promise<string[]> {
  const faults: string[] = [];
  for (const { sql, params } of statements) {
    for (const { type, table, rows } of await explainStatement(db, sql, params)) {
      if (type.endsWith('Seq Scan') && rows > SMALL_TABLE_ROWS) faults.push(`a sequential scan of ${table}: ${sql}`);
      else if (table !== null && rows > rowsMax) faults.push(`${type} of ${table} reads ${rows} rows: ${sql}`);
      if (type.endsWith('Sort') && rows > sortMax) faults.push(`a sort of ${rows} rows: ${sql}`);
    }
  }
  return faults;
}
