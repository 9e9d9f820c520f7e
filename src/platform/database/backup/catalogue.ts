// Lists the tables, the sequences and the applied migrations of a schema. The tables are in an order in which their rows can be inserted. Tables
// and sequences are read from the system catalogs, so that a backup includes every table.

import type { Queryable } from '../port.ts';
import type { AppliedMigration, Schema } from '../migrate.ts';
import { decodeMigration } from '../migrate.ts';
import { boolean, list, nullable, object, rowDecoder, text } from '../rows.ts';

/** A column, with its type in the form of PostgreSQL's `format_type`. */
export type Column = { name: string; type: string };
export type TableShape = { schema: Schema; name: string; columns: readonly Column[] };
export type SequenceState = { schema: Schema; name: string; last: string; called: boolean };

const decodeTable = rowDecoder('pg_class', { name: text, columns: nullable(list(object({ name: text, type: text }))) });
const decodeReference = rowDecoder('pg_constraint', { name: text, refers_to: text });
const decodeSequence = rowDecoder('sequence', { last: text, called: boolean });
const decodeName = rowDecoder('pg_class', { name: text });
const decodeFound = rowDecoder('existence', { found: boolean });

/** Settings under which the text of a value is exact and the same on every server. */
const EXACT_TEXT = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // No timeouts, because a backup or restore may wait for a disk for a long time.
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/** Applies the settings for the rest of the transaction. */
export async function setExactText(tx: Queryable): Promise<void> {
  const settings = Object.entries(EXACT_TEXT).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  await tx.query(`select ${settings.join(', ')}`);
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const quotedTable = ({ schema, name }: Pick<TableShape, 'schema' | 'name'>): string =>
  `${schema}.${quoted(name)}`;

/** All tables with their stored columns. A table comes after the tables to which its foreign keys refer. */
export async function listTables(db: Queryable, schema: Schema): Promise<TableShape[]> {
  const rows = await db.query(
    `select relname as name, (
       select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum)
       from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''
     ) as columns
     from pg_class where relnamespace = to_regnamespace($1) and relkind = 'r' order by relname collate "C"`,
    [schema],
  );
  const referenceRows = await db.query(
    `select distinct referring.relname as name, referred.relname as refers_to
     from pg_constraint join pg_class as referring on referring.oid = conrelid join pg_class as referred on referred.oid = confrelid
     where contype = 'f' and conrelid <> confrelid and referring.relnamespace = to_regnamespace($1)`,
    [schema],
  );
  const references = referenceRows.map(decodeReference);
  const left = new Map(
    rows.map(decodeTable).map(({ name, columns }) => [name, { schema, name, columns: columns ?? [] }]),
  );
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

/**
 * Reads the present state of the sequences. A database snapshot does not freeze this state, so the state must be read after the snapshot began.
 * Then the sequences have already issued every number that is in the snapshot.
 */
export async function listSequences(db: Queryable, schema: Schema): Promise<SequenceState[]> {
  const names = await listSequenceNames(db, schema);
  const states: SequenceState[] = [];
  for (const name of names) {
    const [row] = await db.query(
      `select last_value::text as last, is_called as called from ${quotedTable({ schema, name })}`,
    );
    if (row) states.push({ schema, name, ...decodeSequence(row) });
  }
  return states;
}

export async function updateSequence(tx: Queryable, { schema, name, last, called }: SequenceState): Promise<void> {
  await tx.query(`select setval($1::regclass, $2::bigint, $3::boolean)`, [quotedTable({ schema, name }), last, called]);
}

async function listSequenceNames(db: Queryable, schema: Schema): Promise<string[]> {
  const rows = await db.query(
    `select relname as name from pg_class where relnamespace = to_regnamespace($1) and relkind = 'S'
     order by relname collate "C"`,
    [schema],
  );
  return rows.map((row) => decodeName(row).name);
}

/** The applied migrations, sorted by name. Null if the schema was never migrated. */
export async function listAppliedMigrations(db: Queryable, schema: Schema): Promise<AppliedMigration[] | null> {
  const [row] = await db.query(`select to_regclass($1) is not null as found`, [`${schema}.migration`]);
  if (!row || !decodeFound(row).found) return null;
  return (await db.query(`select name from ${schema}.migration order by name`)).map(decodeMigration);
}

/** Tables that a new service fills by itself. A database counts as empty if no other table has rows. */
const OWN_STATE_TABLES = new Set([
  'migration',
  'secret',
  'sync_task',
  'request_budget',
  'recent_view',
  'service_start',
  'backup',
  'activity_head',
]);

/** Returns the first table with rows that is not in OWN_STATE_TABLES, or null. */
export async function findTableWithRecords(db: Queryable, schema: Schema): Promise<string | null> {
  for (const table of await listTables(db, schema)) {
    if (OWN_STATE_TABLES.has(table.name)) continue;
    // A Citus cluster copies the result of the subquery to the coordinator. It cannot copy rows without columns, so the subquery selects 1.
    // With the limit, it copies one row and not the whole table.
    const [row] = await db.query(`select exists (select 1 from ${quotedTable(table)} limit 1) as found`);
    if (row && decodeFound(row).found) return `${schema}.${table.name}`;
  }
  return null;
}

const decodeFunction = rowDecoder('pg_proc', { signature: text });

/** The functions of the schema with the types of their arguments, quoted for SQL. */
async function listFunctions(db: Queryable, schema: Schema): Promise<string[]> {
  const rows = await db.query(
    `select format('%I.%I(%s)', pronamespace::regnamespace::text, proname, pg_get_function_identity_arguments(oid)) as signature
     from pg_proc where pronamespace = to_regnamespace($1) order by 1`,
    [schema],
  );
  return rows.map((row) => decodeFunction(row).signature);
}

/** Drops all tables, sequences and functions of the schemas. Fails if another object depends on one of them, such as a view of the operator. */
export async function deleteSchemaContent(tx: Queryable, schemas: readonly Schema[]): Promise<void> {
  const tables: TableShape[] = [];
  for (const schema of schemas) tables.push(...(await listTables(tx, schema)));
  if (tables.length > 0) await tx.query(`drop table ${tables.map(quotedTable).join(', ')}`);
  for (const schema of schemas) {
    const names = await listSequenceNames(tx, schema);
    if (names.length > 0) {
      await tx.query(`drop sequence ${names.map((name) => quotedTable({ schema, name })).join(', ')}`);
    }
    const functions = await listFunctions(tx, schema);
    if (functions.length > 0) await tx.query(`drop function ${functions.join(', ')}`);
  }
}
