// Rate limits: routes are grouped into buckets, and a client may make a fixed number of requests to each bucket in a window of one
// minute. The window begins with the client's first request to the bucket. `LocalRateLimiter` counts in this process,
// `SharedRateLimiter` (server/rate-limit) in Redis.

import { ServiceError } from '../core/errors.ts';

export type RateLimitBucket = 'list' | 'single';
/** How many requests a minute each client may make to each bucket. */
export type RateLimits = Record<RateLimitBucket, number>;

/** The limits of the marketplace interface, for each client address. */
export const MARKETPLACE_LIMITS: RateLimits = { list: 120, single: 300 };

export const WINDOW_MS = 60_000;

/** A request beyond the limit. `resetAt` is the end of the window and `at` the time of the request, in milliseconds of the same clock. */
export type RateLimitExceeded = { limit: number; resetAt: number; at: number };

export type RateLimiter<B extends string = RateLimitBucket> = {
  /**
   * Counts a request. Returns null when the request is within the limit. When the request is counted outside this process, returns a
   * promise of that result.
   */
  count(bucket: B, client: string): RateLimitExceeded | null | Promise<RateLimitExceeded | null>;
};

/** The error for a request beyond the limit, and the rate limit headers of its response. */
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
