// An hourly budget of requests as a token bucket: the rule, and a budget of one process alone. A budget never sleeps: it returns
// how long to wait. upstreams/shared-budget.ts has the budget that processes share.

import type { Clock } from '../core/clock.ts';

export type Budget = {
  readonly perHour: number;
  /** Takes one request and returns how long it has to wait. Takes nothing when that exceeds the patience. */
  take(claim: BudgetClaim): Promise<number>;
  /** For a request that was taken and not sent. */
  giveBack(): Promise<void>;
  /** Requests that could be sent at once, as far as this process knows. */
  left(): number;
};

export type BudgetClaim = {
  patienceMs: number;
  /** For one of many requests that can wait: it leaves part of the bucket to other requests. */
  isBulk?: boolean;
};

const HOUR_MS = 3_600_000;
/** The share of the hour's requests that may be sent at once when the bucket is full. */
const BURST_SHARE = 0.1;
/** The share of a full bucket that bulk requests leave to others. */
const BULK_LEAVES_SHARE = 0.5;
/** A bulk request is counted when it is taken and sent later, so one that was counted before an hour may be sent in it. */
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
 * The bucket fills so slowly that a full bucket, an hour of filling and the waiting bulk requests together are the hour's budget: no
 * period of an hour, wherever it begins, has more requests.
 */
export function toBudgetRule(perHour: number): BudgetRule {
  const burst = Math.max(1, Math.floor(perHour * BURST_SHARE));
  return { burst, perMs: Math.max(perHour - burst - BULK_WAITING_MAX, 1) / HOUR_MS };
}

/** The content of a bucket at a time; negative while taken requests wait. */
export type Bucket = { tokens: number; at: number };

/** The bucket as it is now. When the clock was set back, nothing flows in, and filling goes on from the new time. */
export function refill({ tokens, at }: Bucket, { burst, perMs }: BudgetRule, now: number): Bucket {
  return { tokens: Math.min(burst, tokens + Math.max(0, now - at) * perMs), at: now };
}

export function toLeft({ tokens }: Bucket): number {
  return Math.max(0, Math.floor(tokens));
}

/** A budget of one process, lost when the process ends. */
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
