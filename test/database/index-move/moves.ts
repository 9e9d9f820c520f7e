// Fixtures of the tests of index moves: new sources on each engine, new targets, rows that are written all the time, and a move whose
// stages a test can observe.

import { after, before, describe, test } from 'node:test';
import path from 'node:path';
import pg from 'pg';
import type { Database, Engine } from '../../../src/database/port.ts';
import { createDatabase, isIndexSealed } from '../../../src/database/port.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import type { MoveProgress, MoveResult } from '../../../src/database/index-move/move.ts';
import { moveIndex } from '../../../src/database/index-move/move.ts';
import { directoryWithDatabase } from '../../support/engines/embedded-template.ts';
import type { CitusCluster } from '../../support/engines/citus-cluster.ts';
import { startCitus } from '../../support/engines/citus-cluster.ts';
import { CITUS_MISSING, RUNS_ON_CITUS, canRunCitus } from '../../support/engines/citus-node.ts';
import { cleanUp } from '../../support/engines/cleanup.ts';
import type { PostgresServer } from '../../support/engines/postgres-server.ts';
import {
  canRunPostgres,
  createTestDatabase,
  migratedTemplate,
  startPostgres,
} from '../../support/engines/postgres-server.ts';
import { assertSame, readEverything } from '../backup/backups.ts';

export type MoveEngines = {
  /** The engine of the sources. */
  engine: Engine;
  /** Whether the targets are Citus clusters. */
  hasCitus: boolean;
  /** Settings of a service on a new source with all migrations. */
  settings(): Promise<Record<string, string> & { DATA_DIR: string }>;
  /** A new source with all migrations, and no rows. */
  openSource(): Promise<Database>;
  /** The URL of a new, empty target. */
  createTarget(): Promise<string>;
  open(url: string): Database;
};

/** Declares `suite` once for each engine of the source. With TEST_CITUS=1 the targets are clusters, else PostgreSQL databases. */
export function forEachMove(name: string, suite: (engines: MoveEngines) => void): void {
  const hasCitus = RUNS_ON_CITUS;
  const missing = hasCitus ? !canRunCitus() && CITUS_MISSING : !canRunPostgres() && 'PostgreSQL is not on this machine';
  if (missing !== false && process.env['REQUIRE_POSTGRES'] !== '1') {
    test(name, { skip: missing });
    return;
  }
  describe(`${name} [${hasCitus ? 'to Citus' : 'to PostgreSQL'}]`, () => {
    const opened: Database[] = [];
    let server: PostgresServer | null = null;
    let cluster: CitusCluster | null = null;
    before(async () => {
      server = await startPostgres();
      if (hasCitus) cluster = await startCitus();
    });
    after(async () => {
      for (const database of opened) await database.close();
      await cleanUp();
      await Promise.all([server?.discard(), cluster?.discard()]);
    });
    const serverUrl = () => server?.url ?? '';
    const open = (connectionString: string): Database => {
      const pool = new pg.Pool({ connectionString, max: 4 });
      pool.on('error', () => undefined);
      const database = createDatabase(pool, { engine: 'postgresql', name: 'indexer' });
      opened.push(database);
      return database;
    };
    const settings = async (engine: Engine) => {
      const dataDir = await directoryWithDatabase(engine === 'embedded' ? 'migrated' : 'empty');
      const databaseUrl = () =>
        migratedTemplate(serverUrl()).then((template) => createTestDatabase(serverUrl(), template));
      return {
        DATA_DIR: dataDir,
        PRICE_SOURCES: 'none',
        ...(engine === 'postgresql' && { DATABASE_URL: await databaseUrl() }),
      };
    };
    const openSource = async (engine: Engine): Promise<Database> => {
      if (engine === 'postgresql') return open((await settings(engine)).DATABASE_URL ?? '');
      const { pool, close } = await openEmbedded({ dir: path.join(await directoryWithDatabase(), 'db') });
      const database = createDatabase(pool, { engine, name: 'main', onClose: close });
      opened.push(database);
      return database;
    };
    for (const engine of ['embedded', 'postgresql'] as const) {
      describe(`a move from ${engine}`, () => {
        suite({
          engine,
          hasCitus,
          settings: () => settings(engine),
          openSource: () => openSource(engine),
          createTarget: async () => (cluster ? cluster.createDatabase() : createTestDatabase(serverUrl())),
          open,
        });
      });
    }
  });
}

export type ObservedMove = {
  source: Database;
  target: Database;
  signal?: AbortSignal;
  onProgress?: (progress: MoveProgress) => void;
};

