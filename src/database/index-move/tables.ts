// Reads from the system catalogs which tables the schema `indexer` has, and which columns their primary keys have.

import type { TableShape } from '../backup/catalogue.ts';
import { listTables, quoted, quotedTable } from '../backup/catalogue.ts';
import type { Queryable } from '../port.ts';
import { list, rowDecoder, text } from '../rows.ts';

/** `key`: the columns of the primary key, in their order. `sql`: the quoted name. */
export type MovedTable = TableShape & { sql: string; key: TableShape['columns'] };

const decodeKey = rowDecoder('pg_index', { name: text, columns: list(text) });

/** The tables whose rows are moved, each after the tables to which it refers. The log of migrations is not among them. */
export async function listMovedTables(db: Queryable): Promise<MovedTable[]> {
  const rows = await db.query(
    `select relname as name, (
       select array_agg(attname::text order by place)
       from unnest(indkey::int[]) with ordinality as part (number, place)
       join pg_attribute on attrelid = indrelid and attnum = part.number
     ) as columns
     from pg_index join pg_class on pg_class.oid = indrelid
     where indisprimary and relnamespace = to_regnamespace('indexer')`,
  );
  const keys = new Map(rows.map(decodeKey).map(({ name, columns }) => [name, columns]));
  const tables = await listTables(db, 'indexer');
  return tables
    .filter(({ name }) => name !== 'migration')
    .map((table) => {
      const key = (keys.get(table.name) ?? []).map((name) => table.columns.find((column) => column.name === name));
      const columns = key.filter((column) => column !== undefined);
      if (columns.length === 0) throw new Error(`the table indexer.${table.name} has no primary key`);
      return { ...table, sql: quotedTable(table), key: columns };
    });
}

/** The quoted names of columns, each after `prefix`: `"a", "b"`. */
export function namesOf(columns: TableShape['columns'], prefix = ''): string {
  return columns.map(({ name }) => `${prefix}${quoted(name)}`).join(', ');
}
