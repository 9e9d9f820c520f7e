// The database port. Two engines stand behind it, PostgreSQL and the embedded one, both spoken to with the same SQL through
// the same driver. It must never know what it stores.

import type { Pool, PoolClient, QueryResultRow } from 'pg';

export type Row = QueryResultRow;

/** What the files of this folder need to run a statement: a database, or a transaction in one. */
export type Queryable = {
  query<R extends Row = Row>(sql: string, params?: readonly unknown[]): Promise<R[]>;
};

export type Engine = 'postgresql' | 'embedded';

export type Database = Queryable & {
  readonly engine: Engine;
  /** The schema-independent name for logs: `main` or `indexer`. Never a host or a path. */
  readonly name: string;
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Inside it only the given
   * queryable may be used: the embedded engine has a single connection, so a second one would wait for ever.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** The same database with a bound on each statement: past it the statement is given up and its connection dropped. */
  within(timeoutMs: number): Queryable;
  close(): Promise<void>;
};

type DatabaseOptions = {
  engine: Engine;
  name: string;
  /** Called after the pool has ended: gives back what the engine holds. */
  onClose?: () => Promise<void>;
};

/** Wraps a `pg` pool. The database owns the pool from here on. */
export function createDatabase(pool: Pool, options: DatabaseOptions): Database {
  return {
    engine: options.engine,
    name: options.name,
    query: (sql, params) => run(pool, sql, params, null),
    within: (timeoutMs) => ({ query: (sql, params) => run(pool, sql, params, timeoutMs) }),
    transaction: (work) => transaction(pool, work),
    close: async () => {
      await pool.end();
      await options.onClose?.();
    },
  };
}

/** Thrown when a statement was given up. The statement may still be running on the server for a moment. */
export class QueryTimeout extends Error {
  override readonly name = 'QueryTimeout';
}

async function run<R extends Row>(
  pool: Pool,
  sql: string,
  params: readonly unknown[] = [],
  timeoutMs: number | null,
): Promise<R[]> {
  if (timeoutMs === null) return (await pool.query<R>(sql, [...params])).rows;
  const deadline = performance.now() + timeoutMs;
  const client = await acquire(pool, timeoutMs);
  let failure: Error | undefined;
  try {
    const leftMs = Math.max(1, deadline - performance.now());
    return (await raceTimeout(client.query<R>(sql, [...params]), leftMs)).rows;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw failure;
  } finally {
    // A connection whose answer was given up would hand that answer to the next caller: it is closed instead.
    client.release(failure instanceof QueryTimeout ? failure : false);
  }
}

/** Waits for a connection at most `timeoutMs`; one that arrives later goes straight back to the pool. */
async function acquire(pool: Pool, timeoutMs: number): Promise<PoolClient> {
  const pending = pool.connect();
  try {
    return await raceTimeout(pending, timeoutMs);
  } catch (error) {
    if (error instanceof QueryTimeout) {
      pending.then(
        (client) => client.release(),
        () => undefined,
      );
    }
    throw error;
  }
}

async function raceTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new QueryTimeout(`no answer within ${Math.round(timeoutMs)} ms`)), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function transaction<T>(pool: Pool, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work({
      query: async <R extends Row>(sql: string, params: readonly unknown[] = []) =>
        (await client.query<R>(sql, [...params])).rows,
    });
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.release(broken ?? false);
  }
}
