// The database port. Two engines stand behind it, PostgreSQL and the embedded one, both spoken to with the same SQL through
// the same driver. It must never know what it stores.

import { createHash } from 'node:crypto';
import type { Pool, PoolClient, QueryResultRow } from 'pg';

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

/** A share of a pool's connections: whoever hangs in one lane leaves the others room. */
export type Lane = {
  /** Waits for a place until `deadline` (`performance.now()`), and throws QueryTimeout when there was none. */
  enter(deadline: number): Promise<void>;
  leave(): void;
};

/** Connections that one lane may hold: two lanes that hang leave others to the rest. */
const LANE_CONNECTIONS_MAX = 4;

/** Wraps a `pg` pool. The database owns the pool from here on. */
export function createDatabase(pool: Pool, options: DatabaseOptions): Database {
  // A connection that breaks fails its statement; while it is lent out the pool does not listen, and an error that nobody
  // listens to would also end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    engine: options.engine,
    name: options.name,
    query: async (sql, params = []) => (await pool.query(sql, [...params])).rows,
    queryPrepared: createPreparedQuery(pool, options.engine),
    within: (timeoutMs, lane) => {
      const deadline = performance.now() + timeoutMs;
      return { query: (sql, params = []) => runUntil(pool, { sql, params }, { deadline, lane }) };
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

/** Thrown when a statement was given up. The statement may still be running on the server for a moment. */
export class QueryTimeout extends Error {
  override readonly name = 'QueryTimeout';
}

/** A lane over any pool. First come, first served. */
export function createLane(connectionsMax = LANE_CONNECTIONS_MAX): Lane {
  let entered = 0;
  const waiting = new Set<() => void>();
  return {
    enter: async (deadline) => {
      if (entered < connectionsMax) {
        entered += 1;
        return;
      }
      const { promise: called, resolve: call } = Promise.withResolvers<void>();
      waiting.add(call);
      try {
        await raceDeadline(called, deadline);
      } catch (error) {
        // A place that was handed over at the last moment goes to the next one.
        if (!waiting.delete(call)) leave();
        throw error;
      }
    },
    leave,
  };

  /** Hands the place over to whoever has waited longest. */
  function leave(): void {
    const [next] = waiting;
    if (!next) {
      entered -= 1;
      return;
    }
    waiting.delete(next);
    next();
  }
}

async function runUntil<R extends Row>(
  pool: Pool,
  { sql, params }: { sql: string; params: readonly unknown[] },
  { deadline, lane }: { deadline: number; lane: Lane | undefined },
): Promise<R[]> {
  if (performance.now() >= deadline) throw new QueryTimeout('the deadline has passed');
  await lane?.enter(deadline);
  try {
    const client = await acquire(pool, deadline);
    let failure: unknown;
    try {
      return (await raceDeadline(client.query<R>(sql, [...params]), deadline)).rows;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // A connection whose answer was given up would hand that answer to the next caller: it is closed instead.
      client.release(failure instanceof QueryTimeout ? failure : false);
    }
  } finally {
    lane?.leave();
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

async function raceDeadline<T>(work: Promise<T>, deadline: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leftMs = Math.max(0, deadline - performance.now());
  const timer = setTimeout(() => reject(new QueryTimeout('no answer within the deadline')), leftMs);
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
