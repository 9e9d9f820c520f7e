// Reads the health of a database: version, latency, pending migrations, and how far its clock is off.

import { OperatorError } from '../core/errors.ts';
import type { Database, Engine, Queryable } from './port.ts';
import type { Schema } from './migrate.ts';
import { listPendingMigrations } from './migrate.ts';
import { boolean, rowDecoder, text, timestamp } from './rows.ts';

/** How the migrations of a schema fit this program. */
export type SchemaState = {
  /** Names of the migrations that are not applied yet. */
  pending: string[];
  /** Names of the migrations that are applied only by `mercat migrate --contract`. */
  waiting: string[];
  /** Why the applied migrations do not fit this program. Null if they fit. */
  mistake: string | null;
};

export type DatabaseHealth = SchemaState & {
  engine: Engine;
  /** As the server reports it, such as `15.6`. */
  version: string;
  latencyMs: number;
  /** How far the server's clock is ahead of this machine's clock, with an error of up to half the latency. */
  clockAheadMs: number;
  /** Whether the server cancels statements that run too long. False behind a pooler that drops the settings of connections. */
  limitsStatements: boolean;
};

const decodeServer = rowDecoder('server', { version: text, at: timestamp, limits_statements: boolean });

/** Reads the health once. Rejects if the database does not respond in time. */
export async function findDatabaseHealth(
  db: Database,
  schema: Schema,
  { timeoutMs, now }: { timeoutMs: number; now: () => number },
): Promise<DatabaseHealth> {
  const within = db.within(timeoutMs);
  // The first statement may open a connection. The time for this must not count as latency.
  await within.query('select 1');
  const startedAt = performance.now();
  const sentAt = now();
  const [row] = await within.query(
    `select split_part(current_setting('server_version'), ' ', 1) as version, clock_timestamp() as at,
       current_setting('statement_timeout') <> '0' as limits_statements`,
  );
  const latencyMs = performance.now() - startedAt;
  if (!row) throw new Error('the health statement returned no row');
  const { version, at, limits_statements: limitsStatements } = decodeServer(row);
  return {
    engine: db.engine,
    version,
    latencyMs: Math.round(latencyMs * 10) / 10,
    clockAheadMs: Math.round(at - sentAt - latencyMs / 2),
    limitsStatements,
    ...(await findSchemaState(within, schema)),
  };
}

/** Changes nothing. */
export async function findSchemaState(db: Queryable, schema: Schema): Promise<SchemaState> {
  try {
    return { ...(await listPendingMigrations(db, schema)), mistake: null };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { pending: [], waiting: [], mistake: error.message };
  }
}
