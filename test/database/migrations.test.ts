// Migrations that move rows between tables keep every row. After a migration, processes of the previous version can still use the schema.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/core/log.ts';
import {
  SCHEMAS,
  applyMigration,
  findVersionMin,
  listPendingMigrations,
  migrate,
  migrateWithin,
} from '../../src/database/migrate.ts';
import type { Schema } from '../../src/database/migrate.ts';
import { FIRST_DIGESTS, digestMigration } from '../../src/database/migration-digest.ts';
import type { Databases } from '../../src/database/open.ts';
import { openDatabases } from '../../src/database/open.ts';
import type { Queryable } from '../../src/database/port.ts';
import { readVersion } from '../../src/version.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';

const UP_TO_0009 = [
  '0001-marketplace.sql',
  '0002-store.sql',
  '0003-webhooks.sql',
  '0004-chains.sql',
  '0005-sync.sql',
  '0006-keys.sql',
  '0007-shown.sql',
  '0008-request-budgets.sql',
  '0009-follow-turns.sql',
];

async function openUnmigrated(settings: Record<string, string>): Promise<Databases & AsyncDisposable> {
  const databases = await openDatabases(readConfig(settings), createLog('silent'));
  return { ...databases, [Symbol.asyncDispose]: databases.close };
}

forEachEngine('migrations of followed collections', (engine) => {
  test('vendor names, recent views and last-run records are migrated', async () => {
    await using databases = await openUnmigrated(await engine.settings('empty'));
    const { main } = databases;
    await main.transaction((tx) => migrateWithin(tx, 'main', { only: new Set(UP_TO_0009) }));
    await main.query(
      `insert into main.follow (collection_id, chain, contract_address, opensea_slug, magiceden_symbol, created_at)
       values ('both', 'ethereum', '0x1', 'a-slug', 'a-symbol', now()), ('one', 'ethereum', '0x2', 'slug-2', null, now()),
         ('none', 'solana', 'm', null, null, now())`,
    );
    const at = new Date('2025-01-01T00:00:00Z');
    await main.query(
      `insert into main.shown (collection_id, asset, shown_at, looked_at) values ('both', '', $1, null), ('both', '7', $1, $1)`,
      [at],
    );
    await main.query(`insert into main.follow_turn values ('opensea-sales', 'both', $1, null)`, [at]);
    await migrate(main, 'main');
    const names = () => main.query(`select * from main.follow_name order by collection_id, vendor`);
    assert.deepEqual(await names(), [
      { collection_id: 'both', vendor: 'magic-eden', name: 'a-symbol' },
      { collection_id: 'both', vendor: 'opensea', name: 'a-slug' },
      { collection_id: 'one', vendor: 'opensea', name: 'slug-2' },
    ]);
    assert.deepEqual(await main.query(`select * from main.recent_view order by asset nulls first`), [
      { collection_id: 'both', asset: null, viewed_at: at, refreshed_at: null },
      { collection_id: 'both', asset: '7', viewed_at: at, refreshed_at: at },
    ]);
    const runs = () => main.query(`select * from main.follow_run`);
    assert.deepEqual(await runs(), [{ task: 'opensea-sales', collection_id: 'both', tried_at: at, done_at: null }]);
    await main.query(`delete from main.follow where collection_id = 'both'`);
    assert.deepEqual(await names(), [{ collection_id: 'one', vendor: 'opensea', name: 'slug-2' }]);
    assert.deepEqual(await runs(), []);
  });
});

const KEY = '00000000-0000-0000-0000-00000000000';

