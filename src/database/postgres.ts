// PostgreSQL behind the database port: one connection pool for each database URL.

import net from 'node:net';
import pg from 'pg';
import { OperatorError, describeError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Queryable } from './port.ts';
import { rowDecoder, safeInteger } from './rows.ts';

const CONNECTIONS_MAX = 10;
/** A connection that hangs while it is opened takes a place of the pool. */
const CONNECT_TIMEOUT_MS = 2_000;
const IDLE_TIMEOUT_MS = 30_000;
/** The server's own limit for a statement. */
const STATEMENT_TIMEOUT_MS = 60_000;
/**
 * How often the server checks during a statement that its client is still connected: a statement whose connection was closed ends
 * within this time. Otherwise statements that wait for a locked table would use up the server's connections.
 */
const CONNECTION_CHECK_MS = 1_000;
/** How long `close` waits for connections to end. Those of a server that hangs are then cut. */
const CLOSE_WAIT_MS = 2_000;
const SERVER_VERSION_MIN = 150_000;

const decodeVersion = rowDecoder('server_version_num', { version: safeInteger });

export type Postgres = {
  pool: pg.Pool;
  /** Ends the pool. Statements that are still running after a moment fail. */
  close(): Promise<void>;
};

/** A pool on the database at `url`. Nothing is connected before the first query. */
export function openPostgres(url: string, log: Log): Postgres {
  const sockets = new Set<net.Socket>();
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    options: `-c client_connection_check_interval=${CONNECTION_CHECK_MS}`,
    keepAlive: true,
    application_name: 'mercat',
    stream: () => {
      const socket = new net.Socket();
      sockets.add(socket);
      return socket.once('close', () => sockets.delete(socket));
    },
  });
  // An idle connection that the server closed is replaced at the next query; without a listener it would end the process.
  pool.on('error', (error) => log.warn('an idle database connection was lost', { error }));
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

/** Throws an OperatorError, which does not show the URL, when the server cannot be reached or is too old. */
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
