// A clock with the time of the primary database. Between two readings of that time, the clock advances with the monotonic clock of this process.
// All processes of a service use the time of the primary database, so that due times, leases and lifetimes mean the same in each process.
// The wall clock of a process is not used.

import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Database } from './port.ts';
import { rowDecoder, timestamp } from './rows.ts';

/** The clock is adjusted with this period. A monotonic clock drifts by less than a millisecond in this time. */
export const CLOCK_PERIOD_MS = 10_000;
const READ_TIMEOUT_MS = 5_000;
/** An adjustment above this is logged: the clock of the database was set, or this machine was suspended. */
const STEP_MS = 1_000;

const decodeTime = rowDecoder('clock', { at: timestamp });

type Options = {
  db: Pick<Database, 'within'>;
  log: Log;
  /** Milliseconds since an arbitrary moment. Never set back. */
  monotonic?: Clock;
};

export class DatabaseClock {
  readonly #db: Pick<Database, 'within'>;
  readonly #log: Log;
  readonly #monotonic: Clock;
  /** The time of the database minus the time of the monotonic clock. */
  #offsetMs: number;

  private constructor({ db, log, monotonic = () => performance.now() }: Options, offsetMs: number) {
    this.#db = db;
    this.#log = log;
    this.#monotonic = monotonic;
    this.#offsetMs = offsetMs;
  }

  /** Reads the time of the database once. Rejects if the database does not respond within READ_TIMEOUT_MS. */
  static async start(options: Options): Promise<DatabaseClock> {
    const clock = new DatabaseClock(options, 0);
    const { earliest, latest } = await clock.#measure();
    clock.#offsetMs = (earliest + latest) / 2;
    return clock;
  }

  readonly now: Clock = () => Math.floor(this.#monotonic() + this.#offsetMs);

  /**
   * Reads the time of the database. If the clock disagrees with this reading, adjusts the clock by the smallest amount that makes it agree.
   * A slow reading is inexact, so it agrees with a wide range of times. Rejects if the database does not respond.
   */
  async adjust(): Promise<void> {
    const { earliest, latest } = await this.#measure();
    const adjusted = Math.min(latest, Math.max(earliest, this.#offsetMs));
    const stepMs = Math.round(adjusted - this.#offsetMs);
    this.#offsetMs = adjusted;
    if (Math.abs(stepMs) > STEP_MS) this.#log.warn('the clock of the primary database was set', { stepMs });
  }

  /** Returns the bounds of the offset. They follow from the fact that the database reads its clock between the request and the response. */
  async #measure(): Promise<{ earliest: number; latest: number }> {
    const statements = this.#db.within(READ_TIMEOUT_MS);
    // The first statement may have to wait for a connection. This wait must not widen the bounds.
    await statements.query('select 1');
    const sentAt = this.#monotonic();
    const [row] = await statements.query('select clock_timestamp() as at');
    const receivedAt = this.#monotonic();
    if (!row) throw new Error('the database returned no time');
    const { at } = decodeTime(row);
    // The driver truncates the time to milliseconds, so the database may have read a time up to a millisecond later than `at`.
    return { earliest: at - receivedAt, latest: at + 1 - sentAt };
  }
}
