// The database port: PostgreSQL and the embedded engine, both with the same SQL through the same driver. It must not know what
// is stored.

import { createHash } from 'node:crypto';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { DeadlineExceeded, raceDeadline } from '../resilience/deadline.ts';
import type { ConnectionLane } from './connection-lane.ts';

export type Row = QueryResultRow;

/** A database or a transaction: all that a statement needs. */
export type Queryable = {
  query<R extends Row = Row>(sql: string, params?: readonly unknown[]): Promise<R[]>;
};

export type Engine = 'postgresql' | 'embedded';

export type Statements = Queryable & {
  /**
   * As `query`, for a frequent statement whose planning costs as much as its work: where possible it is planned once a
   * connection. Its text must be constant, and one plan must suit all values.
   */
  queryPrepared<R extends Row = Row>(sql: string, params: readonly unknown[]): Promise<R[]>;
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. `work` must use the given
   * queryable only: the embedded engine has one connection, and a second would never be free.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
};

/** A database, over a `pg` pool that it owns. */
export type Database = Statements & {
  readonly engine: Engine;
  /** The name in logs: `main` or `indexer`, never a host or a path. */
  readonly name: string;
  /**
   * The same database for `timeoutMs` from now. A statement that is not done by then rejects with DeadlineExceeded, and its
   * connection is closed. Its transaction is rolled back; whether a transaction whose `commit` was under way has committed is not
   * known. Statements of one lane share the lane's connections.
   */
  within(timeoutMs: number, lane?: ConnectionLane): Statements;
  close(): Promise<void>;
};

/** As `queryPrepared` on a database. In a transaction nothing is prepared. */
export function queryHot<R extends Row = Row>(
  db: Queryable | Statements,
  sql: string,
  params: readonly unknown[],
): Promise<R[]> {
  return 'queryPrepared' in db ? db.queryPrepared<R>(sql, params) : db.query<R>(sql, params);
}

type DatabaseOptions = {
  engine: Engine;
  name: string;
  /** Ends the pool and releases what the engine holds. Default: the pool's own end. */
  onClose?: () => Promise<void>;
};

/** Wraps a `pg` pool, which the database owns from then on. */
export function createDatabase(pool: Pool, { engine, name, onClose }: DatabaseOptions): Database {
  // A connection that breaks fails its statement. While it is lent the pool does not listen, and an `error` event without a
  // listener ends the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const inUse: PoolInUse = { pool, respondedAt: 0 };
  const prepared = new PreparedStatements(engine);
  const toStatements = (send: Send, bounds: Bounds): Statements => ({
    query: (sql, params) => send(toStatement(sql, params)),
    queryPrepared: (sql, params) => prepared.run(send, sql, params),
    transaction: (work) => runTransaction(inUse, bounds, work),
  });
  const sendUnbounded: Send = async <R extends Row>(statement: Statement) => (await pool.query<R>(statement)).rows;
  return {
    engine,
    name,
    ...toStatements(sendUnbounded, { deadline: Number.POSITIVE_INFINITY, lane: undefined }),
    within: (timeoutMs, lane) => {
      const bounds = { deadline: performance.now() + timeoutMs, lane };
      return toStatements((statement) => withClient(inUse, bounds, ({ send }) => send(statement)), bounds);
    },
    close: onClose ?? (() => pool.end()),
  };
}

type Statement = { name?: string; text: string; values: unknown[] };
type Send = <R extends Row>(statement: Statement) => Promise<R[]>;
type Bounds = { deadline: number; lane: ConnectionLane | undefined };

function toStatement(text: string, params: readonly unknown[] = []): Statement {
  return { text, values: [...params] };
}

/** SQLSTATEs of poolers in front of PostgreSQL that share connections but not prepared statements. */
const UNPREPARED_CODES = new Set(['26000', '42P05']);

/** Prepares on PostgreSQL only: the embedded engine has one session, which keeps the statements of clients that are gone. */
class PreparedStatements {
  #isPreparing: boolean;
  readonly #names = new Map<string, string>();

  constructor(engine: Engine) {
    this.#isPreparing = engine === 'postgresql';
  }

