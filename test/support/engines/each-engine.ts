// Runs a suite on both database engines: on the embedded one always, on PostgreSQL where TEST_DATABASE_URL names a server or
// its programs are on the machine. Elsewhere the suite is skipped on PostgreSQL; with REQUIRE_POSTGRES=1 it fails.

import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Database } from '../../../src/database/port.ts';
import { createDatabase } from '../../../src/database/port.ts';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { cleanUp, onCleanUp } from './cleanup.ts';
import { directoryWithDatabase } from './empty-database.ts';
import type { PostgresServer } from './postgres-server.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from './postgres-server.ts';

/** What a suite gets of an engine: its name, and new databases of its own on it. */
export type TestEngine = {
  name: 'embedded' | 'postgresql';
  /** A new, empty, migrated database; both schemas in one. Closed after the suite. */
  open(): Promise<Database>;
  /** The settings that make a service use a new database of this engine. */
  settings(): Promise<Record<string, string>>;
};

/** No test uses the internet. */
const OFFLINE = { PRICE_SOURCES: 'none' };

/** Declares `suite` once for each engine. */
export function forEachEngine(name: string, suite: (engine: TestEngine) => void): void {
  describe(`${name} [embedded]`, () => {
    after(cleanUp);
    suite(embeddedEngine());
  });
  if (!canRunPostgres() && process.env['REQUIRE_POSTGRES'] !== '1') {
    test(`${name} [postgresql]`, { skip: 'PostgreSQL is not on this machine' });
    return;
  }
  describe(`${name} [postgresql]`, () => {
    let server: PostgresServer | null = null;
    before(async () => {
      server = await startPostgres();
    });
    after(async () => {
      await cleanUp();
      await server?.discard();
    });
    suite(postgresEngine(() => server?.url ?? ''));
  });
}

function embeddedEngine(): TestEngine {
  return {
    name: 'embedded',
    open: async () => {
      const { pool, close } = await openEmbedded({ dir: path.join(await directoryWithDatabase(), 'db') });
      const database = createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
      onCleanUp(() => database.close());
      return migrated(database);
    },
    settings: async () => ({ ...OFFLINE, DATA_DIR: await directoryWithDatabase() }),
  };
}

function postgresEngine(serverUrl: () => string): TestEngine {
  return {
    name: 'postgresql',
    open: async () => {
      const pool = new pg.Pool({ connectionString: await createTestDatabase(serverUrl()), max: 8 });
      pool.on('error', () => undefined);
      const database = createDatabase(pool, { engine: 'postgresql', name: 'main' });
      onCleanUp(() => database.close());
      return migrated(database);
    },
    settings: async () => ({
      ...OFFLINE,
      DATA_DIR: temporaryDirectory(),
      DATABASE_URL: await createTestDatabase(serverUrl()),
    }),
  };
}

async function migrated(database: Database): Promise<Database> {
  await migrate(database, 'main');
  await migrate(database, 'indexer');
  return database;
}
