// A budget of requests an hour as a bucket of tokens, with a remainder that can be shown. It never sleeps: it says how long.

import type { Clock } from '../clock.ts';

export type Budget = {
  readonly perHour: number;
  /** Takes one request and says how long it has to wait first; takes nothing where that is more than `patienceMs`. */
  take(patienceMs: number): number;
  /** For a request that was taken and not sent. */
  giveBack(): void;
  /** Whole requests that could be sent at once. */
  left(): number;
};

const HOUR_MS = 3_600_000;
/** The part of the hour's requests that may be sent at once, after a quiet while. */
const BURST_SHARE = 0.1;

/**
 * What is taken goes first out of the burst, then as fast as the bucket fills. It fills so slowly that a full bucket and an
 * hour of filling together are the hour's budget: no window of an hour, wherever it begins, sees more.
 */
export function createBudget({ perHour, clock }: { perHour: number; clock: Clock }): Budget {
  const burst = Math.max(1, Math.floor(perHour * BURST_SHARE));
  const perMs = Math.max(perHour - burst, 1) / HOUR_MS;
  let tokens = burst;
  let at = clock();

  const refill = () => {
    const now = clock();
    // A clock that was set back gives nothing, and counts from there.
    tokens = Math.min(burst, tokens + Math.max(0, now - at) * perMs);
    at = now;
  };

  return {
    perHour,
    take: (patienceMs) => {
      refill();
      const waitMs = tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perMs);
      // Below zero are the requests of those who wait already, in their order.
      if (waitMs <= patienceMs) tokens -= 1;
      return waitMs;
    },
    giveBack: () => {
      tokens = Math.min(burst, tokens + 1);
    },
    left: () => {
      refill();
      return Math.max(0, Math.floor(tokens));
    },
  };
}
