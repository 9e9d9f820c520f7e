// Opens the two logical databases that the settings ask for: one embedded engine, one PostgreSQL, or two.

import path from 'node:path';
import type { Log } from '../core/log.ts';
import type { Database } from './port.ts';
import { createDatabase } from './port.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { checkPostgres, openPostgres } from './postgres.ts';

/** Null URLs: the embedded database in `dataDir`; the indexer as a schema of the primary. */
export type DatabaseSettings = { dataDir: string; databaseUrl: string | null; indexerDatabaseUrl: string | null };

export type Databases = { main: Database; indexer: Database; close(): Promise<void> };

/** The databases, reachable as far as the primary is concerned. An indexer that is down does not keep a service from starting. */
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
  const { pool, close } = await openEmbedded({ dir: path.join(config.dataDir, 'db') });
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
