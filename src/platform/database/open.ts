// Opens the primary and the indexer database. The primary is the embedded database or PostgreSQL. The indexer is a schema of the same
// database, or another PostgreSQL database.

import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Deadline } from '../core/deadline.ts';
import type { Log } from '../core/log.ts';
import type { Database } from './port.ts';
import { createDatabase } from './port.ts';
import { endProcess, openEmbedded } from './embedded/embedded.ts';
import { embeddedDirectoryOf } from './embedded/location.ts';
import { DirectoryInUse } from './embedded/lock.ts';
import type { PoolPurpose } from './postgres.ts';
import type { WriteHealth } from './write-health.ts';
import { STORE_LOCK_TIMEOUT_MS, checkPostgres, openPostgres } from './postgres.ts';

export type DatabaseSettings = {
  dataDir: string;
  /** Null: the primary is the embedded database in `dataDir`. */
  databaseUrl: string | null;
  /** Null: the indexer is a schema in the primary's database. */
  indexerDatabaseUrl: string | null;
};

export type Databases = {
  main: Database;
  /**
   * The primary for requests of the store. On PostgreSQL it has separate connections, which the marketplace and the workers cannot use up.
   * On the embedded engine it is `main`.
   */
  store: Database;
  indexer: Database;
  close(): Promise<void>;
};

/**
 * `processes`: the number of serving processes, this process included. They share the connections of the pools. Default: 1. `lockPatienceMs`: how
 * long to wait while another process has the embedded database open. Default: 0.
 */
export type OpenOptions = { processes?: number; lockPatienceMs?: number };

const LOCK_POLL_MS = 100;

/** Opens the databases. Throws if the primary cannot be used. The indexer is not checked, so that the service starts while the indexer is down. */
export async function openDatabases(config: DatabaseSettings, log: Log, options: OpenOptions = {}): Promise<Databases> {
  const main =
    config.databaseUrl === null
      ? await openEmbeddedMain(config, log, options.lockPatienceMs ?? 0)
      : await openChecked(config.databaseUrl, { name: 'main', setting: 'DATABASE_URL' }, log, options);
  const indexer =
    config.indexerDatabaseUrl === null
      ? main
      : openPostgresDatabase(config.indexerDatabaseUrl, 'indexer', log, options);
  const store =
    config.databaseUrl === null
      ? main
      : openPostgresDatabase(config.databaseUrl, 'store', log, { ...options, purpose: 'store', writes: main.writes });
  return {
    main,
    store,
    indexer,
    close: async () => {
      await Promise.all([...new Set([main, store, indexer])].map((database) => database.close()));
    },
  };
}

/** Opens the indexer database of `INDEXER_DATABASE_URL` alone. Throws if it cannot be used. */
export function openIndexer(url: string, log: Log): Promise<Database> {
  return openChecked(url, { name: 'indexer', setting: 'INDEXER_DATABASE_URL' }, log, {});
}

async function openEmbeddedMain({ dataDir }: DatabaseSettings, log: Log, lockPatienceMs: number): Promise<Database> {
  const deadline = Deadline.after(lockPatienceMs);
  for (let isFirst = true; ; isFirst = false) {
    try {
      const { pool, close } = await openEmbedded({
        dir: embeddedDirectoryOf(dataDir),
        onWarning: (line) => log.warn(line),
        onFatal: (line) => endProcess(() => log.error(line)),
      });
      return createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
    } catch (error) {
      if (!(error instanceof DirectoryInUse) || deadline.hasPassed) throw error;
      if (isFirst) log.info('another process has the database open: waiting until it ends', { dataDir });
      await delay(LOCK_POLL_MS);
    }
  }
}

async function openChecked(
  url: string,
  { name, setting }: { name: string; setting: string },
  log: Log,
  options: OpenOptions,
): Promise<Database> {
  // The rest of this turn of the event loop, such as the loading of modules, takes seconds on an overloaded machine. It must not count as time to
  // connect.
  await nextTurn();
  const database = openPostgresDatabase(url, name, log, options);
  try {
    await checkPostgres(database, setting);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function openPostgresDatabase(
  url: string,
  name: string,
  log: Log,
  options: OpenOptions & { purpose?: PoolPurpose; writes?: WriteHealth },
): Database {
  const { pool, close } = openPostgres(url, log, options);
  const lock = options.purpose === 'store' ? { lockTimeoutMs: STORE_LOCK_TIMEOUT_MS } : {};
  return createDatabase(pool, {
    engine: 'postgresql',
    name,
    ...lock,
    ...(options.writes && { writes: options.writes }),
    onClose: close,
  });
}
