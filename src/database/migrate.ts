// Applies the migrations of a schema: numbered SQL files, each applied once, in order, and never reverted. A lock lets one process at a time
// migrate. The first process applies the migrations, and later processes find nothing to apply. Most migrations only add to the schema. An
// earlier version of the program can use a schema to which a newer version has only added. So nodes of both versions can be started during
// an upgrade, and the upgrade can be taken back. A migration that removes or changes something is called a contract. A contract is applied
// when the operator says so, or in a new database. The program runs with the contract and without it.

import { readFileSync, readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { OperatorError } from '../core/errors.ts';
import { distributeTables, hasCitus, splitStatements, useOneConnection } from './citus.ts';
import { digestMigration } from './migration-digest.ts';
import type { Database, Queryable } from './port.ts';
import { isBelowVersion, readVersion } from '../version.ts';
import { boolean, nullable, rowDecoder, text } from './rows.ts';

export const SCHEMAS = ['main', 'indexer'] as const;
export type Schema = (typeof SCHEMAS)[number];

export type AppliedMigration = { name: string; digest: string };
type Migration = { name: string; sql: string; digest: string };
/** `versionMin`: programs of an earlier version cannot run on a schema with this migration. Null: the migration only adds. */
type RecordedMigration = AppliedMigration & { versionMin: string | null };

export const decodeMigration = rowDecoder('migration', { name: text, digest: text });
const decodeRecorded = rowDecoder('migration', { name: text, digest: text, version_min: nullable(text) });
const decodeFound = rowDecoder('existence', { found: boolean });

/** The first line of a migration that removes or changes what earlier versions use. */
const CONTRACT = /^-- Contract: versions before (\d+\.\d+\.\d+) cannot use this schema\b/;

/** The first version that can run on a schema with this migration. Null: the migration only adds, so every version can. */
export function findVersionMin(sql: string): string | null {
  return CONTRACT.exec(sql)?.[1] ?? null;
}

/**
 * `only`: the names of the migrations that may be applied. `contracts`: whether migrations that contract the schema are applied. By default
 * they are applied to a new database, and wait in others.
 */
export type MigrateOptions = {
  only?: ReadonlySet<string>;
  contracts?: boolean;
  /** Is called before and after each migration of a database that is in use. */
  onStep?: OnMigrationStep;
};

/** `tookMs`: null before the migration. `number`: its position among the `count` migrations that are applied to the schema now, from 1. */
export type MigrationStep = { schema: Schema; name: string; number: number; count: number; tookMs: number | null };
export type OnMigrationStep = (step: MigrationStep) => void;

/**
 * Applies the pending migrations of a schema and returns their names. Throws an OperatorError if the program must not use the schema, for
 * example because a newer version has made it.
 */
export async function migrate(db: Database, schema: Schema, options?: MigrateOptions): Promise<string[]> {
  return db.transaction((tx) => migrateWithin(tx, schema, options));
}

/** Like `migrate`, in the caller's transaction. */
export async function migrateWithin(
  tx: Queryable,
  schema: Schema,
  { only, contracts, onStep }: MigrateOptions = {},
): Promise<string[]> {
  const known = readMigrations(schema);
  await tx.query(`set local statement_timeout = 0`);
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('mercat migrations ' || $1, 0))`, [schema]);
  // A Citus cluster sends `create schema` to all its nodes, even if the schema exists. The service must also start while a node is down.
  if (!(await hasSchema(tx, schema))) await tx.query(`create schema if not exists ${schema}`);
  await createMigrationTable(tx, schema);
  const pending = await checkApplied(tx, schema, known);
  // On a Citus cluster, contracts do not wait for the operator: no earlier version of the program runs on Citus, and the tables can be
  // distributed only after all contracts.
  const isDistributed = schema === 'indexer' && (await hasCitus(tx));
  const isNew = pending.length === known.length;
  const wanted = only
    ? pending.filter(({ name }) => only.has(name))
    : pending.filter((migration) => (contracts ?? (isNew || isDistributed)) || !isContract(migration));
  if (isDistributed) await useOneConnection(tx);
  for (const [index, migration] of wanted.entries()) {
    const step = { schema, name: migration.name, number: index + 1, count: wanted.length };
    if (!isNew) onStep?.({ ...step, tookMs: null });
    const startedAt = performance.now();
    // The embedded engine blocks this process during each statement. Between statements, the process answers its probes.
    await applyMigration(tx, schema, migration, { isSplit: isDistributed || !isNew });
    if (!isNew) onStep?.({ ...step, tookMs: Math.round(performance.now() - startedAt) });
  }
  if (isDistributed && wanted.length === pending.length) await distributeTables(tx, schema);
  return wanted.map((migration) => migration.name);
}

function isContract({ sql }: Migration): boolean {
  return findVersionMin(sql) !== null;
}

/** Runs a migration and records it. `isSplit`: sends one statement at a time, as a Citus cluster needs it. */
export async function applyMigration(
  tx: Queryable,
  schema: Schema,
  { name, sql, digest }: Migration,
  { isSplit = false }: { isSplit?: boolean } = {},
): Promise<void> {
  for (const statement of isSplit ? splitStatements(sql) : [sql]) {
    await tx.query(statement);
    if (isSplit) await setImmediate();
  }
  const values = [name, digest, findVersionMin(sql)];
  await tx.query(`insert into ${schema}.migration (name, digest, version_min) values ($1, $2, $3)`, values);
}

async function hasSchema(db: Queryable, schema: Schema): Promise<boolean> {
  const [row] = await db.query(`select to_regnamespace($1) is not null as found`, [schema]);
  return row !== undefined && decodeFound(row).found;
}

async function createMigrationTable(tx: Queryable, schema: Schema): Promise<void> {
  // A database that accepts no writes refuses `create table if not exists` even if the table exists. The service must start all the same.
  if (!(await hasMigrationTable(tx, schema)))
    await tx.query(`create table if not exists ${schema}.migration (
    name text collate "C" primary key, digest text not null, applied_at timestamptz not null default now(), version_min text)`);
  // The table is altered only if necessary, because an `alter table` waits for a running backup, which locks all tables.
  if (!(await hasVersionMin(tx, schema))) await tx.query(`alter table ${schema}.migration add column version_min text`);
}

async function hasMigrationTable(db: Queryable, schema: Schema): Promise<boolean> {
  const [row] = await db.query(`select to_regclass($1) is not null as found`, [`${schema}.migration`]);
  return row !== undefined && decodeFound(row).found;
}

/** Whether the migration table has the column `version_min`, which earlier programs did not create. */
async function hasVersionMin(db: Queryable, schema: Schema): Promise<boolean> {
  const [row] = await db.query(
    `select exists (select from pg_attribute where attrelid = to_regclass($1) and attname = 'version_min') as found`,
    [`${schema}.migration`],
  );
  return row !== undefined && decodeFound(row).found;
}

/**
 * Returns the names of the migrations that `migrate` would apply, and of the contracts that wait for the operator. Changes nothing. Throws
 * if `migrate` would refuse the database.
 */
export async function listPendingMigrations(
  db: Queryable,
  schema: Schema,
): Promise<{ pending: string[]; waiting: string[] }> {
  const known = readMigrations(schema);
  const missing = (await hasMigrationTable(db, schema)) ? await checkApplied(db, schema, known) : known;
  const isWaiting = (migration: Migration) => missing.length < known.length && isContract(migration);
  const namesOf = (migrations: readonly Migration[]) => migrations.map(({ name }) => name);
  return {
    pending: namesOf(missing.filter((migration) => !isWaiting(migration))),
    waiting: namesOf(missing.filter(isWaiting)),
  };
}

/**
 * Returns the pending migrations. Throws if a migration has changed since it was applied to the database, or if the database has a migration
 * of a newer version with which this program cannot run.
 */
async function checkApplied(tx: Queryable, schema: Schema, known: Migration[]): Promise<Migration[]> {
  const versionMin = (await hasVersionMin(tx, schema)) ? 'version_min' : 'null as version_min';
  const rows = (await tx.query(`select name, digest, ${versionMin} from ${schema}.migration`)).map(decodeRecorded);
  const recorded = rows.map(({ version_min, ...row }): RecordedMigration => ({ ...row, versionMin: version_min }));
  const names = new Set(known.map(({ name }) => name));
  const isExpansion = ({ name, versionMin: min }: RecordedMigration) =>
    !names.has(name) && (min === null || !isBelowVersion(readVersion(), min));
  const relevant = recorded.filter((row) => !isExpansion(row));
  return checkKnown(relevant, schema, known);
}

/**
 * Throws if a backup has a migration that this program does not know, or that has changed since the backup. `service` is the version of the
 * program that wrote the backup.
 */
export function checkMigrations(applied: readonly AppliedMigration[], schema: Schema, service: string): void {
  const [unknown] = listUnknownMigrations(applied, schema);
  if (unknown !== undefined) {
    throw new OperatorError(
      `only a newer version can restore the backup: version ${service} wrote it from a database whose schema ${schema} has migration ${unknown}`,
    );
  }
  checkKnown(applied, schema, readMigrations(schema));
}

/** The names of the migrations in `applied` that only a newer version has. */
export function listUnknownMigrations(applied: readonly AppliedMigration[], schema: Schema): string[] {
  const known = new Set(readMigrations(schema).map(({ name }) => name));
  return applied.map(({ name }) => name).filter((name) => !known.has(name));
}

/** Returns the known migrations that are not in `applied`. Throws if `applied` has a migration that is unknown or has changed since. */
function checkKnown(applied: readonly AppliedMigration[], schema: Schema, known: Migration[]): Migration[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const row of applied) {
    const file = byName.get(row.name);
    if (!file) {
      throw new OperatorError(
        `the database was made by a newer version: schema ${schema} has migration ${row.name}; ` +
          'start that version, or restore a backup that was made before the migration',
      );
    }
    if (file.digest !== row.digest) {
      throw new OperatorError(`migration ${row.name} of schema ${schema} has changed since it was applied`);
    }
    byName.delete(row.name);
  }
  return known.filter((migration) => byName.has(migration.name));
}

function readMigrations(schema: Schema): Migration[] {
  const folder = new URL(`./migrations/${schema}/`, import.meta.url);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const sql = readFileSync(new URL(name, folder), 'utf8');
      return { name, sql, digest: digestMigration(`${schema}/${name}`, sql) };
    });
}