forEachEngine('keys that begin with the collection', (engine) => {
  test('after the migration, recorded changes of imports and the rows of `listed_trait` contain the id of their collection', async (t) => {
    if (engine.hasCitus) return t.skip('the versions before this migration do not run on a cluster');
    await using databases = await openUnmigrated(await engine.settings('empty'));
    const { indexer } = databases;
    const folder = new URL('../../src/database/migrations/indexer/', import.meta.url);
    const before = readdirSync(folder).filter((name) => name < '0026');
    await indexer.transaction((tx) => migrateWithin(tx, 'indexer', { only: new Set(before) }));
    await indexer.query(
      `insert into indexer.listing (key, id, source, chain, collection_id, asset, price_raw, seller, status, listed_at)
       values ('${KEY}1', 'l', 's', 'ethereum', 'a', '1', 5, 'x', 'active', now())`,
    );
    await indexer.query(
      `insert into indexer.sale (key, source, chain, collection_id, asset, price, sold_at)
       values ('${KEY}2', 's', 'ethereum', 'b', '1', '5', now())`,
    );
    await indexer.query(
      `insert into indexer.import_change (import_id, seq, kind, rows, keys, hashes, images)
       values ('i', 1, 'listing', 2, array['${KEY}9', '${KEY}1'], array[1, 2], array[null, '{}']::jsonb[]),
         ('i', 2, 'sale', 1, array['${KEY}2'], array[3], array[null]::jsonb[]),
         ('i', 3, 'stats', 1, array['a'], array[4], array[null]::jsonb[])`,
    );
    await indexer.query(
      `insert into indexer.trait (collection_id, name, value) values ('a', 'Hat', 'Cap'), ('b', 'Hat', 'Cap')`,
    );
    await indexer.query(
      `insert into indexer.listed_trait (trait_id, price_raw, asset) select id, 5, collection_id from indexer.trait`,
    );
    const applied = await migrate(indexer, 'indexer');
    assert.ok(applied.includes('0026-traits-by-collection.sql') && !applied.includes('0027-collection-keys.sql'));
    await indexer.query(
      `insert into indexer.listed_trait (trait_id, price_raw, asset) values (1, 6, 'of an earlier version')`,
    );
    const { pending, waiting } = await listPendingMigrations(indexer, 'indexer');
    assert.deepEqual([pending, waiting[0]], [[], '0027-collection-keys.sql']);
    await migrate(indexer, 'indexer', { contracts: true });
    assert.deepEqual(await indexer.query(`select keys, hashes from indexer.import_change order by seq`), [
      { keys: [`\n${KEY}9`, `a\n${KEY}1`], hashes: ['1', '2'] },
      { keys: [`b\n${KEY}2`], hashes: ['3'] },
      { keys: ['a'], hashes: ['4'] },
    ]);
    const listed = await indexer.query(
      `select collection_id, trait_id, asset from indexer.listed_trait order by price_raw, trait_id`,
    );
    assert.deepEqual(listed, [
      { collection_id: 'a', trait_id: 1, asset: 'a' },
      { collection_id: 'b', trait_id: 2, asset: 'b' },
      { collection_id: 'a', trait_id: 1, asset: 'of an earlier version' },
    ]);
    const added = `insert into indexer.trait (collection_id, name, value) values ('a', 'Hat', 'Top') returning id`;
    assert.deepEqual(await indexer.query(added), [{ id: 3 }]);
  });
});

/**
 * These migrations and those before them were made before the first release, so they may break running processes of an earlier version.
 * Later migrations may not.
 */
const LAST_BEFORE_RELEASE = { main: '0017-webhook-positions.sql', indexer: '0010-chain-holders.sql' };
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

test('a migration after the first release has no statement that breaks the previous version, unless a comment names the versions that can no longer use the schema', () => {
  for (const schema of SCHEMAS) {
    const folder = new URL(`../../src/database/migrations/${schema}/`, import.meta.url);
    for (const name of readdirSync(folder).filter((one) => one > LAST_BEFORE_RELEASE[schema])) {
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
    const names = readdirSync(new URL(`../../src/database/migrations/${schema}/`, import.meta.url));
    const byNumber = Map.groupBy(names, (name) => name.slice(0, 4));
    const repeated = [...byNumber.values()].filter((sharing) => sharing.length > 1);
    assert.deepEqual(repeated, [], schema);
  }
});

test('the digest of a migration changes with its statements, and not with its comments', () => {
  const digest = (sql: string) => digestMigration('main/9999-example.sql', sql);
  const body = (comment: string) => `create function f() returns int language sql as $$ select 1 -- ${comment}\n$$;`;
  const plain = digest("create table a (b text default '--x');");
  assert.equal(digest("-- A table.\n\ncreate table a (b text default '--x'); -- The end."), plain);
  assert.notEqual(digest("create table a (b text default '--y');"), plain);
  assert.notEqual(digest(body('one')), digest(body('two')));
  const contract = (version: string) =>
    `-- Contract: versions before ${version} cannot use this schema.\ndrop table a;`;
  assert.notEqual(digest(contract('1.2.0')), digest(contract('1.3.0')));
});

test('the first migrations have the digests that databases have recorded', () => {
  for (const schema of SCHEMAS) {
    const folder = new URL(`../../src/database/migrations/${schema}/`, import.meta.url);
    for (const name of readdirSync(folder)) {
      const first = FIRST_DIGESTS[`${schema}/${name}`];
      const digest = digestMigration(`${schema}/${name}`, readFileSync(new URL(name, folder), 'utf8'));
      if (first) assert.equal(digest, first.text, `a statement of ${schema}/${name} has changed`);
    }
  }
});

const EXPANSION = 'create table main.later (id int)';
const contractFor = (version: string) =>
  `-- Contract: versions before ${version} cannot use this schema.\ndrop table main.later`;

/** Applies a migration that this program does not know, as a newer version would. */
async function applyUnknown({ main }: Databases, schema: Schema, name: string, sql: string): Promise<void> {
  await main.transaction((tx) => applyMigration(tx, schema, { name, sql, digest: 'of a newer version' }));
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

  test('a database without the column version_min can be checked and migrated', async () => {
    await using databases = await openUnmigrated(await engine.settings('migrated'));
    const { main } = databases;
    await main.query('alter table main.migration drop column if exists version_min');
    assert.deepEqual(await listPendingMigrations(main, 'main'), { pending: [], waiting: [] });
    assert.deepEqual(await migrate(main, 'main'), []);
    await applyUnknown(databases, 'main', '9001-contract.sql', contractFor('100.0.0').replace('later', 'recent_view'));
    await assert.rejects(migrate(main, 'main'), { name: 'OperatorError' });
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
