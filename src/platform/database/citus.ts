// Distributes the tables of the indexer over the nodes of a Citus cluster, and reads the state of the cluster. The rows of a collection are on
// one node. The service connects to the coordinator. Tables without a collection in their primary key stay on the coordinator, except the
// tables in COPIED.

import { OperatorError } from '../core/errors.ts';
import { DeadlineExceeded } from '../resilience/deadline.ts';
import type { Queryable, Statements } from './port.ts';
import { boolean, integer, list, rowDecoder, text } from './rows.ts';

/** Small tables that statements join with distributed ones. Each node has a copy. */
const COPIED = ['chain_cursor'];
/** The column by which tables are distributed. */
const DISTRIBUTED_BY = 'collection_id';

const decodeFound = rowDecoder('extension', { found: boolean });
const decodeName = rowDecoder('table', { name: text });
const decodeNodes = rowDecoder('node', { nodes: integer });

/** Whether the database is a node of a Citus cluster. */
export async function hasCitus(db: Queryable): Promise<boolean> {
  const [row] = await db.query(`select exists (select from pg_extension where extname = 'citus') as found`);
  return row !== undefined && decodeFound(row).found;
}

/**
 * Makes a transaction use one connection to each node. A transaction that has changed a table over several connections to a node could not
 * alter this table.
 */
export async function useOneConnection(tx: Queryable): Promise<void> {
  await tx.query(`set local citus.multi_shard_modify_mode to 'sequential'`);
}

/**
 * Lets the transaction create tables that it has dropped. Citus creates the sequences of a table on a second connection to each worker, which
 * would wait for the locks on the dropped sequences until Citus cancels the transaction as a deadlock. If the transaction has created the schema
 * of the sequence, Citus uses the connection of the transaction. `create schema if not exists` has this effect even if the schema exists.
 */
export async function createInTransaction(tx: Queryable, schema: string): Promise<void> {
  await tx.query(`create schema if not exists ${schema}`);
}

/** Matches the text in which a semicolon does not end a statement: comments, strings and bodies of functions. */
const OPAQUE_SQL = /--.*|'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1/g;

/** Splits a migration into its statements. Citus sends the complete text of a query to the nodes, and a node accepts only one statement in a text. */
export function splitStatements(sql: string): string[] {
  const ends = [...sql.replaceAll(OPAQUE_SQL, (text) => ' '.repeat(text.length)).matchAll(/;/g)].map(
    ({ index }) => index,
  );
  const parts = [...ends, sql.length].map((end, place) => sql.slice(place === 0 ? 0 : (ends[place - 1] ?? 0) + 1, end));
  return parts.filter((part) => part.replaceAll(/--.*/g, '').trim() !== '');
}

/**
 * Distributes the tables of the schema that are not distributed yet, with their rows. Returns their names. Throws an OperatorError if no
 * node of the cluster stores shards.
 */
export async function distributeTables(tx: Queryable, schema: string): Promise<string[]> {
  if ((await listLocalTables(tx, schema)).length === 0) return [];
  for (const name of COPIED) await tx.query(`select create_reference_table($1)`, [`${schema}.${name}`]);
  const [row] = await tx.query(`select count(*)::int as nodes from pg_dist_node where shouldhaveshards and isactive`);
  if (row === undefined || decodeNodes(row).nodes === 0) {
    throw new OperatorError(
      `the database of the schema ${schema} has the extension citus, but no node that stores shards: add one with citus_add_node`,
    );
  }
  const distributed: string[] = [];
  for (;;) {
    const ready = await listLocalTables(tx, schema, { isReady: true });
    if (ready.length === 0) return distributed;
    for (const name of ready) {
      const neighbour = await findColocated(tx, schema);
      await tx.query(`select create_distributed_table($1, $2, colocate_with => $3)`, [name, DISTRIBUTED_BY, neighbour]);
      distributed.push(name);
    }
  }
}

/**
 * Lists the tables that have the collection in their primary key and are not distributed. With `isReady`, leaves out the tables that refer to
 * another table that is not distributed: Citus must distribute the other table first.
 */
