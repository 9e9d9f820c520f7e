// Makes a new, migrated database of each engine for a benchmark. Leaves PostgreSQL out if it cannot be started.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { Database } from '../src/database/port.ts';
import { createDatabase } from '../src/database/port.ts';
import { openEmbedded } from '../src/database/embedded/embedded.ts';
import { migrate } from '../src/database/migrate.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../test/support/engines/postgres-server.ts';
import { recordUnmeasured } from './verdict.ts';

/** Runs `work` on a database of each engine in turn. */
export async function onEachEngine(work: (database: Database) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  try {
    const { pool, close } = await openEmbedded({ dir: path.join(dir, 'db') });
    await use(createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close }), work);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  if (!canRunPostgres()) return recordUnmeasured('the same on PostgreSQL', 'needs PostgreSQL on this machine');
  const server = await startPostgres({ durable: true });
  try {
    const url = await createTestDatabase(server.url);
    const postgres = new pg.Pool({ connectionString: url });
    // The server stops while the last connections are closing. Without a listener, the `error` event would end the process.
    postgres.on('error', () => undefined);
    await use(createDatabase(postgres, { engine: 'postgresql', name: 'main' }), work);
  } finally {
    await server.stop();
  }
}

async function use(database: Database, work: (database: Database) => Promise<void>): Promise<void> {
  try {
    await migrate(database, 'main');
    await migrate(database, 'indexer');
    await work(database);
  } finally {
    await database.close();
  }
}
