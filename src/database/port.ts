// The database port. Two engines stand behind it, PostgreSQL and the embedded one, both spoken to with the same SQL through
// the same driver. It must never know what it stores.

import { createHash } from 'node:crypto';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { DeadlineExceeded, raceDeadline } from '../resilience/deadline.ts';
import type { Lane } from './lane.ts';

export type Row = QueryResultRow;

/** What the files of this folder need to run a statement: a database, or a transaction in one. */
export type Queryable = {
  query<R extends Row = Row>(sql: string, params?: readonly unknown[]): Promise<R[]>;
};

export type Engine = 'postgresql' | 'embedded';

/** All that a database takes. */
export type Statements = Queryable & {
  /**
   * The same as `query`, for a hot statement whose plan costs as much as its work: planned once for each connection where
   * that can be had. Its text never varies, and one plan fits all its values.
   */
  queryPrepared<R extends Row = Row>(sql: string, params: readonly unknown[]): Promise<R[]>;
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Inside it only the given
   * queryable may be used: the embedded engine has a single connection, so a second one would wait for ever.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
};

export type Database = Statements & {
  readonly engine: Engine;
  /** The schema-independent name for logs: `main` or `indexer`. Never a host or a path. */
  readonly name: string;
  /**
   * The same database for `timeoutMs` from now: a statement that is not answered by then is given up and its connection
   * dropped. A transaction is then rolled back, but nobody knows that of one whose commit was not answered. Statements of one
   * lane share its connections.
   */
  within(timeoutMs: number, lane?: Lane): Statements;
  close(): Promise<void>;
};

/** The same as `queryPrepared` where that can be had: in a transaction a statement is sent as it is. */
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
  /** Ends the pool and gives back what the engine holds. Default: the pool's own end. */
  onClose?: () => Promise<void>;
};

/** Wraps a `pg` pool. The database owns the pool from here on. */
export function createDatabase(pool: Pool, options: DatabaseOptions): Database {
  // A connection that breaks fails its statement; while it is lent out the pool does not listen, and an error that nobody
  // listens to would also end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const line: Line = { pool, heardAt: 0 };
  const prepare = createPreparation(options.engine);
  const within = (bounds: Bounds): Statements => {
    const run: Run = (statement) => withClient(line, bounds, ({ send }) => send(statement));
    return {
      query: (sql, params) => run(toStatement(sql, params)),
      queryPrepared: prepare(run),
      transaction: (work) => transaction(line, bounds, work),
    };
  };
  const run: Run = async (statement) => (await pool.query(statement)).rows;
  return {
    engine: options.engine,
    name: options.name,
    query: (sql, params) => run(toStatement(sql, params)),
    queryPrepared: prepare(run),
    within: (timeoutMs, lane) => within({ deadline: performance.now() + timeoutMs, lane }),
    transaction: (work) => transaction(line, { deadline: Number.POSITIVE_INFINITY, lane: undefined }, work),
    close: options.onClose ?? (() => pool.end()),
  };
}

type Statement = { name?: string; text: string; values: unknown[] };
type Run = <R extends Row>(statement: Statement) => Promise<R[]>;
type Bounds = { deadline: number; lane: Lane | undefined };

function toStatement(text: string, params: readonly unknown[] = []): Statement {
  return { text, values: [...params] };
}

/** Errors of poolers in front of PostgreSQL that share connections without sharing prepared statements. */
const UNPREPARED_CODES = new Set(['26000', '42P05']);

/** The embedded engine keeps statements longer than its clients do: there nothing is prepared. */
function createPreparation(engine: Engine): (run: Run) => Statements['queryPrepared'] {
  let isPreparing = engine === 'postgresql';
  const names = new Map<string, string>();
  const nameOf = (sql: string) => {
    let name = names.get(sql);
    if (name === undefined) {
      name = `mercat_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`;
      names.set(sql, name);
    }
    return name;
  };
  return (run) =>
    async <R extends Row>(sql: string, params: readonly unknown[]) => {
      const statement = toStatement(sql, params);
      if (isPreparing) {
        try {
          return await run<R>({ ...statement, name: nameOf(sql) });
        } catch (error) {
          // Such a statement has not run: it is sent again, and from now on like all others.
          if (!UNPREPARED_CODES.has((error as { code?: string }).code ?? '')) throw error;
          isPreparing = false;
        }
      }
      return run<R>(statement);
    };
}

/** Connection failures of the system and of the server: SQLSTATE class 08, shutdowns, and too many connections. */
const OUT_OF_REACH =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT|08\w{3}|57P0[1-3]|53300)$/;
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** True when an error says that the database could not be asked, and nothing about what it was asked. */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof DeadlineExceeded) return true;
  if (error instanceof AggregateError) return error.errors.some(isOutOfReach);
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (typeof code === 'string' && OUT_OF_REACH.test(code)) || CONNECTION_LOST.test(error.message);
}

/** A pool, and when a statement with a deadline was last answered through it. */
type Line = { pool: Pool; heardAt: number };

/** A connection for as long as a piece of work has it. */
type Lent = {
  send: Run;
  /** Has it closed afterwards: what it would answer next is not known. */
  spoil(): void;
};

/** Runs `use` on one connection, and gives that up at the deadline. */
async function withClient<T>(line: Line, { deadline, lane }: Bounds, use: (lent: Lent) => Promise<T>): Promise<T> {
  if (performance.now() >= deadline) throw new DeadlineExceeded('the deadline has passed');
  await lane?.enter(deadline);
  try {
    const client = await acquire(line.pool, deadline);
    let isSpoilt = false;
    let sentAt = 0;
    const send: Run = async <R extends Row>(statement: Statement) => {
      sentAt = performance.now();
      if (sentAt >= deadline) throw new DeadlineExceeded('the deadline has passed');
      const { rows } = await raceDeadline(client.query<R>(statement), deadline);
      line.heardAt = performance.now();
      return rows;
    };
    try {
      return await use({ send, spoil: () => (isSpoilt = true) });
    } catch (error) {
      // A connection whose answer was given up would hand that answer to the next caller: it is closed instead.
      isSpoilt ||= error instanceof DeadlineExceeded;
      if (error instanceof DeadlineExceeded && line.heardAt < sentAt) dropIdle(line.pool);
      throw error;
    } finally {
      client.release(isSpoilt);
    }
  } finally {
    lane?.leave();
  }
}

function transaction<T>(line: Line, bounds: Bounds, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return withClient(line, bounds, async ({ send, spoil }) => {
    try {
      await send(toStatement('begin'));
      const result = await work({ query: (sql, params) => send(toStatement(sql, params)) });
      await send(toStatement('commit'));
      return result;
    } catch (error) {
      // A connection that is closed is rolled back by the server.
      if (error instanceof DeadlineExceeded) spoil();
      else await send(toStatement('rollback')).catch(spoil);
      throw error;
    }
  });
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
    if (error instanceof DeadlineExceeded) {
      pending.then(
        (client) => client.release(),
        () => undefined,
      );
    }
    throw error;
  }
}
