// Decides when a failed delivery is attempted again, and after how many attempts the delivery is dead.

import type { Random } from '../../platform/core/random.ts';
import { spreadMs } from '../../platform/resilience/backoff.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The delays after the first failure, the second failure, and so on. A delivery that fails after all delays is dead. */
const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/** Each delay is lengthened at random by up to this share, so that deliveries that failed together are retried at different times. */
const RETRY_JITTER = 0.1;

/** The longest delay that a receiver can request with `Retry-After`. A longer delay is shortened to this delay. */
const RETRY_AFTER_MAX_MS = 24 * HOUR_MS;

/**
 * Milliseconds until the next attempt after `failures` failures (1 or more). Null if no attempt is left. `retryAfterMs` is the delay that
 * the receiver requested, or null. The result is at least `retryAfterMs`, or at least 24 hours if the receiver requested more.
 */
export function retryDelayMs(failures: number, random: Random, retryAfterMs: number | null): number | null {
  const delayMs = RETRY_DELAYS_MS[failures - 1];
  if (delayMs === undefined) return null;
  return Math.max(Math.round(spreadMs(delayMs, RETRY_JITTER, random)), Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
}
