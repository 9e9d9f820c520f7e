// The order in which waiting work gets the single connection of the embedded database. Work with a deadline, such as a read of the
// marketplace, goes before work without a deadline, such as a batch of an import.

import type { Deadline } from '../core/deadline.ts';
import { FairQueue } from '../resilience/fair-queue.ts';

/**
 * Work without a deadline lets work with a deadline go first, but only for a limited time. This limit is WAIT_SHARE times the time for which
 * the previous work without a deadline used the connection. Most requests need less time than this limit, so they are served between two
 * batches of an import. Under constant requests an import takes at most about three times as long as without requests.
 */
const WAIT_SHARE = 2;
/** The lower bound of the limit. Without it, many short statements without a deadline would delay most requests. */
const WAIT_MIN_MS = 20;

/** Work with a deadline is urgent, other work is patient. */
type Kind = 'urgent' | 'patient';

export class ConnectionOrder {
  readonly #queue = new FairQueue({ places: (taken) => 1 - taken });
  #holder: Kind = 'urgent';
  #heldSince = 0;
  /** How long the next patient work lets urgent work go first. */
  #patienceMs = WAIT_MIN_MS;
  /** When patient work most recently released the connection. */
  #patientLeftAt = Number.NEGATIVE_INFINITY;
  #pause: NodeJS.Immediate | null = null;

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Waits for the connection. The caller must call `leave` after it has released the connection. Throws DeadlineExceeded at the deadline. */
  async enter(deadline: Deadline): Promise<void> {
    const kind = deadline.isNone ? 'patient' : 'urgent';
    const goesFirst = kind === 'urgent' && !this.#isPatientDue() && this.#endPause();
    if (!goesFirst) await this.#queue.enter(deadline, kind);
    this.#holder = kind;
    this.#heldSince = performance.now();
  }

  /** Gives the connection to the next caller. */
  leave(): void {
    if (this.#holder === 'patient') {
      this.#patientLeftAt = performance.now();
      this.#patienceMs = Math.max(WAIT_MIN_MS, (this.#patientLeftAt - this.#heldSince) * WAIT_SHARE);
      this.#passOn();
    } else if (this.#queue.waitingSince('urgent') === null && this.#queue.waitingSince('patient') !== null) {
      this.#beginPause();
    } else this.#passOn();
  }

  /**
   * Keeps the connection for a moment before patient work gets it. During this moment, the request that has just released the connection
   * can take it again, for its next statement. Without the pause, a request of five statements would wait for five batches of an import.
   */
  #beginPause(): void {
    this.#pause = setImmediate(() => {
      this.#pause = null;
      this.#passOn();
    });
  }

  /** Ends a pause. Returns whether there was one: the caller then has the connection. */
  #endPause(): boolean {
    if (!this.#pause) return false;
    clearImmediate(this.#pause);
    this.#pause = null;
    return true;
  }

  #passOn(): void {
    this.#queue.leave(this.#holder, this.#next());
  }

  #next(): Kind {
    if (this.#queue.waitingSince('patient') === null) return 'urgent';
    return this.#queue.waitingSince('urgent') === null || this.#isPatientDue() ? 'patient' : 'urgent';
  }

  /**
   * Whether patient work has let urgent work go first for long enough. The time that it has waited counts only from the end of the previous
   * patient work. Otherwise several imports that have all waited long enough would run directly one after the other, and requests would wait
   * for all of them.
   */
  #isPatientDue(): boolean {
    const since = this.#queue.waitingSince('patient');
    return since !== null && performance.now() - Math.max(since, this.#patientLeftAt) >= this.#patienceMs;
  }
}
