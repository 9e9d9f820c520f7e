// Reads all rows of all tables, for tests that compare the complete state of a database at two times.

import type { Database } from '../../../src/platform/database/port.ts';

/** The tables that record the imports and the rows that each import changed. */
export const IMPORT_TABLES = [
  'main.import',
  'main.import_log',
  'main.import_change',
  'indexer.import_log',
  'indexer.import_change',
];

/** The tables of the activity log. In this order a truncation cannot deadlock with a merge in progress. */
export const LOG_TABLES = [
  'main.activity_head',
  'main.market_change',
  'indexer.market_change',
  'main.activity',
  'indexer.market_point',
  'indexer.market_hour',
];

export async function listEveryTable(db: Database): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema in ('main', 'indexer') and table_type = 'BASE TABLE' order by 1`,
  );
  return tables.map(({ name }) => name);
}

/** The rows of each table of both schemas as sorted JSON text, by the name of the table. The tables in `except` are left out. */
export async function dumpEveryTable(db: Database, except: readonly string[] = []): Promise<Map<string, string[]>> {
  const names = (await listEveryTable(db)).filter((name) => !except.includes(name));
  const selects = names.map((name) => `select '${name}' as name, to_jsonb(stored)::text as row from ${name} as stored`);
  const rows = await db.query<{ name: string; row: string }>(selects.join(' union all '));
  const dump = new Map<string, string[]>(names.map((name) => [name, []]));
  for (const { name, row } of rows) dump.get(name)?.push(row);
  for (const stored of dump.values()) stored.sort();
  return dump;
}
