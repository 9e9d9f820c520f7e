// Does the work of PostgreSQL's background processes, which the embedded engine lacks: checkpoints that limit the write-ahead log, and
// vacuum and analyze. One statement runs at a time. The timer does not keep the process alive.

import type { Pool } from 'pg';
import { describeError } from '../../core/errors.ts';

/**
 * The period at which the write-ahead log is measured and the tables are checked. The log can exceed its limit by the bytes that are written within
 * one period. Without statistics, PostgreSQL takes a hundred times as long for some reads of a table that an import has just filled.
 */
const PERIOD_MS = 5_000;

type UpkeepLimits = {
  /** A checkpoint is written after this many bytes of write-ahead log. This limits disk use and recovery time. */
  logBytesMax: number;
  /** A table is vacuumed after changes to this many rows plus a share of its rows. */
  changedRowsMin: number;
};

const DEFAULT_LIMITS: UpkeepLimits = { logBytesMax: 64 * 1024 * 1024, changedRowsMin: 1_000 };

export class Upkeep {
  readonly #pool: Pool;
  readonly #onFailure: (line: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #lastFailure = '';

  /** `onFailure` receives a line for each failure that differs from the failure before it. */
  constructor(pool: Pool, onFailure: (line: string) => void) {
    this.#pool = pool;
    this.#onFailure = onFailure;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#run(), PERIOD_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #run(): Promise<void> {
    if (this.#isRunning || this.#pool.ending) return;
    this.#isRunning = true;
    try {
      await boundLog(this.#pool, DEFAULT_LIMITS);
      await vacuumNextTable(this.#pool, DEFAULT_LIMITS);
      this.#lastFailure = '';
    } catch (error) {
      this.#report(describeError(error));
    } finally {
      this.#isRunning = false;
    }
  }

  #report(failure: string): void {
    if (failure !== this.#lastFailure && !this.#pool.ending) {
      this.#onFailure(`the upkeep of the embedded database failed: ${failure}`);
    }
    this.#lastFailure = failure;
  }
}

/** Writes a checkpoint if the write-ahead log exceeds its bound. Returns whether a checkpoint was written. */
export async function boundLog(pool: Pool, limits: UpkeepLimits): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>(
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > $1 as due from pg_control_checkpoint()',
    [limits.logBytesMax],
  );
  if (rows[0]?.due !== true) return false;
  await pool.query('checkpoint');
  return true;
}

/**
 * Vacuums and analyzes the table with the most changes among the tables that are due. Returns the name of the table, or null if no table is
 * due. The factors 0.2 and 0.1 are the defaults of autovacuum.
 */
export async function vacuumNextTable(pool: Pool, limits: UpkeepLimits): Promise<string | null> {
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
