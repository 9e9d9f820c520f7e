// A budget of requests an hour as a bucket of tokens, with a remainder that can be shown: the rule, and a budget for one process
// alone. It never sleeps: it says how long. Where a budget is kept that several processes share is not its business.

import type { Clock } from '../core/clock.ts';

export type Budget = {
  readonly perHour: number;
  /** Takes one request and says how long it has to wait first; takes nothing where that is more than the patience. */
  take(wish: BudgetWish): Promise<number>;
  /** For a request that was taken and not sent. */
  giveBack(): Promise<void>;
  /** Whole requests that could be sent at once, as far as is known here. */
  left(): number;
};

export type BudgetWish = {
  patienceMs: number;
  /** One of many that can wait: it leaves part of the bucket to the others, and so comes in between them, not before. */
  isBulk?: boolean;
};

const HOUR_MS = 3_600_000;
/** The part of the hour's requests that may be sent at once, after a quiet while. */
const BURST_SHARE = 0.1;
/** The part of a full bucket that bulk leaves. While others wait, it gets its next request after this much has filled. */
const BULK_LEAVES_SHARE = 0.5;
/** Bulk is counted when it is asked for and sent later: so many requests may come into an hour that were counted before it. */
const BULK_WAITING_MAX = 1;

export type BudgetRule = {
  /** Requests that may be sent at once: a full bucket. */
  burst: number;
  /** How fast it fills. */
  perMs: number;
};

/** What a request has to find in the bucket, itself included, to be sent at once. */
export function toNeeded({ burst }: BudgetRule, { isBulk = false }: BudgetWish): number {
  return isBulk ? 1 + Math.floor(burst * BULK_LEAVES_SHARE) : 1;
}

/**
 * What is taken goes first out of the burst, then as fast as the bucket fills. It fills so slowly that a full bucket and an
 * hour of filling together, and what of bulk may wait, are the hour's budget: no window of an hour, wherever it begins, sees more.
 */
export function toBudgetRule(perHour: number): BudgetRule {
  const burst = Math.max(1, Math.floor(perHour * BURST_SHARE));
  return { burst, perMs: Math.max(perHour - burst - BULK_WAITING_MAX, 1) / HOUR_MS };
}

/** What was in a bucket at some time; below zero with the requests of those who wait already, in their order. */
export type Bucket = { tokens: number; at: number };

/** The bucket as it is now. A clock that was set back gives nothing, and counts from there. */
export function refill({ tokens, at }: Bucket, { burst, perMs }: BudgetRule, now: number): Bucket {
  return { tokens: Math.min(burst, tokens + Math.max(0, now - at) * perMs), at: now };
}

export function toLeft({ tokens }: Bucket): number {
  return Math.max(0, Math.floor(tokens));
}

/** A budget that this process has to itself, and that ends with it. */
export function createBudget({ perHour, clock }: { perHour: number; clock: Clock }): Budget {
  const rule = toBudgetRule(perHour);
  let bucket: Bucket = { tokens: rule.burst, at: clock() };

  return {
    perHour,
    take: async (wish) => {
      bucket = refill(bucket, rule, clock());
      const waitMs = Math.max(0, Math.ceil((toNeeded(rule, wish) - bucket.tokens) / rule.perMs));
      if (waitMs <= wish.patienceMs) bucket.tokens -= 1;
      return waitMs;
    },
    giveBack: async () => {
      bucket.tokens = Math.min(rule.burst, bucket.tokens + 1);
    },
    left: () => toLeft(refill(bucket, rule, clock())),
  };
}
