// Rate limits: fixed windows of a minute for each client and bucket, which begin with the client's first request. This file
// counts in the memory of one process; server/shared-rate-limiter.ts counts for several.

import type { Clock } from '../core/clock.ts';
import { ServiceError } from '../core/errors.ts';

export type RateLimitBucket = 'list' | 'single';
/** Requests a minute that a bucket allows a client. */
export type RateLimits = Record<RateLimitBucket, number>;

/** The limits of the marketplace interface, for each client address. */
export const MARKETPLACE_LIMITS: RateLimits = { list: 120, single: 300 };

export const WINDOW_MS = 60_000;
/** Windows held at once. When there are more, the older half is forgotten: requests from many addresses take bounded memory. */
const WINDOWS_MAX = 200_000;

/** A request beyond the limit. `resetAt`, the end of the window, and `at`, the time of the request, are by one clock, in milliseconds. */
export type RateLimitExceeded = { limit: number; resetAt: number; at: number };

export type RateLimiter<B extends string = RateLimitBucket> = {
  /** Counts a request; null when it is within the limit. Returns a promise only when other processes count too. */
  count(bucket: B, client: string): RateLimitExceeded | null | Promise<RateLimitExceeded | null>;
};

/** The error of a request beyond the limit, and the headers that only such a response has. */
export function toRateLimitError(exceeded: RateLimitExceeded): {
  error: ServiceError;
  headers: Readonly<Record<string, string>>;
} {
  const retryAfterS = Math.max(1, Math.ceil((exceeded.resetAt - exceeded.at) / 1_000));
  return {
    error: new ServiceError('rate_limited', `Too many requests, try again in ${retryAfterS} s`),
    headers: {
      'x-ratelimit-limit': String(exceeded.limit),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': new Date(exceeded.resetAt).toISOString(),
      'retry-after': String(retryAfterS),
    },
  };
}

type Window = { count: number; resetAt: number };

export class LocalRateLimiter<B extends string> implements RateLimiter<B> {
  readonly #limits: Record<B, number>;
  readonly #clock: Clock;
  // Windows are kept in two generations. Deleting them one by one from a single map would cost as much as counting them. A
  // generation is discarded a window's length after the next one was begun: only a flood ends a window early.
  #older = new Map<string, Window>();
  #newer = new Map<string, Window>();
  #newerSince: number;

  constructor(limits: Record<B, number>, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#newerSince = clock();
  }

  count(bucket: B, client: string): RateLimitExceeded | null {
    const now = this.#clock();
    const key = `${bucket} ${client}`;
    let window = this.#newer.get(key) ?? this.#older.get(key);
    if (!window || window.resetAt <= now) window = this.#open(key, now);
    window.count += 1;
    const limit = this.#limits[bucket];
    return window.count > limit ? { limit, resetAt: window.resetAt, at: now } : null;
  }

  #open(key: string, now: number): Window {
    if (now - this.#newerSince >= WINDOW_MS || this.#newer.size >= WINDOWS_MAX / 2) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#newerSince = now;
    }
    const window = { count: 0, resetAt: now + WINDOW_MS };
    this.#newer.set(key, window);
    return window;
  }
}
