// A backup of a program before 0.1.0 is restored: every row as it was, and what this version derives from the rows. `before-0.1.0` was written by
// such a program. It holds imported sales, listings, orders and tokens of two collections, and a shop with products, stock changes and a webhook.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readBackup, toEnd, toHeader, toTableLine } from '../../../../src/platform/database/backup/format.ts';
import type { TableShape } from '../../../../src/platform/database/backup/catalogue.ts';
import type { Databases } from '../../../../src/platform/database/open.ts';
import { quoted, quotedTable, setExactText } from '../../../../src/platform/database/backup/catalogue.ts';
import { forEachEngine } from '../../../support/engines/each-engine.ts';
import { startTestService } from '../../../support/service/service.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { backUp, mercat, never, restore, withDatabases, writeLines } from './backups.ts';

const FILE = fileURLToPath(new URL('../../../fixtures/backups/before-0.1.0', import.meta.url));
const ALPHA = `ethereum_0x${'a1'.repeat(20)}`;
const BETA = `base_0x${'b2'.repeat(20)}`;
/** What the restore derives, and the migrations, which are those of this version. */
const DERIVED: Readonly<Record<string, readonly string[]>> = {
  'main.catalog_change': ['seq', 'collection_id', 'asset'],
  'main.migration': ['name', 'digest', 'applied_at', 'version_min'],
  'indexer.migration': ['name', 'digest', 'applied_at', 'version_min'],
  'indexer.sale_hour': ['collection_id', 'hour', 'volume_raw', 'sales'],
  'indexer.sale_total': ['volume_raw', 'sales'],
  'indexer.coverage': ['to_time'],
  'indexer.collection_figures': ['ranks_valid_until'],
  'indexer.import_change': ['images'],
};

type Row = readonly (string | null)[];

/** The present name of a column of the backup. */
const presentName = (name: string) => (name === 'undeliverable' ? 'dormant' : name);

/** The tables of the backup with their rows. */
async function readTables(): Promise<{ table: TableShape; rows: Row[] }[]> {
  const tables: { table: TableShape; rows: Row[] }[] = [];
  for await (const event of readBackup(FILE, { signal: never })) {
    if (event.kind === 'table') tables.push({ table: event.table, rows: [] });
    if (event.kind === 'rows') tables.at(-1)?.rows.push(...(JSON.parse(event.rows) as Row[]));
  }
  return tables;
}

async function readMigrations() {
  for await (const event of readBackup(FILE, { signal: never })) {
    if (event.kind === 'header') return event.header.migrations;
  }
  return assert.fail('the backup has no header');
}

async function readStored({ main, indexer }: Databases, table: TableShape, columns: readonly string[]): Promise<Row[]> {
  const values = columns.map((name) => `${quoted(presentName(name))}::text`).join(', ');
  return { main, indexer }[table.schema].transaction(async (tx) => {
    await setExactText(tx);
    const rows = await tx.query<{ row: Row }>(
      `select array_to_json(array[${values}]::text[]) as row from ${quotedTable(table)}`,
    );
    return rows.map(({ row }) => row);
  });
}

const sorted = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).toSorted();

