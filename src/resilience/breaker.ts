// A circuit breaker that rests and lets one trial through when its rest is over. It has no timer: who asks is the trial.

import type { Clock } from '../core/clock.ts';
import { FAILURES_MAX } from './source.ts';

export type BreakerState = 'closed' | 'open' | 'trial';

export type Breaker = {
  /** Leave to ask: `trial` for the one that finds out, during which the others get `no`. */
  enter(): 'yes' | 'trial' | 'no';
  /** Whether this closed it. */
  succeeded(): boolean;
  /** Whether this opened it. */
  failed(): boolean;
  /** The request was given up: whether it would have succeeded is not known. */
  abandoned(): void;
  state(): BreakerState;
  /** What is left of the rest, in ms; 0 when there is none. */
  restsMs(): number;
  failures(): number;
};

export type BreakerOptions = { restMs: number; restMaxMs: number; clock: Clock; random: () => number };

/** Rests are shortened by up to this share, so that many nodes do not try at once. */
const JITTER = 0.2;

export function createBreaker({ restMs, restMaxMs, clock, random }: BreakerOptions): Breaker {
  let failures = 0;
  let trials = 0;
  let state: BreakerState = 'closed';
  let restsUntil = 0;

  const rest = () => {
    state = 'open';
    restsUntil = clock() + Math.min(restMaxMs, restMs * 2 ** Math.min(trials, 20)) * (1 - JITTER * random());
    trials += 1;
  };
  // Bounded by the longest rest, for a clock that was set back.
  const restsMs = () => (state === 'open' ? Math.min(restMaxMs, Math.max(0, restsUntil - clock())) : 0);

  return {
    enter: () => {
      if (state === 'closed') return 'yes';
      if (state === 'trial' || restsMs() > 0) return 'no';
      state = 'trial';
      return 'trial';
    },
    succeeded: () => {
      const closed = state !== 'closed';
      failures = 0;
      trials = 0;
      state = 'closed';
      return closed;
    },
    failed: () => {
      failures += 1;
      // A request that was under way when the breaker opened adds nothing to its rest.
      if (state === 'open' || (state === 'closed' && failures < FAILURES_MAX)) return false;
      const opened = state === 'closed';
      rest();
      return opened;
    },
    abandoned: () => {
      if (state === 'trial') state = 'open';
    },
    state: () => state,
    restsMs,
    failures: () => failures,
  };
}
