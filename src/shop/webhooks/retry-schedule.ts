// When a delivery that failed is tried again, when it is given up, and when its receiver is.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The wait after the first failure, the second, and so on. After the last one the delivery is dead. */
export const RETRY_DELAYS_MS = [
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

/** A wait is up to this share longer, never shorter: receivers that failed together are not tried together. */
export const RETRY_JITTER = 0.1;

/** What a receiver may ask for by `Retry-After`. */
export const RETRY_AFTER_MAX_MS = 24 * HOUR_MS;

/** A receiver that has failed for so long, without a success in between, is disabled. */
export const FAILING_MAX_MS = 5 * 24 * HOUR_MS;

/**
 * Milliseconds until the next try after `failures` of them (1 or more); null when there is none. `random` is from 0 up to 1;
 * `retryAfterMs` is the least wait that the receiver asked for.
 */
export function retryDelayMs(failures: number, random: number, retryAfterMs: number | null): number | null {
  const delayMs = RETRY_DELAYS_MS[failures - 1];
  if (delayMs === undefined) return null;
  return Math.max(Math.round(delayMs * (1 + RETRY_JITTER * random)), Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
}

/** `Retry-After` in either of its forms as milliseconds from now; null when it is neither, or in the past. */
export function parseRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  // A date begins with the name of its day; Date.parse alone would take much else.
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return at > now ? at - now : null;
}
