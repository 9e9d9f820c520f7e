// Decides with a circuit breaker whether an endpoint may be called.

import type { Clock } from '../../../platform/core/clock.ts';
import type { Random } from '../../../platform/core/random.ts';
import { CircuitBreaker } from '../../../platform/resilience/breaker.ts';
import type { RpcFailure, RpcFailureKind } from './rpc-failure.ts';

export type EndpointHealthOptions = {
  /** How long the breaker stays open at first. The time doubles with each failed trial. */
  openMs: number;
  clock: Clock;
  random: Random;
};

/**
 * The longest time for which the breaker stays open, except after a rate limit or wrong data. This time, the timeout of a request and the
 * longest pause of the chain's task take less than a minute together. So the recovery of an endpoint is noticed within a minute.
 */
const OPEN_MS_MAX = 20_000;
/** An endpoint is not called for this long after it served another chain, or data that two other endpoints contradict. */
const WRONG_DATA_MS = 60_000;
const RETRY_AFTER_MS_MAX = 60_000;

/** Failures that open the breaker when they first occur, because an immediate retry is useless or harmful. */
const OPENS_AT_ONCE: ReadonlySet<RpcFailureKind> = new Set([
  'rate-limited',
  'wrong-chain',
  'contradicted',
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

  /** The number of failures since the process started. Failures that are no evidence of a faulty endpoint are not counted. */
  get failures(): number {
    return this.#failures;
  }

  get lastFailure(): string | null {
    return this.#lastFailure;
  }

  /** In ms; 0 when the endpoint may be called. */
  openForMs(): number {
    return this.#breaker.remainingMs();
  }

  /** Whether `enter` would allow a call now. */
  isAvailable(): boolean {
    return this.#breaker.state() !== 'trial' && this.openForMs() === 0;
  }

  /** `trial` admits the one call whose outcome decides whether the breaker closes again. The caller must report the outcome. */
  enter(): 'yes' | 'trial' | 'no' {
    return this.#breaker.enter();
  }

  /** Returns whether the success closed the breaker. */
  succeeded(): boolean {
    return this.#breaker.succeeded();
  }

  /** Returns whether the failure opened the breaker. */
  failed(failure: RpcFailure): boolean {
    this.#lastFailure = failure.message;
    if (!failure.counts) {
      // A failure of this kind is no evidence of a faulty endpoint, so a trial with this outcome closes the breaker.
      if (this.#breaker.state() === 'trial') this.#breaker.succeeded();
      return false;
    }
    this.#failures += 1;
    return this.#breaker.failed({ opens: OPENS_AT_ONCE.has(failure.kind), leastMs: leastMsAfter(failure) });
  }

  /** Records a call that ended for a reason that the endpoint did not cause. */
  abandoned(): void {
    this.#breaker.abandoned();
  }
}

function leastMsAfter({ kind, retryAfterMs }: RpcFailure): number {
  const isWrong = kind === 'wrong-chain' || kind === 'contradicted';
  return isWrong ? WRONG_DATA_MS : Math.min(RETRY_AFTER_MS_MAX, retryAfterMs ?? 0);
}
