// How long to wait before the next attempt. All waits of the service are computed here, with the time and the randomness of the
// caller; nothing here waits.

import type { Random } from '../core/random.ts';

export type Backoff = {
  /** The wait after the first failure; it doubles with each further one. */
  baseMs: number;
  maxMs: number;
  /** Each wait is shortened by up to this share, so that many processes do not try at the same moment. */
  jitter: number;
};

/** Doubling further would leave the range of integers. */
const DOUBLINGS_MAX = 30;

/** The wait after `failures` failures in a row (1 or more): never longer than `maxMs`. */
export function backoffMs(failures: number, { baseMs, maxMs, jitter }: Backoff, random: Random): number {
  const doublings = Math.min(Math.max(0, failures - 1), DOUBLINGS_MAX);
  return Math.min(maxMs, baseMs * 2 ** doublings) * (1 - jitter * random());
}

/** A period or a delay, lengthened by up to a share: never shorter than it. */
export function spreadMs(ms: number, share: number, random: Random): number {
  return ms * (1 + share * random());
}

/** What is left of a wait that ends at `until`, and of which `maxMs` is all: also when the clock was set back meanwhile. */
export function remainingMs(until: number, now: number, maxMs: number): number {
  return Math.min(maxMs, Math.max(0, until - now));
}

const SECONDS = /^\d{1,9}(\.\d{1,3})?$/;
/** A date of HTTP begins with the name of its day. `Date.parse` alone accepts almost anything. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /;

/** `Retry-After` of HTTP (RFC 9110), in seconds or as a date, in milliseconds from now; null when it is neither. */
export function parseRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null;
  if (SECONDS.test(text)) return Number(text) * 1_000;
  const ms = HTTP_DATE.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
