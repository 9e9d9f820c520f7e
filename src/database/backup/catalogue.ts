// What a schema is made of, from the catalogues: its tables in the order in which rows can be inserted, its sequences, its
// migrations. A backup and a restore go by this alone, so that no table can be forgotten.

import type { Queryable } from '../port.ts';
import type { AppliedMigration, Schema } from '../migrate.ts';

/** A type is as PostgreSQL writes it. */
export type Column = { name: string; type: string };
export type TableShape = { schema: Schema; name: string; columns: readonly Column[] };
export type SequenceState = { schema: Schema; name: string; last: string; called: boolean };

/** How both ends write and read values as text: exact, and the same on every server. */
const EXACT_TEXT = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // Neither end may be cut off while it waits for the other's disk.
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/** For the rest of the transaction. */
export async function setExactText(tx: Queryable): Promise<void> {
  for (const [name, value] of Object.entries(EXACT_TEXT)) await tx.query(`set local ${name} = '${value}'`);
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const quotedTable = ({ schema, name }: Pick<TableShape, 'schema' | 'name'>): string =>
  `${schema}.${quoted(name)}`;

/** Every table with its stored columns, those that are referred to before those that refer to them. */
export async function listTables(db: Queryable, schema: Schema): Promise<TableShape[]> {
  const rows = await db.query<{ name: string; columns: Column[] | null }>(
    `select relname as name, (
       select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum)
       from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''
     ) as columns
     from pg_class where relnamespace = to_regnamespace($1) and relkind = 'r' order by relname collate "C"`,
    [schema],
  );
  const references = await db.query<{ name: string; refers_to: string }>(
    `select distinct referring.relname as name, referred.relname as refers_to
     from pg_constraint join pg_class as referring on referring.oid = conrelid join pg_class as referred on referred.oid = confrelid
     where contype = 'f' and conrelid <> confrelid and referring.relnamespace = to_regnamespace($1)`,
    [schema],
  );
  const left = new Map(rows.map(({ name, columns }) => [name, { schema, name, columns: columns ?? [] }]));
  const sorted: TableShape[] = [];
  while (left.size > 0) {
    const isReady = ({ name }: TableShape) =>
      references.every((reference) => reference.name !== name || !left.has(reference.refers_to));
    const next = [...left.values()].find(isReady);
    if (!next) throw new Error(`tables of ${schema} refer to one another in a circle`);
    left.delete(next.name);
    sorted.push(next);
  }
  return sorted;
}

/** Sequences belong to no snapshot: read after it began, they are never behind its rows. */
export async function listSequences(db: Queryable, schema: Schema): Promise<SequenceState[]> {
  const names = await listSequenceNames(db, schema);
  const states: SequenceState[] = [];
  for (const name of names) {
    const [row] = await db.query<{ last: string; called: boolean }>(
      `select last_value::text as last, is_called as called from ${quotedTable({ schema, name })}`,
    );
    if (row) states.push({ schema, name, ...row });
  }
  return states;
}

export async function updateSequence(tx: Queryable, { schema, name, last, called }: SequenceState): Promise<void> {
  await tx.query(`select setval($1::regclass, $2::bigint, $3::boolean)`, [quotedTable({ schema, name }), last, called]);
}

async function listSequenceNames(db: Queryable, schema: Schema): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = to_regnamespace($1) and relkind = 'S'
     order by relname collate "C"`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

/** Null where the schema was never migrated. */
export async function listAppliedMigrations(db: Queryable, schema: Schema): Promise<AppliedMigration[] | null> {
  const [row] = await db.query<{ found: boolean }>(`select to_regclass($1) is not null as found`, [
    `${schema}.migration`,
  ]);
  if (!row?.found) return null;
  return db.query<AppliedMigration>(`select name, digest from ${schema}.migration order by name`);
}

/** What a service keeps for itself. A database that holds nothing else is empty. `shown` is what migrations before 0011 called `recent_view`. */
const KEPT_FOR_ITSELF = new Set(['migration', 'secret', 'sync_task', 'request_budget', 'shown', 'recent_view']);

/** The first table that holds a record, or null. */
export async function findTableWithRecords(db: Queryable, schema: Schema): Promise<string | null> {
  for (const table of await listTables(db, schema)) {
    if (KEPT_FOR_ITSELF.has(table.name)) continue;
    const [row] = await db.query<{ found: boolean }>(`select exists (select from ${quotedTable(table)}) as found`);
    if (row?.found) return `${schema}.${table.name}`;
  }
  return null;
}

/** Drops all tables and sequences of the schemas. What somebody else has built upon them makes it fail, and stays. */
export async function deleteSchemaContent(tx: Queryable, schemas: readonly Schema[]): Promise<void> {
  const tables: TableShape[] = [];
  for (const schema of schemas) tables.push(...(await listTables(tx, schema)));
  if (tables.length > 0) await tx.query(`drop table ${tables.map(quotedTable).join(', ')}`);
  for (const schema of schemas) {
    const names = await listSequenceNames(tx, schema);
    if (names.length > 0) {
      await tx.query(`drop sequence ${names.map((name) => quotedTable({ schema, name })).join(', ')}`);
    }
  }
}
