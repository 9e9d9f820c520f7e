// The circuit breaker: after failures in a row, calls fail at once instead of waiting for what is down. Two policies use it: the
// next caller is the trial (`enter`), or a timer tries in the background (`BackgroundTrials`). It runs no call itself.

import type { Clock } from '../core/clock.ts';
import type { Random } from '../core/random.ts';
import { backoffMs, remainingMs } from './backoff.ts';

/** `trial`: half-open. A call is under way that decides whether the breaker closes or opens again. */
export type BreakerState = 'closed' | 'open' | 'trial';

export type BreakerOptions = {
  /** Failures in a row that open a closed breaker. Default: FAILURES_MAX. */
  failuresMax?: number;
  /** How long the breaker is open after it opened; twice as long after each trial that failed, up to `openMaxMs`. */
  openMs: number;
  openMaxMs: number;
  clock: Clock;
  random: Random;
};

export const FAILURES_MAX = 3;
const JITTER = 0.2;

export class CircuitBreaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = 'closed';
  #failures = 0;
  /** How often the breaker has opened since it was last closed. */
  #openings = 0;
  #openMs = 0;
  #openUntil = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  state(): BreakerState {
    return this.#state;
  }

  /** Failures in a row. */
  failures(): number {
    return this.#failures;
  }

  /** How long until a trial is allowed, in ms; 0 unless the breaker is open. */
  remainingMs(): number {
    return this.#state === 'open' ? remainingMs(this.#openUntil, this.#options.clock(), this.#openMs) : 0;
  }

  /** Whether a call may be made: `trial` for the one call that decides, during which all others get `no`. */
  enter(): 'yes' | 'trial' | 'no' {
    if (this.#state === 'closed') return 'yes';
    if (this.#state === 'trial' || this.remainingMs() > 0) return 'no';
    this.#state = 'trial';
    return 'trial';
  }

  /** Begins a trial whatever the clock says: for a policy that has a timer of its own. */
  beginTrial(): void {
    if (this.#state === 'open') this.#state = 'trial';
  }

  /** A call succeeded, also one that was under way when the breaker opened. Returns whether this closed the breaker. */
  succeeded(): boolean {
    const closed = this.#state !== 'closed';
    this.#state = 'closed';
    this.#failures = 0;
    this.#openings = 0;
    return closed;
  }

  /**
   * A call failed. The breaker opens after `failuresMax` failures in a row, after a failed trial, and at once with `opens`;
   * `leastMs` is a least time that the other side demanded. Returns whether this opened a closed breaker.
   */
  failed({ opens = false, leastMs = 0 }: { opens?: boolean; leastMs?: number } = {}): boolean {
    const { failuresMax = FAILURES_MAX } = this.#options;
    this.#failures += 1;
    // A call that was under way when the breaker opened does not keep it open longer.
    if (this.#state === 'open') return false;
    const wasClosed = this.#state === 'closed';
    if (wasClosed && !opens && this.#failures < failuresMax) return false;
    this.#open(leastMs);
    return wasClosed;
  }

  /** The call was given up: whether it would have succeeded is not known. The next caller is the trial. */
  abandoned(): void {
    if (this.#state === 'trial') this.#state = 'open';
  }

  #open(leastMs: number): void {
    const { openMs: baseMs, openMaxMs: maxMs, clock, random } = this.#options;
    this.#openings += 1;
    this.#state = 'open';
    this.#openMs = Math.max(leastMs, backoffMs(this.#openings, { baseMs, maxMs, jitter: JITTER }, random));
    this.#openUntil = clock() + this.#openMs;
  }
}

/**
 * Tries again in the background while a breaker is open. No caller is chosen for the trial: nobody waits for it, and a service
 * without traffic recovers too.
 */
export class BackgroundTrials {
  readonly #breaker: CircuitBreaker;
  readonly #attempt: () => Promise<void>;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  /** `attempt` makes the call, reports its success to the breaker, and never rejects. */
  constructor(breaker: CircuitBreaker, attempt: () => Promise<void>) {
    this.#breaker = breaker;
    this.#attempt = attempt;
  }

  /** Has the breaker, which just opened, tried until it is closed. */
  start(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer ?? undefined);
    this.#timer = setTimeout(() => void this.#try(), this.#breaker.remainingMs()).unref();
  }

  /** No trial begins after this. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer ?? undefined);
  }

  async #try(): Promise<void> {
    // A call that was under way when the breaker opened may have closed it before the trial, or during it.
    if (this.#breaker.state() !== 'open') return;
    this.#breaker.beginTrial();
    await this.#attempt();
    if (this.#breaker.state() !== 'trial') return;
    this.#breaker.failed();
    this.start();
  }
}
