// Whether an endpoint may be called: a circuit breaker over the kinds of failures, some of which open it at once.

import type { Clock } from '../../core/clock.ts';
import type { Random } from '../../core/random.ts';
import { CircuitBreaker } from '../../resilience/breaker.ts';
import type { RpcFailure, RpcFailureKind } from './rpc-failure.ts';

export type EndpointHealthOptions = {
  /** How long the breaker is open at first; twice as long after each trial that failed. */
  openMs: number;
  clock: Clock;
  random: Random;
};

/** Together with a request that hangs and the longest pause of the chain's task, less than a minute: a recovery is seen so soon. */
const OPEN_MS_MAX = 20_000;
/** An operator may correct a wrong endpoint. */
const WRONG_CHAIN_MS = 60_000;
const RETRY_AFTER_MS_MAX = 60_000;

/** Failures after which another request at once is useless or harmful. */
const OPENS_AT_ONCE: ReadonlySet<RpcFailureKind> = new Set([
  'rate-limited',
  'wrong-chain',
  'invalid-response',
  'undecodable',
  'rejected',
]);

export class EndpointHealth {
  readonly #breaker: CircuitBreaker;
  #failures = 0;
  #lastFailure: string | null = null;

  constructor({ openMs, clock, random }: EndpointHealthOptions) {
    this.#breaker = new CircuitBreaker({ openMs, openMaxMs: OPEN_MS_MAX, clock, random });
  }

  /** Failures since the start. */
  get failures(): number {
    return this.#failures;
  }

  get lastFailure(): string | null {
    return this.#lastFailure;
  }

  /** How long the endpoint may not be called, in ms. */
  openForMs(): number {
    return this.#breaker.remainingMs();
  }

  /** Whether `enter` would allow a call now. */
  isAvailable(): boolean {
    return this.#breaker.state() !== 'trial' && this.openForMs() === 0;
  }

  /** Whether a call may be made: `trial` for the one that decides after failures. Its outcome has to be reported. */
  enter(): 'yes' | 'trial' | 'no' {
    return this.#breaker.enter();
  }

  /** Returns whether this closed the breaker. */
  succeeded(): boolean {
    return this.#breaker.succeeded();
  }

  /** Returns whether this opened the breaker. */
  failed(failure: RpcFailure): boolean {
    this.#lastFailure = failure.message;
    if (!failure.counts) {
      // The endpoint works: it says what it cannot do.
      if (this.#breaker.state() === 'trial') this.#breaker.succeeded();
      return false;
    }
    this.#failures += 1;
    return this.#breaker.failed({ opens: OPENS_AT_ONCE.has(failure.kind), leastMs: leastMsAfter(failure) });
  }

  /** The call ended for a reason that is not the endpoint's. */
  abandoned(): void {
    this.#breaker.abandoned();
  }
}

function leastMsAfter({ kind, retryAfterMs }: RpcFailure): number {
  return kind === 'wrong-chain' ? WRONG_CHAIN_MS : Math.min(RETRY_AFTER_MS_MAX, retryAfterMs ?? 0);
}