  async run<R extends Row>(send: Send, sql: string, params: readonly unknown[]): Promise<R[]> {
    const statement = toStatement(sql, params);
    if (!this.#isPreparing) return send<R>(statement);
    try {
      return await send<R>({ ...statement, name: this.#nameOf(sql) });
    } catch (error) {
      if (!UNPREPARED_CODES.has((error as { code?: string }).code ?? '')) throw error;
      // The statement has not run. It is sent again without a name, and so are all later ones.
      this.#isPreparing = false;
      return send<R>(statement);
    }
  }

  #nameOf(sql: string): string {
    let name = this.#names.get(sql);
    if (name === undefined) {
      name = `mercat_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`;
      this.#names.set(sql, name);
    }
    return name;
  }
}

/** Connection failures of the system and of the server: SQLSTATE class 08, shutdowns, and too many connections. */
const OUT_OF_REACH =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT|08\w{3}|57P0[1-3]|53300)$/;
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Whether an error means that the database could not be reached, as opposed to a failure of the statement. */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof DeadlineExceeded) return true;
  if (error instanceof AggregateError) return error.errors.some(isOutOfReach);
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (typeof code === 'string' && OUT_OF_REACH.test(code)) || CONNECTION_LOST.test(error.message);
}

/** A pool, and when a statement with a deadline last succeeded on one of its connections (`performance.now()`). */
type PoolInUse = { pool: Pool; respondedAt: number };

/** A connection for as long as one piece of work has it. */
type LentClient = {
  send: Send;
  /** Has the connection closed afterwards: its next response may belong to an earlier statement. */
  discard(): void;
};

/** Runs `use` on one connection. Throws DeadlineExceeded at the deadline. */
async function withClient<T>(
  inUse: PoolInUse,
  { deadline, lane }: Bounds,
  use: (lent: LentClient) => Promise<T>,
): Promise<T> {
  if (performance.now() >= deadline) throw new DeadlineExceeded();
  await lane?.enter(deadline);
  try {
    const client = await acquire(inUse.pool, deadline);
    let isDiscarded = false;
    let sentAt = 0;
    const send: Send = async <R extends Row>(statement: Statement) => {
      sentAt = performance.now();
      if (sentAt >= deadline) throw new DeadlineExceeded();
      const { rows } = await raceDeadline(client.query<R>(statement), deadline);
      inUse.respondedAt = performance.now();
      return rows;
    };
    try {
      return await use({ send, discard: () => (isDiscarded = true) });
    } catch (error) {
      if (error instanceof DeadlineExceeded) {
        isDiscarded = true;
        if (inUse.respondedAt < sentAt) closeIdle(inUse.pool);
      }
      throw error;
    } finally {
      client.release(isDiscarded);
    }
  } finally {
    lane?.leave();
  }
}

function runTransaction<T>(inUse: PoolInUse, bounds: Bounds, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return withClient(inUse, bounds, async ({ send, discard }) => {
    try {
      await send(toStatement('begin'));
      const result = await work({ query: (sql, params) => send(toStatement(sql, params)) });
      await send(toStatement('commit'));
      return result;
    } catch (error) {
      // The server rolls back the transaction of a connection that is closed.
      if (error instanceof DeadlineExceeded) discard();
      else await send(toStatement('rollback')).catch(discard);
      throw error;
    }
  });
}

/**
 * Closes the idle connections. When no connection has responded for as long as a deadline, the server may be gone without having
 * closed them, and each would cost a deadline of its own.
 */
function closeIdle(pool: Pool): void {
  for (let idle = pool.idleCount; idle > 0; idle -= 1) {
    pool.connect().then(
      (client) => client.release(true),
      () => undefined,
    );
  }
}

/** Waits for a connection until the deadline. A connection that comes later goes back to the pool. */
async function acquire(pool: Pool, deadline: number): Promise<PoolClient> {
  const pending = pool.connect();
  try {
    return await raceDeadline(pending, deadline);
  } catch (error) {
    if (error instanceof DeadlineExceeded) {
      pending.then(
        (client) => client.release(),
        () => undefined,
      );
    }
    throw error;
  }
}
