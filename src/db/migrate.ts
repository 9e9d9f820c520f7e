// Forward-only migrations: the numbered SQL files of a schema, each applied once, in order. Any number of processes may
// start at once: the first takes the lock, the others find nothing left to do.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { OperatorError } from '../errors.ts';
import type { Database, Queryable } from './database.ts';

export const SCHEMAS = ['main', 'indexer'] as const;
export type Schema = (typeof SCHEMAS)[number];

type Migration = { name: string; sql: string; digest: string };

/** Brings one schema up to date and returns the names of what was applied. */
export async function migrate(db: Database, schema: Schema): Promise<string[]> {
  const known = readMigrations(schema);
  return db.transaction(async (tx) => {
    await tx.query(`set local statement_timeout = 0`);
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('mercat migrations ' || $1, 0))`, [schema]);
    await tx.query(`create schema if not exists ${schema}`);
    await tx.query(`create table if not exists ${schema}.migration (
      name text collate "C" primary key, digest text not null, applied_at timestamptz not null default now())`);
    const pending = await checkApplied(tx, schema, known);
    for (const migration of pending) {
      await tx.query(migration.sql);
      await tx.query(`insert into ${schema}.migration (name, digest) values ($1, $2)`, [
        migration.name,
        migration.digest,
      ]);
    }
    return pending.map((migration) => migration.name);
  });
}

/** The names of what `migrate` would apply; throws as it would, and changes nothing. */
export async function listPendingMigrations(db: Queryable, schema: Schema): Promise<string[]> {
  const known = readMigrations(schema);
  const [row] = await db.query<{ found: boolean }>(`select to_regclass($1) is not null as found`, [
    `${schema}.migration`,
  ]);
  const pending = row?.found ? await checkApplied(db, schema, known) : known;
  return pending.map((migration) => migration.name);
}

/** The migrations that are still to be applied; throws when the database was migrated by other files than these. */
async function checkApplied(tx: Queryable, schema: Schema, known: Migration[]): Promise<Migration[]> {
  const applied = await tx.query<{ name: string; digest: string }>(`select name, digest from ${schema}.migration`);
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const row of applied) {
    const file = byName.get(row.name);
    if (!file) {
      throw new OperatorError(`the database was made by a newer version: schema ${schema} has migration ${row.name}`);
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
      return { name, sql, digest: createHash('sha256').update(sql).digest('hex') };
    });
}
