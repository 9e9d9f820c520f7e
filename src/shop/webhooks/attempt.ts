// The result of one attempt to send a delivery, and the state of the delivery that follows from it.

import type { DeliveryState } from './delivery.ts';
import type { Random } from '../../platform/core/random.ts';
import { parseRetryAfter } from '../../platform/resilience/backoff.ts';
import { retryDelayMs } from './retry-schedule.ts';

/**
 * `status` is null if no complete response arrived. `error` is then the reason, as a message to the shop. `retryAfter` is the header
 * `Retry-After`, or null.
 */
export type AttemptResult = {
  status: number | null;
  retryAfter: string | null;
  error: string | null;
  durationMs: number;
};

/** How an attempt changes its delivery. `error` is the reason of a failure, as a message to the shop, or null after a success. */
export type AttemptVerdict = {
  state: DeliveryState;
  /** The time of the next attempt. Null if no attempt follows. */
  dueAt: number | null;
  error: string | null;
};

/** Decides how an attempt changes its delivery. `attempts` is the number of earlier attempts in the current retry schedule. */
export function judgeAttempt(
  result: AttemptResult,
  { attempts, now, random }: { attempts: number; now: number; random: Random },
): AttemptVerdict {
  if (isSuccess(result)) return { state: 'delivered', dueAt: null, error: null };
  const retryAfterMs = parseRetryAfter(result.retryAfter, now);
  const delayMs = retryDelayMs(attempts + 1, random, retryAfterMs);
  return {
    state: delayMs === null ? 'dead' : 'pending',
    dueAt: delayMs === null ? null : now + delayMs,
    error: result.error ?? describeStatus(result.status),
  };
}

export function isSuccess({ error, status }: AttemptResult): boolean {
  return error === null && status !== null && status >= 200 && status < 300;
}

function describeStatus(status: number | null): string {
  const isRedirect = status !== null && status >= 300 && status < 400;
  return `the receiver responded with status ${status}${isRedirect ? '; redirects are not followed' : ''}`;
}
