// Stores the data directories of a stopped cluster. Each test cluster starts with copies of them. Making a cluster takes minutes on a busy
// machine: three servers are initialised, and all tables of a new index are distributed. Copying the directories takes a second.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { SCHEMAS, migrate } from '../../../src/platform/database/migrate.ts';
import { createDatabase } from '../../../src/platform/database/port.ts';
import { citusVersion, inDatabase, startNode } from './citus-node.ts';
import { withClient } from './postgres-locks.ts';
import type { OwnPostgresServer } from './postgres-server.ts';
import { copyDataDirectory } from './postgres-server.ts';
import { findTemplate, listMigrationFiles } from './template-cache.ts';

/** Together with the migrations, these files determine the content of the directories. */
const MADE_OF = [
  'src/platform/database/citus.ts',
  'src/platform/database/migrate.ts',
  'test/support/engines/citus-node.ts',
  'test/support/engines/citus-template.ts',
];

/**
 * The databases of a template. `empty` is on all nodes, has the extension and knows the nodes. `migrated` is like `empty`, and also has all
 * migrations of both schemas. `primary` has all migrations, but not the extension, and is on the coordinator only.
 */
export const CITUS_DATABASES = { empty: 'mercat_empty', migrated: 'mercat_migrated', primary: 'mercat_primary' };

/** Each path is a data directory. `fresh`: the data directory of a node without databases. */
export type CitusTemplate = { coordinator: string; workers: readonly string[]; fresh: string };

const DIRECTORIES = { coordinator: 'coordinator', workers: ['worker-1', 'worker-2'], fresh: 'fresh' };

/** Finds the stored data directories of a cluster with two workers. Makes them if there are none. */
export async function findCitusTemplate(): Promise<CitusTemplate> {
  const inputs = { madeOf: [...MADE_OF, ...listMigrationFiles()], versions: [citusVersion()] };
  return toPaths(await findTemplate('citus', inputs, makeTemplate));
}

function toPaths(directory: string): CitusTemplate {
  const toPath = (name: string) => path.join(directory, name);
  return {
    coordinator: toPath(DIRECTORIES.coordinator),
    workers: DIRECTORIES.workers.map(toPath),
    fresh: toPath(DIRECTORIES.fresh),
  };
}

async function makeTemplate(directory: string): Promise<void> {
  mkdirSync(directory);
  const paths = toPaths(directory);
  await storeNodes([paths.fresh], async () => undefined);
  await storeNodes([paths.coordinator, ...paths.workers], fillCluster, paths.fresh);
}

/**
 * Starts a node for each directory: with a copy of the data directory `copyOf`, or without data. Calls `fill` with the nodes. Then stores the
 * data of each node in its directory.
 */
async function storeNodes(
  directories: readonly string[],
  fill: (nodes: readonly OwnPostgresServer[]) => Promise<void>,
  copyOf?: string,
): Promise<void> {
  const nodes = await Promise.all(directories.map(() => startNode(copyOf)));
  try {
    await fill(nodes);
    for (const [place, node] of nodes.entries()) {
      await node.stop();
      copyDataDirectory(node.data, directories[place] ?? '');
    }
  } finally {
    await Promise.all(nodes.map((node) => node.discard()));
  }
}

async function fillCluster([coordinator, ...workers]: readonly OwnPostgresServer[]): Promise<void> {
  if (!coordinator) throw new Error('the cluster has no coordinator');
  const nodes = { coordinator, workers };
  await createDistributed(CITUS_DATABASES.empty, nodes);
  await migrateDatabase(await createDistributed(CITUS_DATABASES.migrated, nodes));
  await withClient(coordinator.url, (client) => client.query(`create database ${CITUS_DATABASES.primary}`));
  await migrateDatabase(inDatabase(coordinator.url, CITUS_DATABASES.primary));
}

type Nodes = { coordinator: OwnPostgresServer; workers: readonly OwnPostgresServer[] };

/** Makes a database with the extension on all nodes. Returns its URL on the coordinator. */
async function createDistributed(name: string, { coordinator, workers }: Nodes): Promise<string> {
  for (const node of [coordinator, ...workers]) {
    await withClient(node.url, (client) => client.query(`create database ${name}`));
    await withClient(inDatabase(node.url, name), (client) => client.query('create extension citus'));
  }
  const url = inDatabase(coordinator.url, name);
  await withClient(url, async (client) => {
    await client.query(`select citus_set_coordinator_host('127.0.0.1', $1)`, [portOf(coordinator.url)]);
    for (const worker of workers) await client.query(`select citus_add_node('127.0.0.1', $1)`, [portOf(worker.url)]);
  });
  return url;
}

async function migrateDatabase(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  // The server stops while the last connection is closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  const database = createDatabase(pool, { engine: 'postgresql', name: 'indexer' });
  for (const schema of SCHEMAS) await migrate(database, schema);
  await database.close();
}

export function portOf(url: string): number {
  return Number(new URL(url).port);
}