async function listLocalTables(
  db: Queryable,
  schema: string,
  { isReady = false }: { isReady?: boolean } = {},
): Promise<string[]> {
  const rows = await db.query(
    `select format('%I.%I', $1::text, relname) as name from pg_class
     join pg_constraint on pg_constraint.conrelid = pg_class.oid and contype = 'p'
     join pg_attribute on attrelid = pg_class.oid and attnum = any(conkey) and attname = $2
     where relnamespace = to_regnamespace($1) and relkind = 'r'
       and not exists (select from pg_dist_partition where logicalrelid = pg_class.oid)
       and not ($3 and exists (
         select from pg_constraint as reference where reference.conrelid = pg_class.oid and reference.contype = 'f'
           and confrelid <> pg_class.oid and confrelid not in (select logicalrelid from pg_dist_partition)))
     order by relname collate "C"`,
    [schema, DISTRIBUTED_BY, isReady],
  );
  return rows.map((row) => decodeName(row).name);
}

/** Returns a distributed table of the schema. Further tables are co-located with it. `none`: no table of the schema is distributed. */
async function findColocated(db: Queryable, schema: string): Promise<string> {
  const [row] = await db.query(
    `select logicalrelid::text as name from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
     where relnamespace = to_regnamespace($1) and partmethod = 'h' order by relname collate "C" limit 1`,
    [schema],
  );
  return row ? decodeName(row).name : 'none';
}

const decodeNode = rowDecoder('node', { id: integer, host: text, port: integer });
const decodeReachable = rowDecoder('connection', { reachable: boolean });

/** `id`: `nodeid` of `pg_dist_node`. */
export type ClusterNode = { id: number; host: string; port: number };

/** The nodes of the cluster except the coordinator, in the order of their ids. Empty if the database is no node of a cluster. */
export async function listWorkers(db: Queryable): Promise<ClusterNode[]> {
  if (!(await hasCitus(db))) return [];
  const rows = await db.query(
    `select nodeid as id, nodename as host, nodeport as port from pg_dist_node
     where groupid <> 0 and noderole = 'primary' order by nodeid`,
  );
  return rows.map(decodeNode);
}

/**
 * How long the coordinator tries to connect to a node. A connection that the session already has is used without this limit, so the caller
 * must have a deadline too.
 */
const CONNECT_TIMEOUT_MS = 800;
/** The first check fails if a node has closed its connection to the session. Then a second check makes a new connection. */
const CHECKS_MAX = 2;

/** Whether the coordinator can use a node. `db` must have a deadline. A node that does not respond before the deadline is not reachable. */
export async function isReachable(db: Statements, node: ClusterNode): Promise<boolean> {
  try {
    for (let check = 0; check < CHECKS_MAX; check += 1) {
      if (await db.transaction((tx) => checkConnection(tx, node))) return true;
    }
    return false;
  } catch (error) {
    if (error instanceof DeadlineExceeded) return false;
    throw error;
  }
}

async function checkConnection(tx: Queryable, { host, port }: ClusterNode): Promise<boolean> {
  await tx.query(`set local citus.node_connection_timeout = ${CONNECT_TIMEOUT_MS}`);
  const [row] = await tx.query(`select citus_check_connection_to_node($1, $2) as reachable`, [host, port]);
  return row !== undefined && decodeReachable(row).reachable;
}

const decodeCluster = rowDecoder('cluster', {
  version: text,
  nodes: list(text),
  inactive: list(text),
});

/**
 * `nodes`: the active nodes that may store shards, as `host:port`. `inactive`: the inactive nodes that may store shards. `local`: the tables
 * that are not distributed.
 */
export type Cluster = { version: string; nodes: string[]; inactive: string[]; local: string[] };

/** Null if the database is no node of a cluster. */
export async function findCluster(db: Queryable, schema: string): Promise<Cluster | null> {
  if (!(await hasCitus(db))) return null;
  const [row] = await db.query(
    `select (select extversion from pg_extension where extname = 'citus') as version,
       coalesce(json_agg(nodename || ':' || nodeport order by nodename, nodeport) filter (where isactive), '[]') as nodes,
       coalesce(json_agg(nodename || ':' || nodeport order by nodename, nodeport) filter (where not isactive), '[]') as inactive
     from pg_dist_node where shouldhaveshards and noderole = 'primary'`,
  );
  return row ? { ...decodeCluster(row), local: await listLocalTables(db, schema) } : null;
}
