// Writes a schema as text, from the system catalogs of the database. Tables, constraints and indexes are sorted, and columns are in the
// order of the table. Both engines give the same text.

import type { Schema } from '../../../src/platform/database/migrate.ts';
import type { Queryable } from '../../../src/platform/database/port.ts';

/** Tables with their columns, constraints and indexes. */
export async function dumpSchema(db: Queryable, schema: Schema): Promise<string> {
  const tables = await db.query<{ table_name: string }>(
    `select table_name from information_schema.tables where table_schema = $1 order by table_name collate "C"`,
    [schema],
  );
  const parts = [`create schema ${schema};`];
  for (const { table_name: table } of tables) parts.push(await dumpTable(db, schema, table));
  return `${parts.join('\n\n')}\n`;
}

async function dumpTable(db: Queryable, schema: Schema, table: string): Promise<string> {
  const lines = [...(await listColumns(db, schema, table)), ...(await listConstraints(db, schema, table))];
  const indexes = await db.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where schemaname = $1 and tablename = $2
       and indexname not in (select conname from pg_constraint where connamespace = $1::regnamespace)
     order by indexname collate "C"`,
    [schema, table],
  );
  const create = `create table ${schema}.${table} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n);`;
  return [create, ...indexes.map(({ indexdef }) => `${indexdef};`)].join('\n');
}

async function listColumns(db: Queryable, schema: Schema, table: string): Promise<string[]> {
  const rows = await db.query<{
    name: string;
    type: string;
    collation: string | null;
    required: boolean;
    value: string | null;
  }>(
    `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required,
       (select collname from pg_collation where oid = attcollation and collname <> 'default') as collation,
       (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum) as value
     from pg_attribute where attrelid = ($1 || '.' || $2)::regclass and attnum > 0 and not attisdropped
     order by attnum`,
    [schema, table],
  );
  return rows.map(({ name, type, collation, required, value }) =>
    [name, type, collation && `collate "${collation}"`, value && `default ${value}`, required && 'not null']
      .filter(Boolean)
      .join(' '),
  );
}

async function listConstraints(db: Queryable, schema: Schema, table: string): Promise<string[]> {
  // PostgreSQL 18 also stores `not null` as a constraint (type `n`). It is left out here, because the column's line says `not null`.
  const rows = await db.query<{ name: string; definition: string }>(
    `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = ($1 || '.' || $2)::regclass and contype <> 'n' order by contype, conname collate "C"`,
    [schema, table],
  );
  return rows.map(({ name, definition }) => `constraint ${name} ${definition}`);
}
