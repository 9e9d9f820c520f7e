// Support for the backup tests. It inserts rows with values that a backup could easily alter, dumps a database exactly, and runs the backup
// and restore commands as real processes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../../../src/service/config.ts';
import { listSequences, listTables } from '../../../../src/platform/database/backup/catalogue.ts';
import { writeBackupFile } from '../../../../src/platform/database/backup/file.ts';
import type { BackupResult } from '../../../../src/platform/database/backup/write.ts';
import { writeBackup } from '../../../../src/platform/database/backup/write.ts';
import { verifyBackup } from '../../../../src/platform/database/backup/format.ts';
import type { RestoreResult } from '../../../../src/platform/database/backup/restore.ts';
import { restoreBackup } from '../../../../src/platform/database/backup/restore.ts';
import type { Queryable } from '../../../../src/platform/database/port.ts';
import type { Schema } from '../../../../src/platform/database/migrate.ts';
import { SCHEMAS, migrate } from '../../../../src/platform/database/migrate.ts';
import type { Databases } from '../../../../src/platform/database/open.ts';
import { openDatabases } from '../../../../src/platform/database/open.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import { programEnvironment } from '../../../support/program-environment.ts';

const MAIN = fileURLToPath(new URL('../../../../src/main.ts', import.meta.url));

export type Settings = Record<string, string>;
export type Result = { code: number | null; stdout: string; stderr: string };

