// How an upstream that tasks read is doing, as they report it with their results. It holds no address and no key.

import type { BreakerState } from '../resilience/breaker.ts';

export type UpstreamStatus = {
  name: string;
  breaker: BreakerState;
  /** While it rests: when the next request is let through as a trial, in ms since the epoch. */
  restsUntil: number | null;
  /** Calls in a row that failed for good. */
  failures: number;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  /** The reason of the last failure: an `UpstreamReason`. */
  lastFailure: string | null;
  budget: { perHour: number; left: number } | null;
  /** Requests that were sent, retries included. */
  requests: number;
  retries: number;
  /** Calls that were not sent: over budget, paused or resting. */
  refused: number;
};
