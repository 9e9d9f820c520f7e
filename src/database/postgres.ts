// PostgreSQL behind the database port: one pool a database URL.

import net from 'node:net';
import pg from 'pg';
import { OperatorError, describeError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Queryable } from './port.ts';

const CONNECTIONS_MAX = 10;
/** A connection that hangs while it is made blocks a place of the pool: it is given up before a recovery would be noticed. */
const CONNECT_TIMEOUT_MS = 2_000;
const IDLE_TIMEOUT_MS = 30_000;
/** The server's own bound on a statement, for as long as somebody waits for it. */
const STATEMENT_TIMEOUT_MS = 60_000;
/**
 * How often the server looks whether somebody still waits: a statement that was given up ends within this time. Without it
 * the statements of one locked table would pile up on the server until it takes no more connections.
 */
const CONNECTION_CHECK_MS = 1_000;
/** How long `close` waits for connections to end by themselves: those of a server that hangs never do. */
const CLOSE_WAIT_MS = 2_000;
const SERVER_VERSION_MIN = 150_000;

export type Postgres = {
  pool: pg.Pool;
  /** Ends the pool. Statements that are then still under way fail. */
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

/** Refuses a server that cannot be reached or is too old, in words for the operator that never show the URL. */
export async function checkPostgres(db: Queryable, setting: string): Promise<void> {
  const found = await db
    .query<{ version: string }>('select current_setting($1) as version', ['server_version_num'])
    .catch((error: unknown) => {
      throw new OperatorError(`the database of ${setting} cannot be used: ${describeError(error)}`);
    });
  if (Number(found[0]?.version) < SERVER_VERSION_MIN) {
    throw new OperatorError(`the database of ${setting} is older than PostgreSQL 15`);
  }
}
