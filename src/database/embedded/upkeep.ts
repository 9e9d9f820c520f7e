// What PostgreSQL's background processes do, and the embedded engine, which has none, does not: checkpoints that bound the log,
// and vacuum and analyze where they are due. It must never run two statements at a time, nor keep a process alive.

import type { Pool } from 'pg';
import { describeError } from '../../core/errors.ts';

/** How often the log is measured; a bulk load can outrun it by what it writes in this time. */
const PERIOD_MS = 5_000;
/** Tables are looked at every so many periods. */
const TABLES_EVERY = 12;

type UpkeepLimits = {
  /** A checkpoint is due past this much log since the last one. It bounds disk use and the time of a start after a crash. */
  logBytesMax: number;
  /** Rows changed before a table is looked after, on top of a share of its rows. */
  changedRowsMin: number;
};

const DEFAULT_LIMITS: UpkeepLimits = { logBytesMax: 64 * 1024 * 1024, changedRowsMin: 1_000 };

/** Looks after the database until the returned function is called. A failure is reported once as long as it stays the same. */
export function startUpkeep(pool: Pool, onFailure: (line: string) => void): () => void {
  let round = 0;
  let busy = false;
  let lastFailure = '';
  const tick = async (): Promise<void> => {
    if (busy || pool.ending) return;
    busy = true;
    try {
      await boundLog(pool, DEFAULT_LIMITS);
      if (round++ % TABLES_EVERY === 0) await tendTable(pool, DEFAULT_LIMITS);
      lastFailure = '';
    } catch (error) {
      const failure = describeError(error);
      if (failure !== lastFailure && !pool.ending) onFailure(`the upkeep of the embedded database failed: ${failure}`);
      lastFailure = failure;
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void tick(), PERIOD_MS).unref();
  return () => clearInterval(timer);
}

/** Writes a checkpoint when the log has grown past its bound; answers whether it did. */
export async function boundLog(pool: Pool, limits: UpkeepLimits): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>(
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > $1 as due from pg_control_checkpoint()',
    [limits.logBytesMax],
  );
  if (rows[0]?.due !== true) return false;
  await pool.query('checkpoint');
  return true;
}

/** Vacuums and analyzes the table that needs it most, if any; answers its name. The thresholds are those of autovacuum. */
export async function tendTable(pool: Pool, limits: UpkeepLimits): Promise<string | null> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', s.schemaname, s.relname) as name
       from pg_stat_user_tables s join pg_class c on c.oid = s.relid
      where s.n_dead_tup > $1 + 0.2 * s.n_live_tup
         or s.n_ins_since_vacuum > $1 + 0.2 * s.n_live_tup
         or s.n_mod_since_analyze > $1 + 0.1 * s.n_live_tup
         or (c.reltuples < 0 and pg_relation_size(c.oid) > $1 * 100)
      order by s.n_dead_tup + s.n_ins_since_vacuum + s.n_mod_since_analyze desc, name
      limit 1`,
    [limits.changedRowsMin],
  );
  const name = rows[0]?.name;
  if (name === undefined) return null;
  await pool.query(`vacuum (analyze) ${name}`);
  return name;
}
