// The database port: one interface to PostgreSQL and to the embedded engine. Both run the same SQL through the driver `pg`. The port
// must not know which tables exist.

import { createHash } from 'node:crypto';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { Deadline } from '../core/deadline.ts';
import { describeError } from '../core/errors.ts';
import { traced } from '../core/traced.ts';
import { DeadlineExceeded, raceDeadline } from '../resilience/deadline.ts';
import type { FairQueue } from '../resilience/fair-queue.ts';
import { ConnectionOrder } from './connection-order.ts';
import { describeStatement, describeTransaction } from './traced-statement.ts';
import { WriteHealth } from './write-health.ts';

export type Row = QueryResultRow;

/** Runs single statements, on a database or inside a transaction. */
export type Queryable = {
  query<R extends Row = Row>(sql: string, params?: readonly unknown[]): Promise<R[]>;
};

export type Engine = 'postgresql' | 'embedded';

export type Statements = Queryable & {
  /**
   * Like `query`, for a frequent statement whose planning costs as much as its execution. On PostgreSQL it is prepared once on each
   * connection. Its text must be constant, because the process and the connections keep every text. One plan must suit all parameters.
   */
  queryPrepared<R extends Row = Row>(sql: string, params: readonly unknown[]): Promise<R[]>;
  /**
   * Runs `work` in one transaction. Commits if `work` resolves, and rolls back if it rejects. `work` must send all its statements through
   * `tx`: the embedded engine has one connection, which the transaction holds. `queryHot` prepares its statements in a transaction too.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
};

/** A database. It owns its `pg` pool: `close` ends the pool. */
export type Database = Statements & {
  readonly engine: Engine;
  /** A name for messages and metrics, such as `main`, `store` or `indexer`. It must not contain a host or a path. */
  readonly name: string;
  /**
   * Returns the same database with one deadline for all its statements, `timeoutMs` from now. A statement that has not completed by the
   * deadline rejects with DeadlineExceeded. Its connection is closed, so that the server rolls back its transaction. A transaction whose
   * `commit` was running may have been committed. Statements with the same `lane` share the connections of that lane.
   */
  within(timeoutMs: number, lane?: FairQueue): Statements;
  pool(): PoolState;
  /** Whether the server accepts writes. Databases with connections to the same server share it. */
  readonly writes: WriteHealth;
  /** Closes all connections. A connection that is in use is closed after its work. */
  replaceConnections(): void;
  close(): Promise<void>;
};

/** The connections of a database. `waiting`: callers that wait for a connection. */
export type PoolState = {
  max: number;
  open: number;
  idle: number;
  waiting: number;
  /**
   * When a statement most recently succeeded (`performance.now()`). On PostgreSQL, only statements in a transaction or with a deadline
   * change this time.
   */
  respondedAt: number;
};

/**
 * Runs a statement like `queryPrepared`, on a database or in a transaction. In a transaction, it can fail once with an error that `isAborted` knows, so
 * the transaction needs `repeatAborted`.
 */
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
  /**
   * A statement in a transaction fails after it has waited this long for a lock. Without this option, the statement waits until its
   * deadline.
   */
  lockTimeoutMs?: number;
  /**
   * A connection is closed when a statement has failed on it, because the address of the database may now lead to another server.
   * Default: false.
   */
  closesFailed?: boolean;
  /** Default: a new one. */
  writes?: WriteHealth;
  /** Implements `close`: must end the pool and release the resources of the engine. Default: `pool.end()`. */
  onClose?: () => Promise<void>;
};

/** Creates a database on `pool`. The database owns the pool from then on. */
export function createDatabase(
  pool: Pool,
  { engine, name, lockTimeoutMs, closesFailed = false, writes = new WriteHealth(), onClose }: DatabaseOptions,
): Database {
  // A broken connection also rejects its statement, so its `error` event needs no action. But without a listener the event would end the
  // process, and the pool does not listen while a connection is checked out.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const order = engine === 'embedded' ? new ConnectionOrder() : null;
  const openedAt = new WeakMap<PoolClient, number>();
  pool.on('connect', (client) => openedAt.set(client, performance.now()));
  // `begin` and the lock timeout are sent in one message, so that the timeout costs no round trip. The timeout is set for the transaction
  // and not for the connection, because PgBouncer does not keep the settings of a connection.
  const begin = lockTimeoutMs === undefined ? 'begin' : `begin; set local lock_timeout = ${lockTimeoutMs}`;
  const inUse: PoolInUse = {
    pool,
    name,
    order,
    begin,
    openedAt,
    closesFailed,
    writes,
    respondedAt: Number.NEGATIVE_INFINITY,
    usableSince: null,
  };
  const prepared = new PreparedStatements(engine);
  const toStatements = (send: Send, bounds: Bounds): Statements => ({
    query: (sql, params) => traced(describeStatement(name, sql), () => send(toStatement(sql, params))),
    queryPrepared: (sql, params) => traced(describeStatement(name, sql), () => prepared.run(send, sql, params)),
    transaction: (work) => traced(describeTransaction(name), () => runTransaction(inUse, bounds, { prepared, work })),
  });
  const unbounded: Bounds = { deadline: Deadline.none, lane: undefined };
  const sendUnbounded: Send = async <R extends Row>(statement: Statement) => {
    if (order) return withClient(inUse, unbounded, ({ send }) => send<R>(statement));
    try {
      return (await pool.query<R>(statement)).rows;
    } catch (error) {
      writes.note(error);
      throw error;
    }
  };
  return {
    engine,
    name,
    ...toStatements(sendUnbounded, unbounded),
    within: (timeoutMs, lane) => {
      const bounds = { deadline: Deadline.after(timeoutMs), lane };
      return toStatements((statement) => withClient(inUse, bounds, ({ send }) => send(statement)), bounds);
    },
    pool: () => ({
      max: pool.options.max,
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount + (order?.waiting ?? 0),
      respondedAt: inUse.respondedAt,
    }),
    writes,
    replaceConnections: () => replaceConnections(inUse),
    close: onClose ?? (() => pool.end()),
  };
}

