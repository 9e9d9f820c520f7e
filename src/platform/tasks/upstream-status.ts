// The state of an upstream from which tasks read. Some fields are in the public status, so no field may contain the upstream's URL or a
// key.

import type { BreakerState } from '../resilience/breaker.ts';

export const BREAKER_STATES = ['closed', 'open', 'trial'] as const satisfies readonly BreakerState[];

export type UpstreamStatus = {
  name: string;
  breaker: BreakerState;
  /** While the breaker is open: when the next request is admitted as a trial, in milliseconds since the epoch. */
  restsUntil: number | null;
  /** Consecutive calls that failed after all retries. */
  failures: number;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  /** An `UpstreamReason`. */
  lastFailure: string | null;
  budget: { perHour: number; left: number } | null;
  /** Requests that were sent, retries included. */
  requests: number;
  retries: number;
  /** Calls that were not sent, because the budget was used up, the upstream was paused, or its breaker was open. */
  refused: number;
};

export type UpstreamSummary = Pick<
  UpstreamStatus,
  'name' | 'breaker' | 'budget' | 'requests' | 'retries' | 'refused' | 'lastFailure'
>;

export function toUpstreamSummary(upstream: UpstreamStatus): UpstreamSummary {
  const { name, breaker, budget, requests, retries, refused, lastFailure } = upstream;
  return { name, breaker, budget, requests, retries, refused, lastFailure };
}
