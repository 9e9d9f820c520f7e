// An hourly budget of requests as a token bucket: its arithmetic, and a budget for a single process. A budget does not sleep: it returns
// the time to wait. The budget that processes share is in upstreams/shared-budget.ts.

import type { Clock } from '../core/clock.ts';

export type Budget = {
  readonly perHour: number;
  /**
   * Takes one request from the budget and returns how long the caller has to wait before it sends the request, in ms. When that is
   * longer than `patienceMs`, nothing is taken.
   */
  take(claim: BudgetClaim): Promise<number>;
  /** Puts back one request that was taken from the budget but not sent. */
  giveBack(): Promise<void>;
  /** Requests that could be sent now without waiting, as far as this process knows. */
  left(): number;
};

export type BudgetClaim = {
  /** The longest wait that the caller accepts. */
  patienceMs: number;
  /** True for one of many requests that are not urgent. Such a request is sent only when part of the bucket is left for urgent requests. */
  isBulk?: boolean;
};

const HOUR_MS = 3_600_000;
/** The share of the hour's requests that may be sent without waiting when the bucket is full. */
const BURST_SHARE = 0.1;
/** The share of a full bucket that bulk requests leave to urgent requests. */
const BULK_LEAVES_SHARE = 0.5;
/**
 * When an hour begins, this many bulk requests may have been taken earlier and not been sent yet. They are sent in that hour, so they
 * count towards its budget. With a bucket that is too small to keep a part for urgent requests, no bulk request waits in this way.
 */
const BULK_WAITING_MAX = 1;
/** Requests that are added in an hour to the smallest bucket: fewer than one, so that two requests are more than an hour apart. */
const ADDED_MIN = 0.99;

export type BudgetRule = {
  /** A full bucket: the requests that may be sent without waiting. */
  burst: number;
  /** Requests that are added to the bucket per millisecond. */
  perMs: number;
};

/** How many requests the bucket must hold, this one included, for a request to be sent without waiting. */
export function toNeeded({ burst }: BudgetRule, { isBulk = false }: BudgetClaim): number {
  return isBulk ? 1 + Math.floor(burst * BULK_LEAVES_SHARE) : 1;
}

/**
 * The bucket fills so slowly that a full bucket, the requests added in an hour and the waiting bulk requests add up to `perHour`. So
 * no more than `perHour` requests are sent in any period of one hour.
 */
export function toBudgetRule(perHour: number): BudgetRule {
  const burst = Math.max(1, Math.floor(perHour * BURST_SHARE));
  const waiting = Math.floor(burst * BULK_LEAVES_SHARE) > 0 ? BULK_WAITING_MAX : 0;
  return { burst, perMs: Math.max(perHour - burst - waiting, ADDED_MIN) / HOUR_MS };
}

/** `tokens`: how many requests the bucket held at the time `at`, in ms. Negative while requests that were taken wait to be sent. */
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
