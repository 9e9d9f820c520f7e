// Runs a suite on both database engines, or on one of them. PostgreSQL is available if TEST_DATABASE_URL names a server, or if PostgreSQL's programs are
// installed. Otherwise the suite is skipped on PostgreSQL, or fails on PostgreSQL if REQUIRE_POSTGRES=1. With TEST_CITUS=1 the suite runs
// only on PostgreSQL with the indexer database on a Citus cluster, and is skipped where Citus is not installed.

import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Database } from '../../../src/platform/database/port.ts';
import { createDatabase } from '../../../src/platform/database/port.ts';
import { openEmbedded } from '../../../src/platform/database/embedded/embedded.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import type { CitusCluster } from './citus-cluster.ts';
import { startCitus } from './citus-cluster.ts';
import { CITUS_MISSING, RUNS_ON_CITUS, canRunCitus } from './citus-node.ts';
import { cleanUp, onCleanUp } from './cleanup.ts';
import type { Template } from './embedded-template.ts';
import { directoryWithDatabase } from './embedded-template.ts';
import type { PostgresServer } from './postgres-server.ts';
import { canRunPostgres, createTestDatabase, migratedTemplate, startPostgres } from './postgres-server.ts';

/** An engine as a suite receives it: its name, and functions that make new databases on it. */
export type TestEngine = {
  name: 'embedded' | 'postgresql';
  /** Whether the schema `indexer` is on a Citus cluster. A service then has its primary in a separate PostgreSQL database. */
  hasCitus: boolean;
  /** Opens a new database that has the migrations of both schemas, but no rows. It is closed after the suite. */
  open(): Promise<Database>;
  /** Like `open`. If `hasCitus`, the database is an ordinary PostgreSQL database without distributed tables. */
  openLocal(): Promise<Database>;
  /** Settings with which a service uses a new database on this engine. The database has all migrations unless `empty` is given. */
  settings(template?: Template): Promise<Record<string, string>>;
};

/** Settings without which a service would read prices from the internet. */
const OFFLINE = { PRICE_SOURCES: 'none' };

export type EngineSuite = (engine: TestEngine) => void;

/** Declares `suite` once for each engine. */
export function forEachEngine(name: string, suite: EngineSuite): void {
  if (RUNS_ON_CITUS) {
    describeOnCitus(name, suite);
    return;
  }
  describeEmbedded(name, suite);
  if (hasPostgres()) describePostgres(name, suite);
  else test(`${name} [postgresql]`, { skip: 'PostgreSQL is not on this machine' });
}

/**
 * Declares `suite` once, for rules that the engine cannot change, because they stand above SQL or in SQL that both engines share: on PostgreSQL, or on
 * the embedded engine where PostgreSQL is missing. Rules about connections, locks, deadlines, plans, files and processes belong in `forEachEngine`.
 */
export function forOneEngine(name: string, suite: EngineSuite): void {
  if (RUNS_ON_CITUS) describeOnCitus(name, suite);
  else if (hasPostgres()) describePostgres(name, suite);
  else describeEmbedded(name, suite);
}

const hasPostgres = () => canRunPostgres() || process.env['REQUIRE_POSTGRES'] === '1';

function describeEmbedded(name: string, suite: EngineSuite): void {
  describe(`${name} [embedded]`, () => {
    after(cleanUp);
    suite(embeddedEngine());
  });
}

function describePostgres(name: string, suite: EngineSuite): void {
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

function describeOnCitus(name: string, suite: EngineSuite): void {
  if (!canRunCitus()) {
    test(`${name} [citus]`, { skip: CITUS_MISSING });
    return;
  }
  describe(`${name} [citus]`, () => {
    let cluster: CitusCluster | null = null;
    before(async () => {
      cluster = await startCitus();
    });
    after(async () => {
      await cleanUp();
      await cluster?.discard();
    });
    suite(
      citusEngine(() => {
        if (!cluster) throw new Error('the cluster has not started: use the engine only in tests and hooks');
        return cluster;
      }),
    );
  });
}

function embeddedEngine(): TestEngine {
  const open = async () => {
    const { pool, close } = await openEmbedded({ dir: path.join(await directoryWithDatabase(), 'db') });
    const database = createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
    onCleanUp(() => database.close());
    return database;
  };
  return {
    name: 'embedded',
    hasCitus: false,
    open,
    openLocal: open,
    settings: async (template) => ({ ...OFFLINE, DATA_DIR: await directoryWithDatabase(template) }),
  };
}

function postgresEngine(serverUrl: () => string): TestEngine {
  const create = async (template: Template) =>
    createTestDatabase(serverUrl(), template === 'empty' ? null : await migratedTemplate(serverUrl()));
  const open = async () => openPool(await create('migrated'));
  return {
    name: 'postgresql',
    hasCitus: false,
    open,
    openLocal: open,
    settings: async (template = 'migrated') => ({
      ...OFFLINE,
      DATA_DIR: temporaryDirectory(),
      DATABASE_URL: await create(template),
    }),
  };
}

/** `open` makes one database on the cluster, with both schemas. `settings` makes two: an ordinary primary, and an indexer database on the cluster. */
function citusEngine(cluster: () => CitusCluster): TestEngine {
  return {
    name: 'postgresql',
    hasCitus: true,
    open: async () => openPool(await cluster().createDatabase('migrated')),
    openLocal: async () => openPool(await cluster().createPrimary('migrated')),
    settings: async (template = 'migrated') => ({
      ...OFFLINE,
      DATA_DIR: temporaryDirectory(),
      DATABASE_URL: await cluster().createPrimary(template),
      INDEXER_DATABASE_URL: await cluster().createDatabase(template),
    }),
  };
}

function openPool(connectionString: string): Database {
  const pool = new pg.Pool({ connectionString, max: 8 });
  pool.on('error', () => undefined);
  const database = createDatabase(pool, { engine: 'postgresql', name: 'main' });
  onCleanUp(() => database.close());
  return database;
}
