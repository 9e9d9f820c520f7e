// Opens two databases of generated rows, the large set (large-set.ts) and 1 % of it, and fills them if necessary. By default they are on a
// PostgreSQL server that the benchmark starts and discards. The server of `LARGE_SERVER_URL` keeps its filled databases for later runs. It must run on this machine, because the CPU time
// of its processes is measured.

import os from 'node:os';
import pg from 'pg';
import type { Database } from '../../src/platform/database/port.ts';
import { SCHEMAS, migrate } from '../../src/platform/database/migrate.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import { startOwnPostgres } from '../../test/support/engines/postgres-server.ts';
import { createLargeSet } from './large-set.ts';
import type { LargeSize } from './large-set-rows.ts';
import { sizeOf } from './large-set-rows.ts';
import { exactCpuMs, say, timeMs } from '../support/measure.ts';

export type LargeDatabase = {
  url: string;
  size: LargeSize;
  database: Database;
  /** The CPU time of the client connections to this database, in milliseconds. */
  cpuMs: () => Promise<() => number>;
};

/** The rows of the larger set, as a share of the rows at full size (`sizeOf`). The smaller set has 1 % of the rows of the larger set. */
const LARGE_SHARE = Number(process.env['LARGE_SHARE'] ?? 0.1);
const SMALLER = 0.01;
const LARGE_SALES = process.env['LARGE_SALES'];

/**
 * The server gets a quarter of the memory, as PostgreSQL's manual advises. It makes few checkpoints, and does not log the rows that fill a
 * new table.
 */
const SERVER_SETTINGS = {
  shared_buffers: `${Math.floor(os.totalmem() / 4 / 2 ** 20)}MB`,
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
  wal_level: 'minimal',
  max_wal_senders: '0',
};
/** Sorts the indexes of a large set in memory. With the default settings, PostgreSQL sorts them in small files on the disk. */
const FILL_OPTIONS = '-c maintenance_work_mem=1GB -c work_mem=256MB -c synchronous_commit=off';

/** Runs `work` on the large set and on 1 % of it. */
export async function withLargeDatabases(
  work: (databases: { all: LargeDatabase; part: LargeDatabase }) => Promise<void>,
): Promise<void> {
  const kept = process.env['LARGE_SERVER_URL'];
  const server = kept === undefined ? await startOwnPostgres({ settings: SERVER_SETTINGS }) : null;
  const serverUrl = kept ?? server?.url ?? '';
  const opened: LargeDatabase[] = [];
  const open = async (share: number) => {
    const size = sizeOf(
      share,
      share === LARGE_SHARE && LARGE_SALES !== undefined ? { sales: Number(LARGE_SALES) } : {},
    );
    const one = await openLargeDatabase(serverUrl, size);
    opened.push(one);
    return one;
  };
  try {
    await work({ part: await open(LARGE_SHARE * SMALLER), all: await open(LARGE_SHARE) });
  } finally {
    for (const { database } of opened) await database.close();
    await server?.discard();
  }
}

async function openLargeDatabase(serverUrl: string, size: LargeSize): Promise<LargeDatabase> {
  const name = `mercat_large_${size.collections}_${size.sales}`;
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  const url = address.href;
  if (await createIfMissing(serverUrl, name)) await fill(url, name, size);
  const database = openPool(url);
  // A set that an earlier version has filled gets the later migrations.
  for (const schema of SCHEMAS) await migrate(database, schema, { contracts: true });
  return { url, size, database, cpuMs: () => connectionTimes(database) };
}

/** Returns whether the database was missing. A database whose filling was interrupted is made again. */
async function createIfMissing(serverUrl: string, name: string): Promise<boolean> {
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  try {
    const { rows } = await admin.query<{ comment: string | null }>(
      `select shobj_description(oid, 'pg_database') as comment from pg_database where datname = $1`,
      [name],
    );
    if (rows[0]?.comment === FILLED) return false;
    await admin.query(`drop database if exists ${name}`);
    await admin.query(`create database ${name}`);
    return true;
  } finally {
    await admin.end();
  }
}

/** The comment of a database whose filling is complete. */
const FILLED = 'filled by the benchmark';

async function fill(url: string, name: string, size: LargeSize): Promise<void> {
  say(
    `filling ${name}: ${Object.entries(size)
      .map(([kind, rows]) => `${rows} ${kind}`)
      .join(', ')}`,
  );
  const database = openPool(url, FILL_OPTIONS);
  try {
    const ms = await timeMs(() => createLargeSet(database, { ...size, now: Date.now() }));
    say(`filled ${name} in ${(ms / 1_000).toFixed(0)} s`);
    await database.query(`comment on database ${name} is '${FILLED}'`);
  } finally {
    await database.close();
  }
}

function openPool(url: string, options?: string): Database {
  // Connections stay open, because the CPU time of each one is read from its process.
  const pool = new pg.Pool({ connectionString: url, idleTimeoutMillis: 0, ...(options !== undefined && { options }) });
  // The server stops while the last connections are closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  return createDatabase(pool, { engine: 'postgresql', name: 'main' });
}

/** Returns a function that reads the CPU time of the connections that are open now. */
async function connectionTimes(database: Database): Promise<() => number> {
  const rows = await database.query(
    `select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`,
  );
  const pids = rows.map((row) => Number(row['pid']));
  return () => pids.reduce((sum, pid) => sum + exactCpuMs(pid), 0);
}
