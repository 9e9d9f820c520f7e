// A circuit breaker: after several failures in a row, callers fail immediately instead of waiting for a system that is down. After some
// time a single call is made as a trial, by the next caller (`enter`) or in the background (`BackgroundTrials`). A success closes the
// breaker.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../core/clock.ts';
import type { Random } from '../core/random.ts';
import { backoffMs } from './backoff.ts';

/** `trial` (half-open): one call is in progress, and its result closes the breaker or opens it again. */
export type BreakerState = 'closed' | 'open' | 'trial';

export type BreakerOptions = {
  /** Failures in a row that open a closed breaker. Default: FAILURES_MAX. */
  failuresMax?: number;
  /** How long the breaker stays open before a trial. Each failed trial doubles this time, up to `openMaxMs`. */
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
  /** How many times the breaker has opened since it was last closed. */
  #openings = 0;
  #openMs = 0;
  #openUntil = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  state(): BreakerState {
    return this.#state;
  }

  failures(): number {
    return this.#failures;
  }

  /** In ms; 0 unless the breaker is open. */
  remainingMs(): number {
    if (this.#state !== 'open') return 0;
    const now = this.#options.clock();
    // If the clock was set back meanwhile, the open time begins again.
    this.#openUntil = Math.min(this.#openUntil, now + this.#openMs);
    return Math.max(0, this.#openUntil - now);
  }

  /**
   * Whether the caller may make its call. `trial`: yes, as the only caller. The next reported result closes the breaker or opens it again,
   * even if it is the result of a call that began before the breaker opened.
   */
  enter(): 'yes' | 'trial' | 'no' {
    if (this.#state === 'closed') return 'yes';
    if (this.#state === 'trial' || this.remainingMs() > 0) return 'no';
    this.#state = 'trial';
    return 'trial';
  }

  /** Begins a trial of an open breaker, even if its open time is not over. For a caller that has its own timer. */
  beginTrial(): void {
    if (this.#state === 'open') this.#state = 'trial';
  }

  /**
   * Closes the breaker. The successful call may have begun before the breaker opened. Returns false when the breaker was closed already.
   */
  succeeded(): boolean {
    const wasOpen = this.#state !== 'closed';
    this.#state = 'closed';
    this.#failures = 0;
    this.#openings = 0;
    return wasOpen;
  }

  /**
   * Records a failed call. The breaker opens after `failuresMax` failures in a row, or after a failed trial. `opens`: this failure alone
   * opens the breaker. `leastMs`: if this failure opens the breaker, the breaker stays open for at least this long, for example because of
   * `Retry-After`. Returns true when this failure opened a closed breaker.
   */
  failed({ opens = false, leastMs = 0 }: { opens?: boolean; leastMs?: number } = {}): boolean {
    const { failuresMax = FAILURES_MAX } = this.#options;
    this.#failures += 1;
    // This call began before the breaker opened, so its failure does not extend the open time.
    if (this.#state === 'open') return false;
    const wasClosed = this.#state === 'closed';
    if (wasClosed && !opens && this.#failures < failuresMax) return false;
    this.#open(leastMs);
    return wasClosed;
  }

  /** Records that a call was aborted before its result was known. A trial in progress ends, and the next caller makes a new trial. */
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
 * Runs a function outside the asynchronous context of the request that has opened the breaker, because this request may have ended before
 * the trial begins.
 */
const outsideRequests = AsyncLocalStorage.snapshot();

/**
 * Makes the trials of an open breaker in the background. No caller waits for a trial, and the breaker closes again even without callers.
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

  /** Must be called when the breaker has opened. Trials follow until the breaker is closed or `stop` is called. */
  start(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer ?? undefined);
    const run = () => void outsideRequests(() => this.#try());
    this.#timer = setTimeout(run, this.#breaker.remainingMs()).unref();
  }

  /** No trial begins after this. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer ?? undefined);
  }

  async #try(): Promise<void> {
    // If the breaker is not open, a call that began before the opening has succeeded and closed it.
    if (this.#breaker.state() !== 'open') return;
    this.#breaker.beginTrial();
    await this.#attempt();
    // The trial, or a call that began before the breaker opened, has succeeded.
    if (this.#breaker.state() === 'closed') return;
    // A call that began before the breaker opened may have failed during the trial. This failure has then ended the trial, and the state is
    // `open`.
    if (this.#breaker.state() === 'trial') this.#breaker.failed();
    this.start();
  }
}
