// Rate limits. Routes are grouped into buckets. A client may make a fixed number of requests to each bucket in a window of one minute. The
// window begins with the client's first request to the bucket. `LocalRateLimiter` counts in this process. With
// Redis, `SharedRateLimiter` (server/rate-limit/) counts in Redis.

import type { Clock } from '../core/clock.ts';
import { ServiceError } from '../core/errors.ts';

/** `message`: messages to `/mcp`. Each read that a message causes is also counted in the bucket `list` or `single`. */
export type RateLimitBucket = 'list' | 'single' | 'message';
/**
 * How the requests to a route are counted. `key`: the route counts them itself, by API key, and requests without a usable key by client
 * address. `batch`: the same for batches, which are counted apart from the other requests of a key. All other requests are counted by client
 * address, before the router runs.
 */
export type RouteBucket = RateLimitBucket | 'key' | 'batch';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every route of the public server has a bucket. */
    bucket?: RouteBucket;
  }
}

/** How many requests each client may make to each bucket in a minute. */
export type RateLimits = Record<RateLimitBucket, number>;

/** The limits of the public interfaces, for each client address. */
export const MARKETPLACE_LIMITS: RateLimits = { list: 120, single: 300, message: 600 };

/** The limits of the public interfaces for each API key with the scope `market:read`, unless the key has limits of its own. */
export const READ_KEY_LIMITS = { list: 6_000, single: 15_000 };

export const WINDOW_MS = 60_000;

/**
 * The clocks of a rate limiter. Windows are measured by `monotonic`, which is never set back. `clock` is used only for
 * the end of a window that the response headers state.
 */
export type RateLimitClocks = { clock: Clock; monotonic: Clock };

/** A request beyond the limit. `resetAt` is the end of its window. `leftMs` is the time until then. `note`: what the client should know besides. */
export type RateLimitExceeded = { limit: number; resetAt: number; leftMs: number; note?: string };

/** Null if the request is within the limit. */
export type Counted = RateLimitExceeded | null | Promise<RateLimitExceeded | null>;

export type RateLimiter<B extends string = RateLimitBucket> = {
  /**
   * Counts a request. Returns null if the request is within the limit. Returns a promise if the request is counted outside this process.
   * `limit` replaces the limit of the bucket for this client.
   */
  count(bucket: B, client: string, limit?: number): Counted;
};

/** The error for a request beyond the limit, and the rate limit headers of its response. */
export function toRateLimitError(exceeded: RateLimitExceeded): {
  error: ServiceError;
  headers: Readonly<Record<string, string>>;
} {
  const retryAfterS = Math.max(1, Math.ceil(exceeded.leftMs / 1_000));
  return {
    error: new ServiceError(
      'rate_limited',
      [`Too many requests, try again in ${retryAfterS} s`, exceeded.note].filter(Boolean).join('. '),
    ),
    headers: {
      'x-ratelimit-limit': String(exceeded.limit),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': new Date(exceeded.resetAt).toISOString(),
      'retry-after': String(retryAfterS),
    },
  };
}
