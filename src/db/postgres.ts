// PostgreSQL behind the database port: one pool a database URL.

import pg from 'pg';
import { OperatorError, describeError } from '../errors.ts';
import type { Log } from '../log.ts';

const CONNECTIONS_MAX = 10;
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;
/** The server's own bound, for statements that a caller gave up: they must not run on for ever. */
const STATEMENT_TIMEOUT_MS = 60_000;
const SERVER_VERSION_MIN = 150_000;

/** A pool on the database at `url`. Nothing is connected before the first query. */
export function openPostgres(url: string, log: Log): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'mercat',
  });
  // An idle connection that the server closed is replaced at the next query; without a listener it would end the process.
  pool.on('error', (error) => log.warn('an idle database connection was lost', { error }));
  return pool;
}

/** Refuses a server that cannot be reached or is too old, in words for the operator that never show the URL. */
export async function checkPostgres(pool: pg.Pool, setting: string): Promise<void> {
  const found = await pool
    .query<{ version: string }>('select current_setting($1) as version', ['server_version_num'])
    .catch((error: unknown) => {
      throw new OperatorError(`the database of ${setting} cannot be used: ${describeError(error)}`);
    });
  if (Number(found.rows[0]?.version) < SERVER_VERSION_MIN) {
    throw new OperatorError(`the database of ${setting} is older than PostgreSQL 15`);
  }
}
