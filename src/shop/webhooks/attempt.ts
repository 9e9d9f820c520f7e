// One attempt to send a delivery: what came of it, and what follows for the delivery.

import type { DeliveryState } from './delivery.ts';
import type { Random } from '../../core/random.ts';
import { parseRetryAfter } from '../../resilience/backoff.ts';
import { retryDelayMs } from './retry-schedule.ts';

/** `status` is null without a response; `error` then says why, in words for the shop. `retryAfter` is the response's header. */
export type AttemptResult = {
  status: number | null;
  retryAfter: string | null;
  error: string | null;
  durationMs: number;
};

/** The effect of an attempt on its delivery. */
export type AttemptVerdict = {
  state: DeliveryState;
  /** The time of the next attempt; null for none. */
  dueAt: number | null;
  error: string | null;
};

/** Judges the attempt on a delivery that had `attempts` attempts before. */
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
