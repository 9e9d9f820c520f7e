// Applies the migrations of a schema: numbered SQL files, each applied once, in order, and never reverted. The first is the schema of version
// 0.1.0, with the comments that explain its tables. A lock lets one process at a time migrate. The first process applies the migrations, and
// later processes find nothing to apply. Most migrations only add to the schema. An earlier version of the program can use a schema to which
// a newer version has only added. So nodes of both versions can be started during an upgrade, and the upgrade can be taken back. A migration
// that removes or changes something is called a contract. A contract is applied when the operator says so, or in a new database. The program
// runs with the contract and without it.

import { readFileSync, readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { OperatorError } from '../core/errors.ts';
import { distributeTables, hasCitus, splitStatements, useOneConnection } from './citus.ts';
import type { Database, Queryable } from './port.ts';
import { isBelowVersion, readVersion } from '../version.ts';
import { boolean, column, nullable, rowDecoder, text } from './rows.ts';

export const SCHEMAS = ['main', 'indexer'] as const;
export type Schema = (typeof SCHEMAS)[number];

/** The migration that creates the schema. A schema without it was made by a program before 0.1.0. */
export const FIRST_MIGRATION = '0001-schema.sql';

export type AppliedMigration = { name: string };
type Migration = { name: string; sql: string };

export const decodeMigration = rowDecoder('migration', { name: text });
/** `versionMin`: programs of an earlier version cannot run on a schema with this migration. Null: the migration only adds. */
const decodeVersionMin = rowDecoder('migration', { name: text, versionMin: column('version_min', nullable(text)) });
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
    await applyMigration(tx, schema, migration);
    if (!isNew) onStep?.({ ...step, tookMs: Math.round(performance.now() - startedAt) });
  }
  if (isDistributed && wanted.length === pending.length) await distributeTables(tx, schema);
  return wanted.map((migration) => migration.name);
}

function isContract({ sql }: Migration): boolean {
  return findVersionMin(sql) !== null;
}

/**
 * Runs a migration and records it. Sends one statement at a time, as a Citus cluster needs it. The embedded engine blocks this process during
 * each statement. Between statements, the process answers its probes.
 */
export async function applyMigration(tx: Queryable, schema: Schema, { name, sql }: Migration): Promise<void> {
  for (const statement of splitStatements(sql)) {
    await tx.query(statement);
    await setImmediate();
  }
  await tx.query(`insert into ${schema}.migration (name, version_min) values ($1, $2)`, [name, findVersionMin(sql)]);
}

async function hasSchema(db: Queryable, schema: Schema): Promise<boolean> {
  const [row] = await db.query(`select to_regnamespace($1) is not null as found`, [schema]);
  return row !== undefined && decodeFound(row).found;
}

async function createMigrationTable(tx: Queryable, schema: Schema): Promise<void> {
  // A database that accepts no writes refuses `create table if not exists` even if the table exists. The service must start all the same.
  if (await hasMigrationTable(tx, schema)) return;
  await tx.query(`create table if not exists ${schema}.migration (
    name text collate "C" primary key, applied_at timestamptz not null default now(), version_min text)`);
}

async function hasMigrationTable(db: Queryable, schema: Schema): Promise<boolean> {
  const [row] = await db.query(`select to_regclass($1) is not null as found`, [`${schema}.migration`]);
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
 * Returns the pending migrations. Throws if a program before 0.1.0 has made the schema, or if the database has a migration of a newer version
 * with which this program cannot run.
 */
async function checkApplied(tx: Queryable, schema: Schema, known: Migration[]): Promise<Migration[]> {
  const applied = (await tx.query(`select name from ${schema}.migration`)).map(decodeMigration);
  if (isBeforeFirst(applied)) {
    throw new OperatorError(
      `a program before version 0.1.0 made the schema ${schema}, and this version cannot use it: write a backup with that program (mercat backup), ` +
        'and restore it with this one (mercat restore --replace): see Upgrading in docs/deploying.md',
    );
  }
  const unknown = listUnknownMigrations(applied, schema);
  if (unknown.length > 0) await checkUnknown(tx, schema, unknown);
  const names = new Set(applied.map(({ name }) => name));
  return known.filter(({ name }) => !names.has(name));
}

/** Throws if one of the migrations, which only newer versions have, does not only add to the schema. */
async function checkUnknown(tx: Queryable, schema: Schema, unknown: string[]): Promise<void> {
  const rows = await tx.query(`select name, version_min from ${schema}.migration where name = any($1) order by name`, [
    unknown,
  ]);
  const needsNewer = rows
    .map(decodeVersionMin)
    .find(({ versionMin }) => versionMin !== null && isBelowVersion(readVersion(), versionMin));
  if (!needsNewer) return;
  throw new OperatorError(
    `the database was made by a newer version: schema ${schema} has migration ${needsNewer.name}; ` +
      'start that version, or restore a backup that was made before the migration',
  );
}

/** Whether a program before 0.1.0 applied these migrations. */
export function isBeforeFirst(applied: readonly AppliedMigration[]): boolean {
  return applied.length > 0 && !applied.some(({ name }) => name === FIRST_MIGRATION);
}

/**
 * Throws if a backup has a migration that this program does not know. `service` is the version of the program that wrote the backup.
 */
export function checkMigrations(applied: readonly AppliedMigration[], schema: Schema, service: string): void {
  const [unknown] = listUnknownMigrations(applied, schema);
  if (unknown === undefined) return;
  throw new OperatorError(
    `only a newer version can restore the backup: version ${service} wrote it from a database whose schema ${schema} has migration ${unknown}`,
  );
}

/** The names of the migrations in `applied` that only a newer version has. Empty if a program before 0.1.0 applied them. */
export function listUnknownMigrations(applied: readonly AppliedMigration[], schema: Schema): string[] {
  if (isBeforeFirst(applied)) return [];
  const known = new Set(readMigrations(schema).map(({ name }) => name));
  return applied.map(({ name }) => name).filter((name) => !known.has(name));
}

function readMigrations(schema: Schema): Migration[] {
  const folder = new URL(`./migrations/${schema}/`, import.meta.url);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, sql: readFileSync(new URL(name, folder), 'utf8') }));
}
