// After a migration, processes of the previous version can still use the schema. A schema that this version cannot use is refused.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import {
  FIRST_MIGRATION,
  SCHEMAS,
  applyMigration,
  findVersionMin,
  listPendingMigrations,
  migrate,
} from '../../../src/platform/database/migrate.ts';
import type { Schema } from '../../../src/platform/database/migrate.ts';
import type { Databases } from '../../../src/platform/database/open.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import type { Queryable } from '../../../src/platform/database/port.ts';
import { openScratch } from '../../../src/platform/database/scratch.ts';
import { readVersion } from '../../../src/platform/version.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { dumpSchema } from '../../support/engines/schema-dump.ts';

async function openUnmigrated(settings: Record<string, string>): Promise<Databases & AsyncDisposable> {
  const databases = await openDatabases(readConfig(settings), createLog('silent'));
  return { ...databases, [Symbol.asyncDispose]: databases.close };
}

const BREAKING = [
  /\brename\b/i,
  /\bdrop (table|column|schema|function|type)\b/i,
  /\balter column \w+ (set not null|(set data )?type)\b/i,
  /\badd column (if not exists )?\w+ (?=[^,;]*\bnot null\b)(?![^,;]*\bdefault\b)(?![^,;]*\bgenerated\b)/i,
  /\badd (constraint|check|unique|foreign)\b/i,
];

/**
 * Returns the statements of a migration that may break running processes of the previous version. A migration may add a constraint if it
 * drops the constraint of the same name first. The author of the migration must make sure that the new constraint allows everything that
 * the old constraint allowed.
 */
function findBreaking(sql: string): string[] {
  if (findVersionMin(sql) !== null) return [];
  const statements = sql.replaceAll(/--.*$/gm, '').split(';');
  const isReplaced = (statement: string) => {
    const [, name] = /\badd constraint (\w+)/i.exec(statement) ?? [];
    return name !== undefined && sql.includes(`drop constraint ${name};`);
  };
  return statements
    .filter((one) => BREAKING.some((pattern) => pattern.test(one)) && !isReplaced(one))
    .map((one) => one.trim());
}

test('a migration after the first has no statement that breaks the previous version, unless a comment names the versions that can no longer use the schema', () => {
  for (const schema of SCHEMAS) {
    const folder = new URL(`../../../src/platform/database/migrations/${schema}/`, import.meta.url);
    for (const name of readdirSync(folder).filter((one) => one !== FIRST_MIGRATION)) {
      assert.deepEqual(findBreaking(readFileSync(new URL(name, folder), 'utf8')), [], `${schema}/${name}`);
    }
  }
  const breaking = [
    'alter table main.shop rename column a to b',
    'alter table main.shop drop column a',
    'drop table main.shop',
    'alter table main.shop alter column a set not null',
    'alter table main.shop alter column a type bigint',
    'alter table main.shop add column a text not null',
    'alter table main.shop add constraint one check (a > 0)',
  ];
  for (const statement of breaking) {
    assert.deepEqual(findBreaking(`-- A comment.\n${statement};`), [statement]);
    assert.deepEqual(findBreaking(`-- Contract: versions before 0.3.0 cannot use this schema.\n${statement};`), []);
  }
  const expanding = 'create table main.a (b text not null);alter table main.a add column c text not null default 1';
  assert.deepEqual(findBreaking(expanding), []);
});

test('no two migrations of a schema have the same number', () => {
  for (const schema of SCHEMAS) {
    const names = readdirSync(new URL(`../../../src/platform/database/migrations/${schema}/`, import.meta.url));
    const byNumber = Map.groupBy(names, (name) => name.slice(0, 4));
    const repeated = [...byNumber.values()].filter((sharing) => sharing.length > 1);
    assert.deepEqual(repeated, [], schema);
  }
});

const EXPANSION = 'create table main.later (id int)';
const contractFor = (version: string) =>
  `-- Contract: versions before ${version} cannot use this schema.\ndrop table main.later`;

/** Applies a migration that this program does not know, as a newer version would. */
async function applyUnknown({ main }: Databases, schema: Schema, name: string, sql: string): Promise<void> {
  await main.transaction((tx) => applyMigration(tx, schema, { name, sql }));
}

