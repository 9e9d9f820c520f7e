// Logs outages of a database or another system: one line at the beginning and one line at the end, however many requests fail.

import type { Log } from '../core/log.ts';

/** The shortest time from the logged end of an outage to the next line, so that an intermittent failure does not fill the log. */
const QUIET_MS = 30_000;

export type OutageMessages = { begin: string; end: string };

const DATABASE_MESSAGES: OutageMessages = {
  begin: 'requests cannot reach the database',
  end: 'requests reach the database again',
};

export class OutageLog {
  readonly #log: Log;
  readonly #messages: OutageMessages;
  readonly #now: () => number;
  /** When the latest line was logged. */
  #loggedAt = Number.NEGATIVE_INFINITY;
  #isLogged = false;
  /** Requests that failed since the latest line about the end of an outage. */
  #failed = 0;

  /** `now` returns milliseconds and is never set back. */
  constructor(log: Log, messages: OutageMessages = DATABASE_MESSAGES, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#messages = messages;
    this.#now = now;
  }

  noteFailure(error: unknown): void {
    this.#failed += 1;
    if (this.#isLogged || this.#now() - this.#loggedAt < QUIET_MS) return;
    this.#isLogged = true;
    this.#loggedAt = this.#now();
    this.#log.warn(this.#messages.begin, { error });
  }

  /** Called after a request has succeeded. `more` returns further fields of the line about the end of the outage. */
  noteSuccess(more: () => Record<string, unknown> = () => ({})): void {
    if (!this.#isLogged) return;
    this.#isLogged = false;
    this.#loggedAt = this.#now();
    this.#log.info(this.#messages.end, { failed: this.#failed, ...more() });
    this.#failed = 0;
  }
}
