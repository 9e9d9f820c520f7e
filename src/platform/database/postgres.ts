// Creates the connection pools for PostgreSQL databases. Each pool has one database and one purpose.

import net from 'node:net';
import pg from 'pg';
import { OperatorError, describeError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Queryable } from './port.ts';
import { rowDecoder, safeInteger } from './rows.ts';

/** What a pool is for. `store`: requests of the store, which must not wait long for a locked row. */
export type PoolPurpose = 'general' | 'store';

/** The serving processes of a service share this number of connections for each database URL and purpose. */
const CONNECTIONS_MAX = 10;
/**
 * The smallest size of the pool of one serving process. In a smaller pool, two reads that hang would leave no connection for other reads.
 */
const CONNECTIONS_OF_PROCESS_MIN = 4;
/**
 * A statement of the store fails after it has waited this long for a lock. Other writers usually hold a row for less time. Without this
 * limit, statements that wait for a locked row would keep their connections until the deadlines of their requests.
 */
export const STORE_LOCK_TIMEOUT_MS = 2_000;
/**
 * A caller waits at most this long for a connection of the pool. Opening a connection fails after the same time, because a connection that
 * hangs while it is opened occupies a place in the pool.
 */
const CONNECT_TIMEOUT_MS = 2_000;
const IDLE_TIMEOUT_MS = 30_000;
/** The server cancels a statement that runs for longer than this. */
const STATEMENT_TIMEOUT_MS = 60_000;
/**
 * While a statement runs, the server checks at this interval whether the client is still connected. Without these checks, abandoned
 * statements that wait for a locked table would use up the server's connections.
 */
const CONNECTION_CHECK_MS = 1_000;
const GENERAL_OPTIONS = `-c client_connection_check_interval=${CONNECTION_CHECK_MS}`;
/**
 * PgBouncer drops these settings. An operator who uses PgBouncer sets them for the role. `createDatabase` sets the lock timeout of the store's
 * transactions in any case.
 */
const SESSION_OPTIONS: Record<PoolPurpose, string> = {
  general: GENERAL_OPTIONS,
  store: `${GENERAL_OPTIONS} -c lock_timeout=${STORE_LOCK_TIMEOUT_MS}`,
};
/** `close` waits this long for connections to end, then cuts them. */
const CLOSE_WAIT_MS = 1_000;
/** At most one line about lost connections is logged in this time, because a stopping server closes all idle connections at once. */
const LOST_PERIOD_MS = 30_000;
const SERVER_VERSION_MIN = 150_000;

const decodeVersion = rowDecoder('server_version_num', { version: safeInteger });

export type Postgres = {
  pool: pg.Pool;
  /** Ends the pool. Statements that still run after CLOSE_WAIT_MS fail. */
  close(): Promise<void>;
};

/** `processes`: how many processes of the service share the connections. */
export type PoolOptions = { purpose?: PoolPurpose; processes?: number };

/** Creates a pool for the database at `url`. The first query opens the first connection. */
export function openPostgres(
  url: string,
  log: Log,
  { purpose = 'general', processes = 1 }: PoolOptions = {},
): Postgres {
  const sockets = new Set<net.Socket>();
  const pool = new pg.Pool({
    connectionString: url,
    max: Math.max(CONNECTIONS_OF_PROCESS_MIN, Math.floor(CONNECTIONS_MAX / processes)),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    options: SESSION_OPTIONS[purpose],
    keepAlive: true,
    application_name: 'mercat',
    stream: () => {
      const socket = new net.Socket();
      sockets.add(socket);
      return socket.once('close', () => sockets.delete(socket));
    },
  });
  // An idle connection that the server closed is replaced at the next query. Without a listener, the `error` event would end the process.
  let loggedAt = Number.NEGATIVE_INFINITY;
  pool.on('error', (error) => {
    const now = performance.now();
    if (now - loggedAt < LOST_PERIOD_MS) return;
    loggedAt = now;
    log.warn('idle database connections were lost', { error });
  });
  return { pool, close: () => endPool(pool, sockets) };
}

async function endPool(pool: pg.Pool, sockets: ReadonlySet<net.Socket>): Promise<void> {
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, CLOSE_WAIT_MS);
  try {
    await pool.end();
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  } finally {
    clearTimeout(cut);
  }
}

/** Throws an OperatorError if the server cannot be used or is older than PostgreSQL 15. The message names `setting`, not the URL. */
export async function checkPostgres(db: Queryable, setting: string): Promise<void> {
  const [row] = await db
    .query('select current_setting($1) as version', ['server_version_num'])
    .catch((error: unknown) => {
      throw new OperatorError(`the database of ${setting} cannot be used: ${describeError(error)}`);
    });
  if (row === undefined || decodeVersion(row).version < SERVER_VERSION_MIN) {
    throw new OperatorError(`the database of ${setting} is older than PostgreSQL 15`);
  }
}
