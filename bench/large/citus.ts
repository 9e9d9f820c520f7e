// Compares a database on a Citus cluster (a coordinator and two workers) with the same database on one PostgreSQL server. In alternating
// rounds it measures uncached reads of one collection, uncached collection lists, and imports of sales. All servers write without fsync. The
// cluster gains nothing here, because its nodes share one machine: the ratios show what the additional steps of a cluster cost.

import pg from 'pg';
import { readConfig } from '../../src/service/config.ts';
import { createContext } from '../../src/service/context.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { SCHEMAS, migrate } from '../../src/platform/database/migrate.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import type { ImportContext } from '../../src/intake/import.ts';
import { importRecords } from '../../src/intake/import.ts';
import { startCitus } from '../../test/support/engines/citus-cluster.ts';
import { CITUS_MISSING, canRunCitus } from '../../test/support/engines/citus-node.ts';
import { startOwnPostgres } from '../../test/support/engines/postgres-server.ts';
import { ColdReads, LIST_READS, readsOfCollection } from '../reads/cold-reads.ts';
import { compare, timeMs } from '../support/measure.ts';
import {
  LISTED_COLLECTION,
  importRows,
  listedCollection,
  manyCollections,
  salesOfMany,
  toAsync,
  toChunks,
} from '../support/records.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const READ_ROUNDS = 41;
const IMPORT_ROUNDS = 5;
const IMPORTED_ROWS = 10_000;
const SALES = 10_000;
const COLLECTIONS = 2_000;
/** One benchmark imports the sales of one collection, and another one imports the sales of this many collections. */
const SOLD_COLLECTIONS = 200;
/** The aim for a read of one collection on the cluster, as a multiple of its time on one server. */
const RATIO_AIM = 2;

/** One of the two compared databases, with the same rows. */
type Side = { database: Database; context: ImportContext; reads: ColdReads };

export async function benchCitus(): Promise<void> {
  if (!canRunCitus()) return recordUnmeasured('Citus', CITUS_MISSING);
  await using stack = new AsyncDisposableStack();
  // Each of the three nodes of the cluster has a third of these shared buffers.
  const server = await startOwnPostgres({ settings: { shared_buffers: '96MB' } });
  stack.defer(() => server.discard());
  const cluster = await startCitus();
  stack.defer(() => cluster.discard());
  const citus = await openSide(await cluster.createDatabase('migrated'), stack);
  const postgresql = await openSide(server.url, stack);
  await benchReads(citus, postgresql, { reads: readsOfCollection(LISTED_COLLECTION), aim: { atMost: RATIO_AIM } });
  await benchReads(citus, postgresql, { reads: LIST_READS, aim: null });
  await benchImports(citus, postgresql, 'one collection', (round) =>
    importRows('sale', IMPORTED_ROWS, SALES + round * IMPORTED_ROWS),
  );
  await benchImports(citus, postgresql, `${SOLD_COLLECTIONS} collections`, (round) =>
    salesOfMany(SOLD_COLLECTIONS, { count: IMPORTED_ROWS, from: COLLECTIONS + round * IMPORTED_ROWS }),
  );
}

/** Brings both schemas of a database up to date, and fills the database. */
async function openSide(url: string, stack: AsyncDisposableStack): Promise<Side> {
  const pool = new pg.Pool({ connectionString: url });
  // The servers stop while the last connections are closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  const database = createDatabase(pool, { engine: 'postgresql', name: 'main' });
  stack.defer(() => database.close());
  for (const schema of SCHEMAS) await migrate(database, schema);
  const databases = { main: database, indexer: database };
  const context = createContext({
    config: readConfig({ SOURCE_TIMEOUT_MS: '60000' }),
    log: createLog('warn'),
    databases,
  });
  stack.defer(() => context.close());
  for (const records of [listedCollection(), importRows('sale', SALES, 0), manyCollections(COLLECTIONS)]) {
    await load(context, records);
  }
  await database.query('analyze');
  const reads = await ColdReads.open(database);
  stack.defer(() => reads.close());
  return { database, context, reads };
}

async function benchReads(
  citus: Side,
  postgresql: Side,
  { reads, aim }: { reads: Readonly<Record<string, string>>; aim: { atMost: number } | null },
): Promise<void> {
  for (const [name, path] of Object.entries(reads)) {
    const [onCitus, onPostgres] = [await citus.reads.prepare(path), await postgresql.reads.prepare(path)];
    const measured = await compare(
      READ_ROUNDS,
      () => timeMs(onCitus),
      () => timeMs(onPostgres),
    );
    judge({
      name: `Citus, ${name}, as a multiple of one PostgreSQL server`,
      figure: measured.ratio,
      unit: '',
      rounds: measured.ratios,
      aim,
      beside: `${measured.a.toFixed(1)} ms on the cluster, ${measured.b.toFixed(1)} ms on one server`,
    });
  }
}

async function benchImports(
  citus: Side,
  postgresql: Side,
  what: string,
  recordsOf: (round: number) => Iterable<Record<string, unknown>>,
): Promise<void> {
  const rounds = { citus: 0, postgresql: 0 };
  const measured = await compare(
    IMPORT_ROUNDS,
    () => load(citus.context, recordsOf(rounds.citus++)),
    () => load(postgresql.context, recordsOf(rounds.postgresql++)),
  );
  const rate = (ms: number) => `${((IMPORTED_ROWS / ms) * 1_000).toFixed(0)} rows/s`;
  judge({
    name: `Citus, import of sales of ${what}, time as a multiple of one PostgreSQL server`,
    figure: measured.ratio,
    unit: '',
    rounds: measured.ratios,
    aim: null,
    beside: `${rate(measured.a)} on the cluster, ${rate(measured.b)} on one server`,
  });
}

/** Imports records. Returns the milliseconds, without the time in which the records are made. */
async function load(context: ImportContext, records: Iterable<Record<string, unknown>>): Promise<number> {
  const chunks = [...toChunks(records)];
  return timeMs(async () => {
    const { refused } = await importRecords(context, toAsync(chunks), { format: 'ndjson' });
    if (refused > 0) throw new Error(`${refused} records were refused`);
  });
}
