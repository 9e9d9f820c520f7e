// An hourly budget of requests as a token bucket: its arithmetic, and a budget for a single process. A budget does not sleep: it returns
// the time to wait. The budget that processes share is in upstreams/shared-budget.ts.

import type { Clock } from '../core/clock.ts';

export type Budget = {
  readonly perHour: number;
  /** Takes one request from the budget and returns how long it has to wait, in ms. Takes nothing when the wait exceeds `patienceMs`. */
  take(claim: BudgetClaim): Promise<number>;
  /** Returns a request to the budget that was taken but not sent. */
  giveBack(): Promise<void>;
  /** Requests that could be sent at once, as far as this process knows. */
  left(): number;
};

export type BudgetClaim = {
  patienceMs: number;
  /** True for one of many requests that are not urgent. It waits until a part of the bucket is left for other requests. */
  isBulk?: boolean;
};

const HOUR_MS = 3_600_000;
/** The share of the hour's requests that may be sent at once when the bucket is full. */
const BURST_SHARE = 0.1;
/** The share of a full bucket that bulk requests leave to others. */
const BULK_LEAVES_SHARE = 0.5;
/** The most bulk requests that were taken before an hour begins and are sent within it. They count towards the hour's budget. */
const BULK_WAITING_MAX = 1;

export type BudgetRule = {
  /** A full bucket: the requests that may be sent at once. */
  burst: number;
  /** Requests that flow in per millisecond. */
  perMs: number;
};

/** What the bucket must hold for a request to be sent at once, the request included. */
export function toNeeded({ burst }: BudgetRule, { isBulk = false }: BudgetClaim): number {
  return isBulk ? 1 + Math.floor(burst * BULK_LEAVES_SHARE) : 1;
}

/**
 * The bucket fills so slowly that a full bucket, an hour of filling and the waiting bulk requests add up to the hour's budget. So no
 * period of one hour has more requests than that, whenever it begins. A budget below 3 allows slightly more.
 */
export function toBudgetRule(perHour: number): BudgetRule {
  const burst = Math.max(1, Math.floor(perHour * BURST_SHARE));
  return { burst, perMs: Math.max(perHour - burst - BULK_WAITING_MAX, 1) / HOUR_MS };
}

/** The content of a bucket at a time; negative while taken requests wait. */
export type Bucket = { tokens: number; at: number };

/** The bucket at the time `now`. If the clock was set back, the content stays, and filling continues from the new time. */
export function refill({ tokens, at }: Bucket, { burst, perMs }: BudgetRule, now: number): Bucket {
  return { tokens: Math.min(burst, tokens + Math.max(0, now - at) * perMs), at: now };
}

export function toLeft({ tokens }: Bucket): number {
  return Math.max(0, Math.floor(tokens));
}

/** A budget of one process. A restart refills it. */
export class ProcessBudget implements Budget {
  readonly perHour: number;
  readonly #rule: BudgetRule;
  readonly #clock: Clock;
  #bucket: Bucket;

  constructor({ perHour, clock }: { perHour: number; clock: Clock }) {
    this.perHour = perHour;
    this.#rule = toBudgetRule(perHour);
    this.#clock = clock;
    this.#bucket = { tokens: this.#rule.burst, at: clock() };
  }

  take(claim: BudgetClaim): Promise<number> {
    const bucket = refill(this.#bucket, this.#rule, this.#clock());
    const waitMs = Math.max(0, Math.ceil((toNeeded(this.#rule, claim) - bucket.tokens) / this.#rule.perMs));
    if (waitMs <= claim.patienceMs) bucket.tokens -= 1;
    this.#bucket = bucket;
    return Promise.resolve(waitMs);
  }

  giveBack(): Promise<void> {
    this.#bucket.tokens = Math.min(this.#rule.burst, this.#bucket.tokens + 1);
    return Promise.resolve();
  }

  left(): number {
    return toLeft(refill(this.#bucket, this.#rule, this.#clock()));
  }
}
