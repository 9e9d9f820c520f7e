// One node of a Citus cluster: a PostgreSQL server of its own with the library of Citus.

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { OwnPostgresServer } from './postgres-server.ts';
import { findPostgresPrograms, startOwnPostgres } from './postgres-server.ts';

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

/** Whether suites run with the indexer database on a cluster. */
export const RUNS_ON_CITUS = process.env['TEST_CITUS'] === '1';

export const CITUS_MISSING = 'Citus is not installed beside PostgreSQL on this machine';

/** Whether tests can start a cluster. */
export function canRunCitus(): boolean {
  return findCitusLibrary() !== null;
}

/** For tests of a cluster itself: why they are skipped, or false. */
export function citusSkip(): string | false {
  if (!RUNS_ON_CITUS) return 'runs with TEST_CITUS=1';
  return canRunCitus() ? false : CITUS_MISSING;
}

/** Returns a text that differs between versions of PostgreSQL and Citus, and between builds of Citus. */
export function citusVersion(): string {
  const library = findCitusLibrary();
  if (library === null) throw new Error(CITUS_MISSING);
  const { size, mtimeMs } = statSync(library);
  return `${library} ${size} ${mtimeMs}`;
}

function findCitusLibrary(): string | null {
  const programs = findPostgresPrograms();
  if (programs === null) return null;
  // Debian has the library at the first path, and an installation from source at the second path.
  const files = ['../lib/citus.so', '../lib/postgresql/citus.so'].map((file) => path.join(programs, file));
  return files.find((file) => existsSync(file)) ?? null;
}

/** Starts a node with a copy of a data directory, or with no data. */
export function startNode(copyOf?: string): Promise<OwnPostgresServer> {
  return startOwnPostgres({ settings: SETTINGS, ...(copyOf !== undefined && { copyOf }) });
}

/** The URL of another database on the same server. */
export function inDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
