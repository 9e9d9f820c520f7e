// A Citus cluster for tests: a coordinator, two workers, and more workers on demand. Each node is a separate PostgreSQL server, which a test
// can stop, kill or freeze. The library of Citus must be installed beside the programs of PostgreSQL.

import { inDatabase, startNode } from './citus-node.ts';
import { CITUS_DATABASES, findCitusTemplate, portOf } from './citus-template.ts';
import type { Template } from './embedded-template.ts';
import { withClient } from './postgres-locks.ts';
import type { PostgresServer } from './postgres-server.ts';
import { createTestDatabase } from './postgres-server.ts';

export type CitusCluster = {
  coordinator: PostgresServer;
  /** Two workers at first. Each call of `addWorker` adds one. */
  workers: PostgresServer[];
  /**
   * Makes a database on all nodes, with the extension, and returns its URL on the coordinator. With the template `migrated`, the database has
   * all migrations of both schemas. Must not be called after `addWorker`: on each node the database is a copy of a template
   * database, which the added worker lacks.
   */
  createDatabase(template?: Template): Promise<string>;
  /** Makes a database on the coordinator only, without the extension. Returns the URL of the database. */
  createPrimary(template?: Template): Promise<string>;
  /** Starts one more worker and adds it to the database at `url`. The worker has no shards until a test moves some to it. */
  addWorker(url: string): Promise<PostgresServer>;
  /** Stops all nodes, whatever their state, and deletes their data. */
  discard(): Promise<void>;
};

let databases = 0;

/** Starts a coordinator and two workers on free ports of loopback. */
export async function startCitus(): Promise<CitusCluster> {
  const template = await findCitusTemplate();
  const [coordinator, ...workers] = await Promise.all([template.coordinator, ...template.workers].map(startNode));
  if (!coordinator) throw new Error('the cluster has no coordinator');

  const createCopy = async (node: PostgresServer, name: string, original: string) => {
    await withClient(node.url, (client) => client.query(`create database ${name} template ${original}`));
    await withClient(inDatabase(node.url, name), async (client) => {
      // The copied `pg_dist_node` has the ports of the cluster that made the template. `groupid` is 0 for the coordinator, and 1, 2 and so on
      // for the workers in the order in which they were added.
      const ports = [coordinator, ...workers].map(({ url }) => portOf(url));
      await client.query(`update pg_dist_node set nodeport = ($1::int[])[groupid + 1]`, [ports]);
      // `pg_dist_object` lists what Citus creates on a new worker. The copied list has the original database instead of the copy.
      await client.query(
        `update pg_dist_object set objid = pg_database.oid from pg_database
         where classid = 'pg_database'::regclass and datname = current_database()`,
      );
    });
  };
  return {
    coordinator,
    workers,
    createDatabase: async (kind = 'empty') => {
      databases += 1;
      const name = `mercat_citus_${process.pid}_${databases}`;
      await Promise.all([coordinator, ...workers].map((node) => createCopy(node, name, CITUS_DATABASES[kind])));
      return inDatabase(coordinator.url, name);
    },
    createPrimary: (kind = 'empty') =>
      createTestDatabase(coordinator.url, kind === 'empty' ? null : CITUS_DATABASES.primary),
    addWorker: async (url) => {
      const worker = await startNode(template.fresh);
      const name = new URL(url).pathname.slice(1);
      await withClient(worker.url, (client) => client.query(`create database ${name}`));
      await withClient(inDatabase(worker.url, name), (client) => client.query('create extension citus'));
      workers.push(worker);
      await withClient(url, (client) => client.query(`select citus_add_node('127.0.0.1', $1)`, [portOf(worker.url)]));
      return worker;
    },
    discard: async () => {
      await Promise.all([coordinator, ...workers].map((node) => node.discard()));
    },
  };
}
