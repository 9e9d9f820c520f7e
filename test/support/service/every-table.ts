// All rows of all tables, for tests that compare the complete state of a database at two times.

import type { Database } from '../../../src/database/port.ts';

/** The rows of each table of both schemas as sorted JSON text, by the name of the table. Leaves out the tables in `except`. */
export async function dumpEveryTable(db: Database, except: readonly string[] = []): Promise<Map<string, string[]>> {
  const tables = await db.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema in ('main', 'indexer') and table_type = 'BASE TABLE' order by 1`,
  );
  const dump = new Map<string, string[]>();
  for (const { name } of tables) {
    if (except.includes(name)) continue;
    const rows = await db.query<{ row: string }>(
      `select to_jsonb(stored)::text as row from ${name} as stored order by 1`,
    );
    dump.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return dump;
}
