// The order in which waiting work gets the single connection of the embedded database. Work with a deadline, such as a read of the
// marketplace, goes before work without a deadline, such as a batch of an import.

import type { Deadline } from '../core/deadline.ts';
import { raceDeadline } from '../resilience/deadline.ts';

/**
 * Work without a deadline lets work with a deadline go first, but only for a limited time. This limit is WAIT_SHARE times the time for which
 * the previous work without a deadline used the connection. Most requests need less time than this limit, so they are served between two
 * batches of an import. Under constant requests an import takes at most about three times as long as without requests.
 */
const WAIT_SHARE = 2;
/** The lower bound of the limit. Without it, many short statements without a deadline would delay most requests. */
const WAIT_MIN_MS = 20;

type Waiter = { hasDeadline: boolean; since: number; place: PromiseWithResolvers<void> };

export class ConnectionOrder {
  readonly #now: () => number;
  readonly #urgent = new Set<Waiter>();
  readonly #patient = new Set<Waiter>();
  #holder: Waiter | null = null;
  #heldSince = 0;
  /** How long the next work without a deadline lets work with a deadline go first. */
  #patienceMs = WAIT_MIN_MS;
  /** When work without a deadline most recently released the connection. */
  #patientLeftAt = Number.NEGATIVE_INFINITY;
  #isPausing = false;

  /** `now`: the monotonic clock, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get waiting(): number {
    return this.#urgent.size + this.#patient.size;
  }

  /**
   * Waits for the connection. The caller must call `leave` after it has released the connection. Throws DeadlineExceeded at the
   * deadline.
   */
  async enter(deadline: Deadline): Promise<void> {
    const hasDeadline = !deadline.isNone;
    const waiter: Waiter = { hasDeadline, since: this.#now(), place: Promise.withResolvers() };
    const waiting = hasDeadline ? this.#urgent : this.#patient;
    waiting.add(waiter);
    this.#passOn();
    try {
      await raceDeadline(waiter.place.promise, deadline);
    } catch (error) {
      // If the waiter is no longer in the set, it got the connection just before its deadline. Then the connection goes to the next waiter.
      if (!waiting.delete(waiter)) this.leave();
      throw error;
    }
  }

  /** Gives the connection to the next caller. */
  leave(): void {
    const last = this.#holder;
    this.#holder = null;
    if (last?.hasDeadline) return this.#pause();
    this.#patientLeftAt = this.#now();
    this.#patienceMs = Math.max(WAIT_MIN_MS, (this.#patientLeftAt - this.#heldSince) * WAIT_SHARE);
    this.#passOn();
  }

  /**
   * Waits a moment before work without a deadline gets the connection. During this moment, the request that has just released the connection
   * can ask for the connection again, for its next statement. Without the pause, a request of five statements would wait for five batches of
   * an import.
   */
  #pause(): void {
    if (this.#urgent.size > 0) return this.#passOn();
    if (this.#isPausing) return;
    this.#isPausing = true;
    setImmediate(() => {
      this.#isPausing = false;
      this.#passOn();
    });
  }

  #passOn(): void {
    if (this.#holder !== null) return;
    const next = this.#next();
    if (!next || (this.#isPausing && !next.hasDeadline)) return;
    this.#urgent.delete(next);
    this.#patient.delete(next);
    this.#holder = next;
    this.#heldSince = this.#now();
    next.place.resolve();
  }

  #next(): Waiter | undefined {
    const [urgent] = this.#urgent;
    const [patient] = this.#patient;
    if (!urgent || !patient) return urgent ?? patient;
    // The time that `patient` has waited counts only from the end of the previous work without a deadline. Otherwise several imports that
    // have all waited long enough would run directly one after the other, and requests would wait for all of them.
    const waitedSince = Math.max(patient.since, this.#patientLeftAt);
    return this.#now() - waitedSince < this.#patienceMs ? urgent : patient;
  }
}