type Statement = { name?: string; text: string; values: unknown[] };
type Send = <R extends Row>(statement: Statement) => Promise<R[]>;
type Bounds = { deadline: Deadline; lane: FairQueue | undefined };

function toStatement(text: string, params: readonly unknown[] = []): Statement {
  return { text, values: [...params] };
}

/**
 * The SQLSTATEs for a prepared statement that does not exist (26000) or already exists (42P05). They occur behind a pooler that changes the
 * server connection and does not track prepared statements.
 */
const UNPREPARED_CODES = new Set(['26000', '42P05']);

/** Sends prepared statements to PostgreSQL. Sends ordinary statements to the embedded engine, whose connections share one session. */
class PreparedStatements {
  #isPreparing: boolean;
  readonly #names = new Map<string, string>();

  constructor(engine: Engine) {
    this.#isPreparing = engine === 'postgresql';
  }

  /** `inTransaction`: a rejected statement has aborted the transaction, so it is not sent again. */
  async run<R extends Row>(
    send: Send,
    sql: string,
    params: readonly unknown[],
    { inTransaction = false } = {},
  ): Promise<R[]> {
    const statement = toStatement(sql, params);
    if (!this.#isPreparing) return send<R>(statement);
    try {
      return await send<R>({ ...statement, name: this.#nameOf(sql) });
    } catch (error) {
      if (!UNPREPARED_CODES.has((error as { code?: string }).code ?? '')) throw error;
      // The server rejected the statement without running it. It is sent again, and no later statement is prepared.
      this.#isPreparing = false;
      if (inTransaction) throw error;
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

/**
 * Errors of a database that cannot be reached: error codes of the operating system for a failed connection, and the SQLSTATEs of connection
 * exceptions (class 08), shutdowns (57P01 to 57P03) and too many connections (53300).
 */
const OUT_OF_REACH =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08\w{3}|57P0[1-3]|53300)$/;
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end)/;

/** Whether the database could not be reached or was closed, as opposed to a failure of the statement. */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof DeadlineExceeded) return true;
  if (error instanceof AggregateError) return error.errors.some(isOutOfReach);
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  // The socket of a server on this machine is missing. Any other missing file has nothing to do with a database.
  if (code === 'ENOENT') return syscall === 'connect';
  return (typeof code === 'string' && OUT_OF_REACH.test(code)) || CONNECTION_LOST.test(error.message);
}

/**
 * SQLSTATEs of a database that was reached but cannot work now. Resources such as the disk are used up (class 53), files cannot be read or
 * written (class 58), or an operator cancelled the statement (57014).
 */
const OUT_OF_ORDER = /^(53\w{3}|58\w{3}|57014)$/;
/** The SQLSTATE of a write to a read-only server, such as a replica that was not promoted yet. */
const READ_ONLY_CODE = '25006';

/** Whether the database was reached but cannot work now, as opposed to a failure of the statement. */
export function isOutOfOrder(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (typeof code === 'string' && OUT_OF_ORDER.test(code)) || isReadOnly(error);
}

function isReadOnly(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === READ_ONLY_CODE;
}

const DISK_FULL_CODE = '53100';

/** One sentence for the operator about a database that cannot be reached or cannot work. Null for any other error. */
export function describeDatabaseFailure(error: unknown): string | null {
  if (error instanceof DeadlineExceeded) return 'the database does not respond in time';
  const text = describeError(error);
  if (isReadOnly(error)) return `the database accepts no writes: ${text}`;
  if ((error as { code?: unknown } | null)?.code === DISK_FULL_CODE) return `the disk of the database is full: ${text}`;
  if (isOutOfReach(error)) return `the database cannot be reached: ${text}`;
  return isOutOfOrder(error) ? `the database cannot do this now: ${text}` : null;
}

/** Whether a statement failed because it could not lock a row in time (SQLSTATE 55P03). */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '55P03';
}

/** Whether work could not lock a row, or missed its deadline. Work that waits for the same row would probably fail too. */
export function isStuck(error: unknown): boolean {
  return error instanceof DeadlineExceeded || isLockTimeout(error);
}

/**
 * SQLSTATEs of a transaction that the database aborted because of another transaction (serialization failure and deadlock), or because the pooler has
 * lost a prepared statement.
 */
const ABORTED_CODES = new Set(['40001', '40P01', ...UNPREPARED_CODES]);

/** Whether the database aborted a transaction that can succeed when it is repeated. */
export function isAborted(error: unknown): boolean {
  return error instanceof Error && ABORTED_CODES.has(String((error as { code?: unknown }).code));
}

const ATTEMPTS_MAX = 4;

/**
 * Runs a transaction. Repeats the transaction while `isRepeated` returns true for its error, up to ATTEMPTS_MAX attempts. By default, only
 * a transaction for which `isAborted` is true is repeated. `run` must change nothing but the database. There is
 * no pause, because the next attempt waits for the locks of the other transaction.
 */
export async function repeatAborted<T>(
  run: () => Promise<T>,
  { isRepeated = isAborted }: { isRepeated?: (error: unknown) => boolean } = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !isRepeated(error)) throw error;
    }
  }
}

