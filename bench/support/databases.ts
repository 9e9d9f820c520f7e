// Makes a new, migrated database of each engine for a benchmark. Leaves PostgreSQL out if it cannot be started.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { Database, Engine } from '../../src/platform/database/port.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import { openEmbedded } from '../../src/platform/database/embedded/embedded.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../test/support/engines/postgres-server.ts';
import { recordUnmeasured } from './verdict.ts';

/** A database that any process can open. `address`: the directory of an embedded database, otherwise a URL. */
export type Target = { engine: Engine; address: string };

/** Runs `work` on a database of each engine in turn. */
export function onEachEngine(work: (database: Database) => Promise<void>): Promise<void> {
  return onEachTarget((target) => useTarget(target, work));
}

/** Runs `work` for a migrated database of each engine in turn. The database is not open. */
export async function onEachTarget(work: (target: Target) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  try {
    await migrateThen({ engine: 'embedded', address: path.join(dir, 'db') }, work);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  if (!canRunPostgres()) return recordUnmeasured('the same on PostgreSQL', 'needs PostgreSQL on this machine');
  const server = await startPostgres({ durable: true });
  try {
    await migrateThen({ engine: 'postgresql', address: await createTestDatabase(server.url) }, work);
  } finally {
    await server.stop();
  }
}

async function migrateThen(target: Target, work: (target: Target) => Promise<void>): Promise<void> {
  await useTarget(target, async (database) => {
    await migrate(database, 'main');
    await migrate(database, 'indexer');
  });
  await work(target);
}

/** Opens the database, runs `work`, and closes the database. */
export async function useTarget<T>(target: Target, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openTarget(target);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function openTarget({ engine, address }: Target): Promise<Database> {
  if (engine === 'embedded') {
    const { pool, close } = await openEmbedded({ dir: address });
    return createDatabase(pool, { engine, name: 'main', onClose: close });
  }
  const pool = new pg.Pool({ connectionString: address });
  // The server stops while the last connections are closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  return createDatabase(pool, { engine, name: 'main' });
}
