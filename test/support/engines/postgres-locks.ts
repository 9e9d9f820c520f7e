// Takes locks on a PostgreSQL server, so that statements of the service wait. Counts the connections and the waiting statements of the service.

import type { TestContext } from 'node:test';
import pg from 'pg';

/** Locks a table against all reads and writes until the returned function is called. */
export function lockTable(
  t: TestContext,
  databaseUrl: string | undefined,
  table: string,
): Promise<() => Promise<void>> {
  return hold(t, databaseUrl, `lock table ${table} in access exclusive mode`);
}

/** Keeps migrations of the indexer's schema waiting until the returned function is called. */
export function lockMigrations(t: TestContext, databaseUrl: string): Promise<() => Promise<void>> {
  return hold(t, databaseUrl, `select pg_advisory_xact_lock(hashtextextended('mercat migrations indexer', 0))`);
}

async function hold(t: TestContext, databaseUrl: string | undefined, sql: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl ?? '' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  await client.query(sql);
  let ended: Promise<void> | null = null;
  const release = () => (ended ??= client.end());
  t.after(release);
  return release;
}

export async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The number of connections that services have to the server, as the server reports it. */
export function countConnections(serverUrl: string): Promise<number> {
  return countActivity(serverUrl, `application_name = 'mercat'`);
}

export function countWaiting(serverUrl: string): Promise<number> {
  return countActivity(serverUrl, `application_name = 'mercat' and wait_event_type = 'Lock'`);
}

function countActivity(serverUrl: string, condition: string): Promise<number> {
  return withClient(serverUrl, async (client) => {
    const sql = `select count(*) from pg_stat_activity where ${condition}`;
    const { rows } = await client.query<{ count: string }>(sql);
    return Number(rows[0]?.count);
  });
}
