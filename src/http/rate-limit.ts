// Fixed windows of a minute for each client and bucket, counted from the client's first request in it. In memory: one
// process counts for itself.

import type { Clock } from '../clock.ts';

export type Bucket = 'list' | 'single';
export type RateLimits = Record<Bucket, number>;

/** Requests a minute, per address, as the specification states them. */
export const MARKETPLACE_LIMITS: RateLimits = { list: 120, single: 300 };

const WINDOW_MS = 60_000;
/** Clients remembered at once. Past it the oldest windows are forgotten: a flood of addresses costs bounded memory. */
const WINDOWS_MAX = 200_000;

/** What a refused client is told. `resetAt` in milliseconds since the epoch. */
export type Refusal = { limit: number; resetAt: number };

/** Counts a request; the refusal when the client's bucket is exhausted, else null. */
export type RateLimiter = (bucket: Bucket, client: string) => Refusal | null;

export function createRateLimiter(limits: RateLimits, clock: Clock): RateLimiter {
  // In insertion order, which is the order of expiry, because all windows are equally long.
  const windows = new Map<string, { count: number; resetAt: number }>();
  return (bucket, client) => {
    const now = clock();
    const key = `${bucket} ${client}`;
    let window = windows.get(key);
    if (!window || window.resetAt <= now) {
      windows.delete(key);
      forgetOldest(windows, now);
      window = { count: 0, resetAt: now + WINDOW_MS };
      windows.set(key, window);
    }
    window.count += 1;
    return window.count > limits[bucket] ? { limit: limits[bucket], resetAt: window.resetAt } : null;
  };
}

function forgetOldest(windows: Map<string, { resetAt: number }>, now: number): void {
  for (const [key, window] of windows) {
    if (window.resetAt > now && windows.size < WINDOWS_MAX) return;
    windows.delete(key);
  }
}