/** If `order` is null, callers get connections in the order of their calls. `begin` has the statements that begin a transaction. */
type PoolInUse = {
  pool: Pool;
  readonly name: string;
  order: ConnectionOrder | null;
  readonly begin: string;
  readonly openedAt: WeakMap<PoolClient, number>;
  readonly closesFailed: boolean;
  readonly writes: WriteHealth;
  respondedAt: number;
  /** A connection that was opened before this time (`performance.now()`) is not used again. */
  usableSince: number | null;
};

/** A connection that is checked out of the pool for one piece of work. */
type LentClient = {
  send: Send;
  /** Makes the pool close the connection after the work, because the next response on it could belong to an earlier statement. */
  discard(): void;
};

/** Runs `use` on one connection. Throws DeadlineExceeded if no connection is free by the deadline. */
async function withClient<T>(
  inUse: PoolInUse,
  { deadline, lane }: Bounds,
  use: (lent: LentClient) => Promise<T>,
): Promise<T> {
  await lane?.enter(deadline);
  try {
    await inUse.order?.enter(deadline);
    try {
      return await useClient(inUse, deadline, use);
    } finally {
      inUse.order?.leave();
    }
  } finally {
    lane?.leave();
  }
}

async function useClient<T>(inUse: PoolInUse, deadline: Deadline, use: (lent: LentClient) => Promise<T>): Promise<T> {
  if (deadline.hasPassed) throw new DeadlineExceeded();
  const client = await acquire(inUse.pool, deadline);
  let isDiscarded = false;
  let sentAt = 0;
  const send: Send = async <R extends Row>(statement: Statement) => {
    sentAt = performance.now();
    if (sentAt >= deadline.at) throw new DeadlineExceeded();
    const { rows } = await raceDeadline(client.query<R>(statement), deadline);
    inUse.respondedAt = performance.now();
    return rows;
  };
  try {
    return await use({ send, discard: () => (isDiscarded = true) });
  } catch (error) {
    inUse.writes.note(error);
    if (inUse.closesFailed) isDiscarded = true;
    if (error instanceof DeadlineExceeded) {
      isDiscarded = true;
      if (inUse.respondedAt < sentAt) closeIdle(inUse.pool);
    } else if (isReadOnly(error)) {
      // The address of the primary may now lead to another server, which only a new connection reaches. Idle connections would continue to
      // read from the old server.
      replaceConnections(inUse);
    }
    throw error;
  } finally {
    client.release(isDiscarded || isOutdated(inUse, client));
  }
}

function replaceConnections(inUse: PoolInUse): void {
  inUse.usableSince = performance.now();
  closeIdle(inUse.pool);
}

/** Whether the connection was opened before all connections were replaced. */
function isOutdated({ usableSince, openedAt }: PoolInUse, client: PoolClient): boolean {
  return usableSince !== null && (openedAt.get(client) ?? usableSince) < usableSince;
}

function runTransaction<T>(
  inUse: PoolInUse,
  bounds: Bounds,
  { prepared, work }: { prepared: PreparedStatements; work: (tx: Queryable) => Promise<T> },
): Promise<T> {
  return withClient(inUse, bounds, async ({ send, discard }) => {
    try {
      await send(toStatement(inUse.begin));
      const tx: Omit<Statements, 'transaction'> = {
        query: (sql, params) => traced(describeStatement(inUse.name, sql), () => send(toStatement(sql, params))),
        queryPrepared: (sql, params) =>
          traced(describeStatement(inUse.name, sql), () => prepared.run(send, sql, params, { inTransaction: true })),
      };
      const result = await work(tx);
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
 * Closes the idle connections, because a caller that gets one of them would fail. Called when the server may be gone without having closed
 * its connections: when a statement reached its deadline while no other connection responded, or when the server is read-only.
 */
function closeIdle(pool: Pool): void {
  for (let idle = pool.idleCount; idle > 0; idle -= 1) {
    pool.connect().then(
      (client) => client.release(true),
      () => undefined,
    );
  }
}

/** Waits for a connection until the deadline. A connection that becomes free after the deadline is returned to the pool. */
async function acquire(pool: Pool, deadline: Deadline): Promise<PoolClient> {
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