forEachEngine('a database that a newer version has migrated', (engine) => {
  test('a program starts on a schema that a newer version has only expanded, and not on one that needs a newer version', async () => {
    await using databases = await openUnmigrated(await engine.settings('migrated'));
    const { main } = databases;
    for (const schema of SCHEMAS) await migrate(main, schema);
    await applyUnknown(databases, 'main', '9001-expansion.sql', EXPANSION);
    await applyUnknown(databases, 'main', '9002-contract.sql', contractFor(readVersion()));
    for (const schema of SCHEMAS) {
      assert.deepEqual(await migrate(main, schema), []);
      assert.deepEqual(await listPendingMigrations(main, schema), { pending: [], waiting: [] });
    }
    await applyUnknown(databases, 'main', '9003-expansion.sql', EXPANSION);
    await applyUnknown(databases, 'main', '9004-contract.sql', contractFor('100.0.0'));
    const refused = {
      name: 'OperatorError',
      message:
        'the database was made by a newer version: schema main has migration 9004-contract.sql; ' +
        'start that version, or restore a backup that was made before the migration',
    };
    await assert.rejects(migrate(main, 'main'), refused);
    await assert.rejects(listPendingMigrations(main, 'main'), refused);
  });
});

forEachEngine('a database that a program before 0.1.0 has migrated', (engine) => {
  test('is refused with the way to carry it over, and stays as it is', async () => {
    await using databases = await openUnmigrated(await engine.settings('empty'));
    const { main, indexer } = databases;
    for (const schema of SCHEMAS) {
      const db = { main, indexer }[schema];
      await db.query(`create schema ${schema}`);
      await db.query(`create table ${schema}.migration (name text collate "C" primary key, digest text not null,
        applied_at timestamptz not null default now(), version_min text)`);
      await db.query(`insert into ${schema}.migration (name, digest) values ('0001-tables.sql', 'x')`);
      const refused = {
        name: 'OperatorError',
        message:
          `a program before version 0.1.0 made the schema ${schema}, and this version cannot use it: write a backup with that program (mercat backup), ` +
          'and restore it with this one (mercat restore --replace): see Upgrading in docs/deploying.md',
      };
      await assert.rejects(migrate(db, schema), refused);
      await assert.rejects(listPendingMigrations(db, schema), refused);
      assert.deepEqual(await db.query(`select name, digest from ${schema}.migration`), [
        { name: '0001-tables.sql', digest: 'x' },
      ]);
      assert.deepEqual(await db.query(`select tablename from pg_tables where schemaname = $1`, [schema]), [
        { tablename: 'migration' },
      ]);
    }
  });
});

forEachEngine('the schema', (engine) => {
  test('the schema is the same on every engine', async () => {
    const database = await engine.open();
    const scratch = await openScratch();
    try {
      for (const schema of SCHEMAS)
        assert.equal(await dumpSchema(database, schema), await dumpSchema(scratch, schema), schema);
    } finally {
      await scratch.close();
    }
  });

  test('the indexes compare texts byte by byte, whatever the collation of the database', async () => {
    const database = await engine.open();
    const columns = await database.query<{ name: string }>(
      `select distinct indrelid::regclass || '.' || attname as name
       from pg_index cross join lateral unnest(indkey::int[]) as key join pg_attribute on attrelid = indrelid and attnum = key
       join pg_class on pg_class.oid = indrelid join pg_namespace on pg_namespace.oid = relnamespace
       join pg_collation on pg_collation.oid = attcollation
       where nspname = any($1) and collname <> 'C'`,
      [SCHEMAS],
    );
    assert.deepEqual(
      columns.map(({ name }) => name),
      [],
    );
  });
});

/** The large tables, in which a change of 2 % of the rows starts a vacuum. `isAnalyzed`: whether this change also starts an analyze. */
const VACUUMED = {
  listing: { isAnalyzed: true },
  listed_asset: { isAnalyzed: true },
  token: { isAnalyzed: true },
  holder: { isAnalyzed: true },
  sale: { isAnalyzed: true },
  sale_hour: { isAnalyzed: false },
  market_hour: { isAnalyzed: false },
};

forEachEngine('the tables of listings, tokens, holders and sales', (engine) => {
  const listFactors = async (db: Queryable, table: string, pattern: RegExp) => {
    const rows = await db.query<{ name: string; value: string }>(
      `select option_name as name, option_value as value from pg_class, pg_options_to_table(reloptions) where oid = $1::regclass`,
      [`indexer.${table}`],
    );
    return rows.filter(({ name }) => pattern.test(name)).map(({ value }) => Number(value));
  };

  test('changes of 2 % of the rows start a vacuum of listing, listed_asset, token, holder, sale, sale_hour and market_hour, and an analyze of the first five', async () => {
    const db = await engine.open();
    for (const [table, { isAnalyzed }] of Object.entries(VACUUMED)) {
      const vacuum = await listFactors(db, table, /^autovacuum_vacuum(_insert)?_scale_factor$/);
      assert.deepEqual(new Set(vacuum), new Set([0.02]), table);
      if (isAnalyzed)
        assert.deepEqual(await listFactors(db, table, /^autovacuum_analyze_scale_factor$/), [0.02], table);
    }
  });
});
