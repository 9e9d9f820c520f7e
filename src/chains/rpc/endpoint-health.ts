// Whether an endpoint may be called: a circuit breaker. Some kinds of failures open it at once, others only when they repeat.

import type { Clock } from '../../core/clock.ts';
import type { Random } from '../../core/random.ts';
import { CircuitBreaker } from '../../resilience/breaker.ts';
import type { RpcFailure, RpcFailureKind } from './rpc-failure.ts';

export type EndpointHealthOptions = {
  /** How long the breaker stays open at first. The time doubles with each failed trial. */
  openMs: number;
  clock: Clock;
  random: Random;
};

/** Together with a request that times out and the longest pause of the chain's task, a recovery is detected within a minute. */
const OPEN_MS_MAX = 20_000;
/** How long an endpoint of another chain is not called. Later calls detect that the operator corrected the endpoint. */
const WRONG_CHAIN_MS = 60_000;
const RETRY_AFTER_MS_MAX = 60_000;

/** Failures that open the breaker at once, because an immediate retry is useless or harmful. */
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

  /** Admits a call, or not. `trial` is the call that decides whether the breaker closes again. Its outcome must be reported. */
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
      // The endpoint works. It reported what it does not have or support.
      if (this.#breaker.state() === 'trial') this.#breaker.succeeded();
      return false;
    }
    this.#failures += 1;
    return this.#breaker.failed({ opens: OPENS_AT_ONCE.has(failure.kind), leastMs: leastMsAfter(failure) });
  }

  /** The call ended for a reason that the endpoint did not cause. */
  abandoned(): void {
    this.#breaker.abandoned();
  }
}

function leastMsAfter({ kind, retryAfterMs }: RpcFailure): number {
  return kind === 'wrong-chain' ? WRONG_CHAIN_MS : Math.min(RETRY_AFTER_MS_MAX, retryAfterMs ?? 0);
}