export function runMove({ source, target, signal, onProgress }: ObservedMove): Promise<MoveResult> {
  return moveIndex(
    { source, target, names: { source: 'old', target: 'new' } },
    { signal: signal ?? new AbortController().signal, onProgress: onProgress ?? (() => undefined) },
  );
}

/** Fails unless the index of both databases has the same rows, the same sequences and the same migrations. */
export async function assertSameIndex(target: Database, source: Database, what: string): Promise<void> {
  const [there, here] = [await readIndex(target), await readIndex(source)];
  assertSame(there, here, what);
}

/**
 * The content of the schema `indexer`. Migrations are compared only by name, because the times at which they were applied differ between
 * databases.
 */
async function readIndex(db: Database): Promise<Record<string, unknown>> {
  await migrateMain(db);
  const everything = await readEverything({ main: db, indexer: db });
  const names = await db.query<{ name: string }>(`select name from indexer.migration order by name`);
  const entries = Object.entries(everything).filter(
    ([name]) => name.startsWith('indexer') && name !== 'indexer.migration',
  );
  return { ...Object.fromEntries(entries), migrations: names.map(({ name }) => name) };
}

/** Creates the schema `main` if it is missing, because `readEverything` reads both schemas. */
async function migrateMain(db: Database): Promise<void> {
  const [found] = await db.query<{ found: boolean }>(`select to_regclass('main.migration') is not null as found`);
  if (!found?.found) await migrate(db, 'main');
}

/** The pause between two rounds of writes. Without a pause, the writes would take the process and the embedded connection from the move. */
const WRITE_PERIOD_MS = 50;

/**
 * Inserts, changes and deletes rows of several tables, one transaction after the other, until `stop` is called. Also changes keys of
 * rows, and replaces rows by others with the same unique columns. `writes` returns the number of committed transactions,
 * and `rejected` the number of transactions that failed because the index was sealed.
 */
export function writeRows(source: Database): {
  writes: () => number;
  rejected: () => number;
  stop: () => Promise<void>;
} {
  let writes = 0;
  let rejected = 0;
  const stopping = new AbortController();
  const run = async () => {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      try {
        await writeRound(source, round);
        writes += 1;
      } catch (error) {
        if (!isIndexSealed(error)) throw error;
        rejected += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await new Promise((resolve) => setTimeout(resolve, WRITE_PERIOD_MS));
    }
  };
  const running = run();
  return {
    writes: () => writes,
    rejected: () => rejected,
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}

async function writeRound(source: Database, round: number): Promise<void> {
  await source.transaction(async (tx) => {
    await tx.query(
      `insert into indexer.sale (key, source, chain, collection_id, asset, price, seller, sold_at)
       select md5('w' || $1 || '/' || i)::uuid, 'opensea', 'ethereum', 'written', i::text, '1', 'é "quoted" \\ ' || $1, now()
       from generate_series(1, 20) as i`,
      [round],
    );
    await tx.query(`update indexer.sale set price = price || '0' where collection_id = 'c' and asset = $1`, [
      `${round % 500}`,
    ]);
    await tx.query(`delete from indexer.sale where collection_id = 'c' and asset = $1`, [`${1_000 + round}`]);
    await tx.query(
      `insert into indexer.token (collection_id, asset, chain, name) values ('written', $1, 'ethereum', 'name')
       on conflict (collection_id, asset) do update set name = excluded.name || 'x'`,
      [`${round % 40}`],
    );
    await tx.query(
      `insert into indexer.token_metadata (collection_id, asset, source, name) values ('written', $1, 'chain', $2)
       on conflict (collection_id, asset) do update set name = excluded.name`,
      [`${round % 40}`, `${round}`],
    );
    // The metadata is deleted by the foreign key.
    await tx.query(`delete from indexer.token where collection_id = 'written' and asset = $1`, [`${(round * 7) % 40}`]);
    await tx.query(`delete from indexer.trait where collection_id = 'written' and value = $1`, [`${round % 5}`]);
    await tx.query(
      `insert into indexer.trait (collection_id, name, value) values ('written', 'n', $1)
       on conflict (collection_id, name, value) do nothing`,
      [`${round % 5}`],
    );
    await tx.query(`update indexer.token set asset = asset || 'm' where collection_id = 'c3' and length(asset) < 100`);
    await tx.query(`insert into indexer.market_change (kind, at, chain) values ('sale', now(), 'ethereum')`);
    await tx.query(`delete from indexer.market_change where seq = (select min(seq) from indexer.market_change)`);
  });
}
