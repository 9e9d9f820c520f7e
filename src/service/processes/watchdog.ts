// Notices when a serving process hangs: it lives, but it does not respond to the supervisor.

/** The time between two checks of a process. */
export const CHECK_INTERVAL_MS = 2_000;
/** A process counts as hanging when this many consecutive pings have no response. */
const UNANSWERED_MAX = 7;

/**
 * Counts checks instead of time. If the machine sleeps, or if the supervisor is slow, the checks are delayed too. So the watchdog does not
 * report a process that could not respond for such a reason.
 */
export class Watchdog {
  readonly #ping: () => Promise<unknown>;
  #unanswered = 0;

  constructor(ping: () => Promise<unknown>) {
    this.#ping = ping;
  }

  /** Sends a ping. Returns true if the process hangs. */
  check(): boolean {
    if (this.#unanswered >= UNANSWERED_MAX) return true;
    this.#unanswered += 1;
    // A ping that fails counts as a ping without a response. If the process has ended, the supervisor notices the end without the watchdog.
    this.#ping().then(
      () => (this.#unanswered = 0),
      () => undefined,
    );
    return false;
  }
}