forEachEngine('a backup of a program before 0.1.0', (engine) => {
  test('is restored with every row as it was; sums of sales, coverage and the copy of the catalogue follow the rules of this version', async () => {
    const settings = await engine.settings('empty');
    await withDatabases(settings, async (databases) => {
      await restore(databases, FILE);
      const tables = await readTables();
      assert.ok(tables.length > 60 && tables.some(({ rows }) => rows.length > 0));
      for (const { table, rows } of tables) {
        const derived = DERIVED[`${table.schema}.${table.name}`] ?? [];
        const kept = table.columns.map(({ name }) => name).filter((name) => !derived.includes(name));
        const places = kept.map((name) => table.columns.findIndex((column) => column.name === name));
        if (kept.length === 0) continue;
        const expected = rows.map((row) => places.map((place) => row[place] ?? null));
        const stored = await readStored(databases, table, kept);
        assert.deepEqual(sorted(stored), sorted(expected), `${table.schema}.${table.name}`);
      }
      const { main, indexer } = databases;
      // Alpha: eight sales of 1 to 8, one between unknown accounts of 7, one in dollars, one unreadable. Not a sale of an account to itself, and none at 0.
      assert.deepEqual(
        await indexer.query(
          `select collection_id, volume_raw::text as volume, sales::int, unread::int from indexer.sale_total order by collection_id`,
        ),
        [
          { collection_id: BETA, volume: `75${'0'.repeat(18)}`, sales: 5, unread: 0 },
          { collection_id: ALPHA, volume: `43${'0'.repeat(18)}`, sales: 11, unread: 1 },
        ],
      );
      const [hours] = await indexer.query(
        `select sum(volume_raw)::text as volume, sum(sales)::int as sales from indexer.sale_hour`,
      );
      assert.deepEqual(hours, { volume: `118${'0'.repeat(18)}`, sales: 16 });
      const covered = await indexer.query(
        `select to_time = (select max(sold_at) from indexer.sale where sale.collection_id = coverage.collection_id) as to_newest
         from indexer.coverage where subject = 'sales'`,
      );
      assert.deepEqual(covered, [{ to_newest: true }, { to_newest: true }]);
      assert.deepEqual(await main.query(`select collection_id, asset from main.catalog_change`), [
        { collection_id: BETA, asset: null },
      ]);
      assert.deepEqual(
        await main.query(`select name from main.migration union all select name from indexer.migration`),
        [{ name: '0001-schema.sql' }, { name: '0001-schema.sql' }],
      );
    });
    const service = await startTestService({ settings });
    try {
      const listed = await service.walk('/v1/collections?sort=volume&limit=100');
      const beta = listed.find(({ contractAddress }) => BETA.endsWith(contractAddress));
      assert.equal(beta?.stats.volumeAllTime, 75);
      assert.equal((await service.walk(`/v1/collections/${ALPHA}/sales?limit=100`)).length, 11);
      assert.equal((await service.operate('shops.list', {})).body.result.length, 1);
    } finally {
      await service.close();
    }
    // The import of the earlier program can be taken back.
    const [{ id } = assert.fail()] = await withDatabases(settings, ({ main }) =>
      main.query<{ id: string }>(`select id from main.import`),
    );
    const undone = await mercat(settings, 'imports', 'undo', id);
    assert.deepEqual([undone.code, undone.stderr], [0, '']);
    await withDatabases(settings, async ({ indexer }) => {
      for (const table of ['sale', 'coverage'])
        assert.deepEqual(await indexer.query(`select collection_id from indexer.${table}`), [], table);
    });
    // A backup of the restored databases is one of this version.
    const again = path.join(temporaryDirectory(), 'again');
    await withDatabases(settings, async (databases) => {
      await backUp(databases, again);
      await restore(databases, again, { replace: true });
    });
  });

  test('is restored only as a whole, because both schemas have a part in what is derived', async () => {
    await withDatabases(await engine.settings('empty'), (databases) =>
      assert.rejects(restore(databases, FILE, { schemas: ['indexer'] }), {
        message: 'a backup from before version 0.1.0 can only be restored as a whole: leave out --only',
      }),
    );
  });

  test('keeps why a listing is dormant, although the column had another name', async () => {
    const file = path.join(temporaryDirectory(), 'dormant');
    const listings = (await readTables()).find(({ table }) => table.name === 'listing') ?? assert.fail();
    const [row = assert.fail()] = listings.rows;
    const { columns } = listings.table;
    const dormant = row.map((value, place) => (columns[place]?.name === 'undeliverable' ? 'no-balance' : value));
    await writeLines(file, [
      toHeader({ service: '0.1.0', createdAt: '2026-01-01T00:00:00.000Z', migrations: await readMigrations() }),
      toTableLine(listings.table),
      `${JSON.stringify(dormant)}\n`,
      toEnd({ 'indexer.listing': 1 }),
    ]);
    await withDatabases(await engine.settings('empty'), async (databases) => {
      await restore(databases, file);
      assert.deepEqual(await databases.indexer.query(`select dormant from indexer.listing`), [
        { dormant: 'no-balance' },
      ]);
    });
  });

  test('is refused if one of its columns is not in the schema, and the database stays as it is', async () => {
    const file = path.join(temporaryDirectory(), 'other-columns');
    const migrations = await readMigrations();
    const shape: TableShape = { schema: 'main', name: 'shop', columns: [{ name: 'added_by_hand', type: 'text' }] };
    const lines = [
      toHeader({ service: '0.1.0', createdAt: '2026-01-01T00:00:00.000Z', migrations }),
      toTableLine(shape),
      toEnd({ 'main.shop': 0 }),
    ];
    await writeLines(file, lines);
    await withDatabases(await engine.settings('migrated'), async (databases) => {
      await databases.main.query(`insert into main.shop (id, name, created_at) values ('shop_1', 'Stays', now())`);
      await assert.rejects(
        restore(databases, file, { replace: true }),
        /main\.shop of the backup does not have the columns/,
      );
      assert.deepEqual(await databases.main.query(`select name from main.shop`), [{ name: 'Stays' }]);
    });
  });
});
