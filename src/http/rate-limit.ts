// Fixed windows of a minute for each client and bucket, counted from the client's first request in it. In memory: one
// process counts for itself. Counting with others: shared-limits.ts.

import type { Clock } from '../core/clock.ts';

export type RateLimitBucket = 'list' | 'single';
export type RateLimits = Record<RateLimitBucket, number>;

/** Requests a minute, per address, as the specification states them. */
export const MARKETPLACE_LIMITS: RateLimits = { list: 120, single: 300 };

export const WINDOW_MS = 60_000;
/** Windows remembered at once. Past it the older half is forgotten: a flood of addresses costs bounded memory. */
const WINDOWS_MAX = 200_000;

/** What a refused client is told, and when: milliseconds since the epoch, both by the clock that the window is counted by. */
export type RateLimitExceeded = { limit: number; resetAt: number; at: number };

/** Counts a request; the refusal when the client's bucket is exhausted, else null. A promise where others count with it. */
export type RateLimiter<B extends string = RateLimitBucket> = (
  bucket: B,
  client: string,
) => RateLimitExceeded | null | Promise<RateLimitExceeded | null>;

/** The same, always at once. */
type LocalRateLimiter<B extends string> = (bucket: B, client: string) => RateLimitExceeded | null;

/** The headers that only a refused request gets. */
export function toRateLimitHeaders(refusal: RateLimitExceeded): Record<string, string> {
  return {
    'x-ratelimit-limit': String(refusal.limit),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': new Date(refusal.resetAt).toISOString(),
    'retry-after': String(Math.max(1, Math.ceil((refusal.resetAt - refusal.at) / 1_000))),
  };
}

export function createRateLimiter<B extends string>(limits: Record<B, number>, clock: Clock): LocalRateLimiter<B> {
  // Two generations instead of one map that is emptied from its front: each step over the holes that leaves costs as much
  // as a request. A window ends before the second turn after its start, so that none is forgotten early but in a flood.
  let older = new Map<string, Window>();
  let newer = new Map<string, Window>();
  let turnedAt = clock();

  const open = (key: string, now: number): Window => {
    if (now - turnedAt >= WINDOW_MS || newer.size >= WINDOWS_MAX / 2) {
      older = newer;
      newer = new Map();
      turnedAt = now;
    }
    const window = { count: 0, resetAt: now + WINDOW_MS };
    newer.set(key, window);
    return window;
  };

  return (bucket, client) => {
    const now = clock();
    const key = `${bucket} ${client}`;
    let window = newer.get(key) ?? older.get(key);
    if (!window || window.resetAt <= now) window = open(key, now);
    window.count += 1;
    return window.count > limits[bucket] ? { limit: limits[bucket], resetAt: window.resetAt, at: now } : null;
  };
}

type Window = { count: number; resetAt: number };