/** Runs a command of the command line in a process of its own. `main`: the file of the program. */
export function startMercat(settings: Settings, args: readonly string[], main = MAIN) {
  const env = { ...programEnvironment(), LOG_LEVEL: 'error', PRICE_SOURCES: 'none', ...settings };
  const child = spawn(process.execPath, [main, ...args], { env });
  const result: Result = { code: 0, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (result.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (result.stderr += String(chunk)));
  const ended = once(child, 'close').then(([code]) => ({ ...result, code: code as number | null }));
  return { child, ended };
}

export const mercat = (settings: Settings, ...args: string[]): Promise<Result> => startMercat(settings, args).ended;

/** Opens the databases that the settings name, runs the work, and closes the databases. */
export async function withDatabases<T>(settings: Settings, work: (databases: Databases) => Promise<T>): Promise<T> {
  const databases = await openDatabases(readConfig({ PRICE_SOURCES: 'none', ...settings }), createLog('silent'));
  try {
    return await work(databases);
  } finally {
    await databases.close();
  }
}

/** Like `withDatabases`, but first applies all migrations of both schemas. */
export async function withMigrated<T>(settings: Settings, work: (databases: Databases) => Promise<T>): Promise<T> {
  return withDatabases(settings, async (databases) => {
    await migrate(databases.main, 'main');
    await migrate(databases.indexer, 'indexer');
    return work(databases);
  });
}

export const never = new AbortController().signal;

export function backUp(
  databases: Pick<Databases, 'main' | 'indexer'>,
  file: string,
  { force = false } = {},
): Promise<BackupResult> {
  return writeBackup(databases, { file, force }, { service: 'test', signal: never, onProgress: () => undefined });
}

/** Writes a backup file with these lines and correct checksums. */
export function writeLines(file: string, lines: readonly string[]): Promise<number> {
  return writeBackupFile({ file, force: false }, { signal: never, onBytes: () => undefined }, (write) =>
    write(
      (async function* () {
        yield* lines;
      })(),
    ),
  );
}

type RestoreOptions = { replace?: boolean; signal?: AbortSignal; schemas?: readonly Schema[] };

export async function restore(
  databases: Pick<Databases, 'main' | 'indexer'>,
  file: string,
  { replace = false, signal = never, schemas = SCHEMAS }: RestoreOptions = {},
): Promise<RestoreResult> {
  const { header } = await verifyBackup(file, { signal: never });
  return restoreBackup(databases, file, { header, schemas, replace, signal, onProgress: () => undefined });
}

/**
 * Every row of every table, and the value of every sequence. Each row is returned as its text in hex, so that no layer between the
 * database and the test alters the row. The epoch of the activity log and the places of the shops' feeds are left out, because a restore begins new ones.
 */
export async function readEverything({ main, indexer }: Pick<Databases, 'main' | 'indexer'>) {
  const found: Record<string, unknown> = {};
  for (const schema of SCHEMAS) {
    const database = { main, indexer }[schema];
    await database.transaction(async (tx) => {
      await tx.query(`set local timezone = 'UTC'`);
      for (const table of await listTables(tx, schema)) {
        if (table.name === 'shop_feed') continue;
        const rows = await tx.query<{ row: string }>(
          `select encode(convert_to(${table.name === 'activity_head' ? `(to_jsonb(stored) - 'epoch')` : 'stored'}::text, 'UTF8'), 'hex') as row from ${schema}."${table.name}" as stored order by 1`,
        );
        found[`${schema}.${table.name}`] = rows.map(({ row }) => row);
      }
      found[`${schema} sequences`] = await listSequences(tx, schema);
    });
  }
  return found;
}

export function assertSame(actual: Record<string, unknown>, expected: Record<string, unknown>, what: string): void {
  assert.deepEqual(Object.keys(actual).toSorted(), Object.keys(expected).toSorted(), what);
  for (const [name, rows] of Object.entries(expected)) assert.deepEqual(actual[name], rows, `${what}: ${name}`);
}

/** SQL expressions for texts that a faulty backup or restore could lose or alter. */
const TEXTS = [
  `''`,
  `chr(65279) || 'begins with a byte order mark'`,
  `chr(65279)`,
  `E'two\\nlines\\r\\n\\ttab \\\\ backslash \\\\N "quotes" ''single'''`,
  `E'\\x01 \\x1f \\x7f ' || chr(133) || chr(8232) || chr(8233) || chr(65535)`,
  `'[1,2]'`,
  `'{"a": null}'`,
  `'NULL'`,
  `'𝒳 😀 é ' || chr(101) || chr(769)`,
  `repeat('long ', 3000)`,
];

/** Fills tables of both schemas with values that a backup could easily alter. */
export async function insertHardRows({ main, indexer }: { main: Queryable; indexer: Queryable }): Promise<void> {
  const texts = `array[${TEXTS.join(', ')}]::text[]`;
  await main.query(`insert into main.shop select 'shop_' || i, t, '2026-01-02 03:04:05.678901+00'
    from unnest(${texts}) with ordinality as u (t, i)`);
  await main.query(`insert into main.api_key (id, shop_id, name, prefix, hash, scopes, created_at, expires_at)
    select 'key_' || i, 'shop_' || i, t, t, decode(md5(i::text) || '00ff5c0a0d', 'hex'), array[t, '', 'a,b', '{"', 'NULL', null],
      '1999-12-31 23:59:59.999999+00', case i when 1 then 'infinity'::timestamptz when 2 then '-infinity'::timestamptz
        when 3 then '0044-03-15 12:00:00.000001+00 BC'::timestamptz end
    from unnest(${texts}) with ordinality as u (t, i)`);
  await main.query(`insert into main.product (id, shop_id, name, slug, price, type, description, image, more_images, inventory, track_inventory,
      requires_shipping, weight_grams, collections, version, created_at, updated_at)
    select 'product_' || i, 'shop_1', t, 'slug-' || i, '19.90', 'physical', nullif(t, ''), t, array[]::text[], i, true, false,
      (array[0, 0.1, 1e-320, 1e308, 'Infinity', 'NaN', 12345.678901234567])[1 + i % 7]::float8, array[t], i, now(), now()
    from unnest(${texts}) with ordinality as u (t, i)`);
  await main.query(`insert into main.adjustment (shop_id, product_id, previous, next, requested, mode, reason, source, key_id, created_at, position)
    select 'shop_1', 'product_' || i, 0, i, 9223372036854775807, 'set', 'r', 'import', null, now(), nullif(i, 10) from generate_series(1, 10) as i`);
  await main.query(`insert into main.shop_feed values ('shop_1', 9, 3, 0)`);
  await main.query(
    `insert into main.secret (name, value) values ('empty', ''), ('bytes', decode('00ff0a5c27220d', 'hex'))`,
  );
  await main.query(`insert into main.webhook (id, shop_id, url, events, secret, created_at, updated_at)
    values ('webhook_1', 'shop_1', 'https://example.org/', array['product.*'], 'whsec_' || chr(65279), now(), now())`);
  await main.query(`insert into main.event (id, shop_id, type, data, created_at)
    select 'event_' || i, 'shop_1', 'product.updated', t, now() from unnest(${texts}) with ordinality as u (t, i)`);
  await main.query(`insert into main.delivery (webhook_id, event_id, due_at, created_at)
    select 'webhook_1', 'event_' || i, now(), now() from generate_series(1, 5) as i`);
  await main.query(`insert into main.book_order (id, collection_id, chain, contract_address, token_id, price_raw, seller, status, created_at, seaport)
    select 'order_' || i, 'c', 'ethereum', '0x', '1', (array[0, 10::numeric ^ 77, repeat('9', 78)::numeric])[1 + i % 3], t, 'active', now(),
      jsonb_build_object('text', t, 'null', null, 'scale', 1.10, 'wide', repeat('9', 90)::numeric, 'float', 1e-7, t, array[t])
    from unnest(${texts}) with ordinality as u (t, i)`);
  await main.query(`insert into main.sync_task (name, period_ms, due_at, result, progress) values
    ('one', 1, now(), 'null', null), ('two', 1, now(), '"\\ufeff"', null), ('three', 1, now(), null, '[]')`);
  await main.query(`select setval('main.chain_seq', 9007199254740993, false)`);
  await main.query(`insert into main.rate values ('ETH', 'Infinity', now()), ('SOL', 0.30000000000000004, now())`);
  await indexer.query(`insert into indexer.token (collection_id, asset, chain, name, rarity_rank)
    select 'c' || i, t, 'ethereum', t, 9223372036854775807 from unnest(${texts}) with ordinality as u (t, i)`);
  await indexer.query(
    `insert into indexer.sale_total values ('a', 1.10, 1), ('b', 'NaN', 2), ('c', 1e200, 3), ('d', 0.000, 4)`,
  );
}

export async function insertSales(indexer: Queryable, count: number): Promise<void> {
  await indexer.query(
    `insert into indexer.sale (key, source, chain, collection_id, asset, price, seller, buyer, sold_at, tx)
     select md5(i::text)::uuid, 'opensea', 'ethereum', 'c', i::text, i::text, md5(i::text), md5(i::text), now(), md5(i::text)
     from generate_series(1, $1::int) as i`,
    [count],
  );
}

export const directoryOf = (settings: Settings): string => path.join(settings['DATA_DIR'] ?? '', 'db');
