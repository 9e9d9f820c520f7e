// How a database is: whether it answers, how fast, what it is, whether its schema is this program's, and whether its clock agrees.
// It changes nothing.

import { OperatorError } from '../core/errors.ts';
import type { Database, Engine } from './port.ts';
import type { Schema } from './migrate.ts';
import { listPendingMigrations } from './migrate.ts';

export type DatabaseHealth = {
  engine: Engine;
  /** As the server tells it, such as `15.6`. */
  version: string;
  latencyMs: number;
  /** How far its clock is ahead of this machine's; about half the latency is not told from it. */
  clockAheadMs: number;
  /** Migrations that are still to be applied. */
  pending: string[];
  /** What makes the schema unfit for this program; null when nothing does. */
  mistake: string | null;
};

/** Asks a database once. Rejects when it does not answer in time. */
export async function findDatabaseHealth(
  db: Database,
  schema: Schema,
  { timeoutMs, now }: { timeoutMs: number; now: () => number },
): Promise<DatabaseHealth> {
  const within = db.within(timeoutMs);
  // The first statement may open a connection, which says nothing of how fast statements are.
  await within.query('select 1');
  const startedAt = performance.now();
  const askedAt = now();
  const [row] = await within.query<{ version: string; at: Date }>(
    `select split_part(current_setting('server_version'), ' ', 1) as version, clock_timestamp() as at`,
  );
  const latencyMs = performance.now() - startedAt;
  const health = {
    engine: db.engine,
    version: row?.version ?? 'unknown',
    latencyMs: Math.round(latencyMs * 10) / 10,
    clockAheadMs: Math.round((row?.at.getTime() ?? askedAt) - askedAt - latencyMs / 2),
  };
  try {
    return { ...health, pending: await listPendingMigrations(within, schema), mistake: null };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { ...health, pending: [], mistake: error.message };
  }
}
