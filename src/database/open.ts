// Opens the two logical databases of the settings: in one embedded engine, in one PostgreSQL database, or in two.

import type { Log } from '../core/log.ts';
import type { Database } from './port.ts';
import { createDatabase } from './port.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { embeddedDirectoryOf } from './embedded/location.ts';
import { checkPostgres, openPostgres } from './postgres.ts';

/** Null URLs: the embedded database in `dataDir`; the indexer as a schema of the primary. */
export type DatabaseSettings = { dataDir: string; databaseUrl: string | null; indexerDatabaseUrl: string | null };

export type Databases = { main: Database; indexer: Database; close(): Promise<void> };

/** Opens the databases and checks the primary. An indexer that is down does not prevent a start. */
export async function openDatabases(config: DatabaseSettings, log: Log): Promise<Databases> {
  const main =
    config.databaseUrl === null ? await openEmbeddedMain(config) : await openPostgresMain(config.databaseUrl, log);
  const indexer =
    config.indexerDatabaseUrl === null ? main : openPostgresDatabase(config.indexerDatabaseUrl, 'indexer', log);
  return {
    main,
    indexer,
    close: async () => {
      await Promise.all([main.close(), indexer === main ? null : indexer.close()]);
    },
  };
}

async function openEmbeddedMain(config: DatabaseSettings): Promise<Database> {
  const { pool, close } = await openEmbedded({ dir: embeddedDirectoryOf(config.dataDir) });
  return createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
}

async function openPostgresMain(url: string, log: Log): Promise<Database> {
  const database = openPostgresDatabase(url, 'main', log);
  try {
    await checkPostgres(database, 'DATABASE_URL');
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function openPostgresDatabase(url: string, name: string, log: Log): Database {
  const { pool, close } = openPostgres(url, log);
  return createDatabase(pool, { engine: 'postgresql', name, onClose: close });
}
