// The database port. Two engines stand behind it, PostgreSQL and the embedded one, both spoken to with the same SQL through
// the same driver. It must never know what it stores.

import { createHash } from 'node:crypto';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { QueryTimeout, raceDeadline } from './deadline.ts';
import type { Lane } from './lane.ts';

export type Row = QueryResultRow;

/** What the files of this folder need to run a statement: a database, or a transaction in one. */
export type Queryable = {
  query<R extends Row = Row>(sql: string, params?: readonly unknown[]): Promise<R[]>;
};

export type Engine = 'postgresql' | 'embedded';

export type Database = Queryable & {
  /**
   * The same as `query`, for a hot statement whose plan costs as much as its work: planned once for each connection where
   * that can be had. Its text never varies, and one plan fits all its values.
   */
  queryPrepared<R extends Row = Row>(sql: string, params: readonly unknown[]): Promise<R[]>;
  readonly engine: Engine;
  /** The schema-independent name for logs: `main` or `indexer`. Never a host or a path. */
  readonly name: string;
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Inside it only the given
   * queryable may be used: the embedded engine has a single connection, so a second one would wait for ever.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * The same database for `timeoutMs` from now: a statement that is not answered by then is given up and its connection
   * dropped. Statements of one lane share its connections.
   */
  within(timeoutMs: number, lane?: Lane): Queryable;
  close(): Promise<void>;
};

type DatabaseOptions = {
  engine: Engine;
  name: string;
  /** Ends the pool and gives back what the engine holds. Default: the pool's own end. */
  onClose?: () => Promise<void>;
};

/** Wraps a `pg` pool. The database owns the pool from here on. */
export function createDatabase(pool: Pool, options: DatabaseOptions): Database {
  // A connection that breaks fails its statement; while it is lent out the pool does not listen, and an error that nobody
  // listens to would also end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const line: Line = { pool, heardAt: 0 };
  return {
    engine: options.engine,
    name: options.name,
    query: async (sql, params = []) => (await pool.query(sql, [...params])).rows,
    queryPrepared: createPreparedQuery(pool, options.engine),
    within: (timeoutMs, lane) => {
      const deadline = performance.now() + timeoutMs;
      return { query: (sql, params = []) => runUntil(line, { sql, params }, { deadline, lane }) };
    },
    transaction: (work) => transaction(pool, work),
    close: options.onClose ?? (() => pool.end()),
  };
}

/** Errors of poolers in front of PostgreSQL that share connections without sharing prepared statements. */
const UNPREPARED_CODES = new Set(['26000', '42P05']);

/** The embedded engine keeps statements longer than its clients do: there nothing is prepared. */
function createPreparedQuery(pool: Pool, engine: Engine): Database['queryPrepared'] {
  let isPreparing = engine === 'postgresql';
  const names = new Map<string, string>();
  const nameOf = (sql: string) => {
    const name = names.get(sql) ?? `mercat_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`;
    names.set(sql, name);
    return name;
  };
  return async (sql, params) => {
    if (isPreparing) {
      try {
        return (await pool.query({ name: nameOf(sql), text: sql, values: [...params] })).rows;
      } catch (error) {
        // Such a statement has not run: it is sent again, and from now on as any other.
        if (!UNPREPARED_CODES.has((error as { code?: string }).code ?? '')) throw error;
        isPreparing = false;
      }
    }
    return (await pool.query(sql, [...params])).rows;
  };
}

/** Connection failures of the system and of the server: SQLSTATE class 08, shutdowns, and too many connections. */
const OUT_OF_REACH =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT|08\w{3}|57P0[1-3]|53300)$/;
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** True when an error says that the database could not be asked, and nothing about what it was asked. */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof QueryTimeout) return true;
  if (error instanceof AggregateError) return error.errors.some(isOutOfReach);
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (typeof code === 'string' && OUT_OF_REACH.test(code)) || CONNECTION_LOST.test(error.message);
}

/** A pool, and when a statement with a deadline was last answered through it. */
type Line = { pool: Pool; heardAt: number };

async function runUntil<R extends Row>(
  line: Line,
  { sql, params }: { sql: string; params: readonly unknown[] },
  { deadline, lane }: { deadline: number; lane: Lane | undefined },
): Promise<R[]> {
  if (performance.now() >= deadline) throw new QueryTimeout('the deadline has passed');
  await lane?.enter(deadline);
  try {
    const client = await acquire(line.pool, deadline);
    const sentAt = performance.now();
    try {
      const { rows } = await raceDeadline(client.query<R>(sql, [...params]), deadline);
      line.heardAt = performance.now();
      client.release();
      return rows;
    } catch (error) {
      // A connection whose answer was given up would hand that answer to the next caller: it is closed instead.
      client.release(error instanceof QueryTimeout);
      if (error instanceof QueryTimeout && line.heardAt < sentAt) dropIdle(line.pool);
      throw error;
    }
  } finally {
    lane?.leave();
  }
}

/**
 * Closes the connections that lie idle. When nothing has been heard through any, the machine behind them may be gone without a
 * word, and each of them would cost a deadline to find that out.
 */
function dropIdle(pool: Pool): void {
  for (let idle = pool.idleCount; idle > 0; idle -= 1) {
    pool.connect().then(
      (client) => client.release(true),
      () => undefined,
    );
  }
}

/** Waits for a connection until the deadline; one that arrives later goes straight back to the pool. */
async function acquire(pool: Pool, deadline: number): Promise<PoolClient> {
  const pending = pool.connect();
  try {
    return await raceDeadline(pending, deadline);
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
