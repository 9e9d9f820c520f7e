// Computes how long to wait before the next attempt.

import type { Random } from '../core/random.ts';

export type Backoff = {
  /** The wait after the first failure. Each further failure doubles the wait. */
  baseMs: number;
  maxMs: number;
  /** The largest share (0 to 1) by which a wait is shortened at random, so that processes do not all try at the same moment. */
  jitter: number;
};

/** Bounds the exponent, so that the wait stays a finite number. With this many doublings, the wait exceeds any practical `maxMs`. */
const DOUBLINGS_MAX = 30;

/** `failures` is the number of failures in a row (1 or more). The wait is never longer than `maxMs`. */
export function backoffMs(failures: number, { baseMs, maxMs, jitter }: Backoff, random: Random): number {
  const doublings = Math.min(Math.max(0, failures - 1), DOUBLINGS_MAX);
  return Math.min(maxMs, baseMs * 2 ** doublings) * (1 - jitter * random());
}

/** Lengthens `ms` at random by up to `share` of `ms` (0.1 is ten percent). */
export function spreadMs(ms: number, share: number, random: Random): number {
  return ms * (1 + share * random());
}

const SECONDS = /^\d{1,9}(\.\d{1,3})?$/;
/** The beginning of an HTTP date: the name of the day. Checked because `Date.parse` accepts many texts that are no HTTP dates. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /;

/** Reads the header `Retry-After` (RFC 9110), a number of seconds or a date, as milliseconds from now. Null for any other text. */
export function parseRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null;
  if (SECONDS.test(text)) return Number(text) * 1_000;
  const ms = HTTP_DATE.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
