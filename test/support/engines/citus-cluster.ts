// A Citus cluster for tests: a coordinator, two workers, and more workers on demand. Each is a PostgreSQL server of its own, which a test may
// stop, kill and freeze. The cluster needs the library of Citus, which must be installed beside the programs of PostgreSQL.

import { existsSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { PostgresServer } from './postgres-server.ts';
import { findPostgresPrograms, startOwnPostgres } from './postgres-server.ts';

export type CitusCluster = {
  coordinator: PostgresServer;
  /** Two workers at first. Each call of `addWorker` adds one. */
  workers: PostgresServer[];
  /** Makes an empty database on all nodes, with the extension. Returns its URL on the coordinator. */
  createDatabase(): Promise<string>;
  /**
   * Copies the database at `url` on all nodes. The caller must first close its connections to this database, and nothing can connect to the
   * database afterwards. Returns the URL of the copy.
   */
  copyDatabase(url: string): Promise<string>;
  /** Starts one more worker and adds it to the database at `url`. The worker has no shards until a test moves some to it. */
  addWorker(url: string): Promise<PostgresServer>;
  /** Stops all nodes, whatever their state, and deletes their data. */
  discard(): Promise<void>;
};

/** Shards are few and nodes small, because all nodes of all databases run on the machine of the tests. */
const SETTINGS = {
  shared_preload_libraries: 'citus',
  wal_level: 'logical',
  // Connections between the nodes use no TLS. With TLS the nodes would look for certificates in the home of the user who runs the tests.
  'citus.node_conninfo': 'sslmode=disable',
  'citus.shard_count': '4',
  shared_buffers: '32MB',
  max_connections: '300',
  max_prepared_transactions: '300',
  // Citus starts one process for each database that is in use.
  max_worker_processes: '64',
  // A deadlock across nodes is found after this factor times deadlock_timeout, which is a second.
  'citus.distributed_deadlock_detection_factor': '2',
  'citus.enable_statistics_collection': 'off',
};

export const CITUS_MISSING = 'Citus is not installed beside PostgreSQL on this machine';

/** Whether tests can start a cluster. */
export function canRunCitus(): boolean {
  const programs = findPostgresPrograms();
  if (programs === null) return false;
  // Debian has the library at the first path, and an installation from source at the second path.
  return ['../lib/citus.so', '../lib/postgresql/citus.so'].some((file) => existsSync(path.join(programs, file)));
}

let databases = 0;

/** Starts a coordinator and two workers on free ports of loopback. */
export async function startCitus(): Promise<CitusCluster> {
  const startNode = () => startOwnPostgres({ settings: SETTINGS });
  const nodes = await Promise.all([startNode(), startNode(), startNode()]);
  const [coordinator, ...workers] = nodes;
  if (!coordinator) throw new Error('the cluster has no coordinator');
  const created: string[] = [];

  const createOnAll = async (suffix: string): Promise<string> => {
    databases += 1;
    const name = `mercat_citus_${process.pid}_${databases}`;
    for (const node of [coordinator, ...workers]) await run(node.url, [`create database ${name} ${suffix}`]);
    created.push(name);
    return name;
  };
  const addNode = async (url: string, worker: PostgresServer) => {
    await run(url, [`select citus_add_node('127.0.0.1', ${new URL(worker.url).port})`]);
  };
  return {
    coordinator,
    workers,
    createDatabase: async () => {
      const name = await createOnAll('');
      for (const node of [coordinator, ...workers]) await run(inDatabase(node.url, name), ['create extension citus']);
      const url = inDatabase(coordinator.url, name);
      await run(url, [`select citus_set_coordinator_host('127.0.0.1', ${new URL(url).port})`]);
      for (const worker of workers) await addNode(url, worker);
      return url;
    },
    copyDatabase: async (url) => {
      const original = new URL(url).pathname.slice(1);
      for (const node of [coordinator, ...workers]) await closeConnections(node.url, original);
      return inDatabase(coordinator.url, await createOnAll(`template ${original}`));
    },
    addWorker: async (url) => {
      const worker = await startNode();
      const name = new URL(url).pathname.slice(1);
      await run(worker.url, [`create database ${name}`]);
      await run(inDatabase(worker.url, name), ['create extension citus']);
      workers.push(worker);
      await addNode(url, worker);
      return worker;
    },
    discard: async () => {
      await Promise.all([coordinator, ...workers].map((node) => node.discard()));
    },
  };
}

/**
 * Forbids new connections to a database of a server and ends the existing ones, because a database with connections cannot be copied. The
 * existing ones are those of other nodes and of the background process that Citus runs for each database.
 */
async function closeConnections(serverUrl: string, name: string): Promise<void> {
  await run(serverUrl, [
    `update pg_database set datallowconn = false where datname = '${name}'`,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
  ]);
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

function inDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
