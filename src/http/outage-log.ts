// Logs outages of a database: one line at the beginning and one line at the end, however many requests fail.

import type { Log } from '../core/log.ts';

/** The shortest time from the logged end of an outage to the next line, so that an intermittent failure does not fill the log. */
const QUIET_MS = 30_000;

export class OutageLog {
  readonly #log: Log;
  readonly #now: () => number;
  /** When the latest line was logged. */
  #loggedAt = Number.NEGATIVE_INFINITY;
  #isLogged = false;
  /** Requests that failed since the latest line about the end of an outage. */
  #failed = 0;

  /** `now` returns milliseconds and is never set back. */
  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  noteFailure(error: unknown): void {
    this.#failed += 1;
    if (this.#isLogged || this.#now() - this.#loggedAt < QUIET_MS) return;
    this.#isLogged = true;
    this.#loggedAt = this.#now();
    this.#log.warn('requests cannot reach the database', { error });
  }

  /** Called after a request was served from the database. */
  noteSuccess(): void {
    if (!this.#isLogged) return;
    this.#isLogged = false;
    this.#loggedAt = this.#now();
    this.#log.info('requests reach the database again', { failed: this.#failed });
    this.#failed = 0;
  }
}
