// Limits how many requests are sent in an hour, with a token bucket. This file has the arithmetic of the bucket, and the budget of a single
// process. The budget that processes share is in sources/upstreams/shared-budget.ts.

import type { Clock } from '../../platform/core/clock.ts';

export type Budget = {
  readonly perHour: number;
  /**
   * Takes one request from the budget and returns how long the caller has to wait before it sends the request, in ms. If the wait is longer
   * than `patienceMs`, nothing is taken.
   */
  take(claim: BudgetClaim): Promise<number>;
  /** Puts back one request that was taken but not sent. */
  giveBack(): Promise<void>;
  /** Requests that could be sent now without waiting, as far as this process knows. */
  left(): number;
};

export type BudgetClaim = {
  /** The longest wait that the caller accepts. */
  patienceMs: number;
  /** True for one of many requests that are not urgent. Such a request is sent only while part of the bucket is left for urgent requests. */
  isBulk?: boolean;
};

const HOUR_MS = 3_600_000;
/** The share of the hour's requests that may be sent without waiting when the bucket is full. */
const BURST_SHARE = 0.1;
/** The share of a full bucket that bulk requests leave to urgent requests. */
const BULK_LEAVES_SHARE = 0.5;
/**
 * The most bulk requests that wait at one time. It is 1, because callers send bulk requests one after another. A waiting request may be taken
 * from the bucket in one hour and sent in the next hour, so the budget of each hour must have room for one such request. A small
 * bucket that keeps no part for urgent requests needs no such room: a bulk request then waits only while the bucket is empty, and later
 * requests wait until the bulk request was sent.
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

/** How many requests the bucket must hold so that the claimed request is sent without waiting. The claimed request itself is counted. */
export function toNeeded({ burst }: BudgetRule, { isBulk = false }: BudgetClaim): number {
  return isBulk ? 1 + Math.floor(burst * BULK_LEAVES_SHARE) : 1;
}

/**
 * A full bucket, the requests added in an hour and the waiting bulk requests add up to `perHour`. So no more than `perHour` requests are
 * sent in any period of one hour.
 */
export function toBudgetRule(perHour: number): BudgetRule {
  const burst = Math.max(1, Math.floor(perHour * BURST_SHARE));
  const waiting = Math.floor(burst * BULK_LEAVES_SHARE) > 0 ? BULK_WAITING_MAX : 0;
  return { burst, perMs: Math.max(perHour - burst - waiting, ADDED_MIN) / HOUR_MS };
}

/** `tokens`: how many requests the bucket held at the time `at`, in ms. Negative while requests that were taken wait to be sent. */
export type Bucket = { tokens: number; at: number };

/** If the clock was set back, the content stays, and filling continues from the new time. */
export function refill({ tokens, at }: Bucket, { burst, perMs }: BudgetRule, now: number): Bucket {
  return { tokens: Math.min(burst, tokens + Math.max(0, now - at) * perMs), at: now };
}

export function toLeft({ tokens }: Bucket): number {
  return Math.max(0, Math.floor(tokens));
}

/** The budget of one process. A restart of the process refills the budget. */
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
