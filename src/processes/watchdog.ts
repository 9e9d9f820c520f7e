// Notices when a serving process hangs: it lives, but it does not respond to the supervisor.

/** The time between two checks of a process. */
export const CHECK_INTERVAL_MS = 2_000;
/** A process that has not responded between this many checks hangs. */
const UNANSWERED_MAX = 7;

/**
 * Counts checks and not time. So a process is not found to hang because the machine slept, or because the supervisor itself was slow: both
 * delay the checks as well.
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
    // A ping that fails is unanswered. The supervisor notices the end of a process by itself.
    this.#ping().then(
      () => (this.#unanswered = 0),
      () => undefined,
    );
    return false;
  }
}
