// Rate limits that several nodes count together, in windows kept elsewhere. A window that cannot be counted there is counted in
// this process; a client's address never leaves it in clear.

import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import type { RateLimiter, RateLimitExceeded } from '../http/rate-limit.ts';
import { WINDOW_MS, createRateLimiter } from '../http/rate-limit.ts';

/** A window after one more was counted; times by the clock of where it is kept. */
type SharedWindow = { count: number; resetAt: number; now: number };

export type SharedCounting = {
  /** Null, at once or later: it cannot be counted there. Never rejects. */
  count: (name: string, windowMs: number) => Promise<SharedWindow | null> | null;
  /** The same on every node, and known to nobody else: with it, names tell nothing of whom they are about. */
  secret: Buffer;
};

/** Refused clients remembered: until their window ends, asking again would change nothing. */
const REFUSED_MAX = 20_000;
const NAME_LENGTH = 22;

/** Limits for each client of each bucket: counted together where there is something to count in, else in this process. */
export function createLimiter<B extends string>(
  limits: Record<B, number>,
  clock: Clock,
  shared: SharedCounting | null,
): RateLimiter<B> {
  return shared ? createSharedLimiter(limits, clock, shared) : createRateLimiter(limits, clock);
}

function createSharedLimiter<B extends string>(
  limits: Record<B, number>,
  clock: Clock,
  { count, secret }: SharedCounting,
): RateLimiter<B> {
  const countAlone = createRateLimiter(limits, clock);
  // One client's flood costs Redis no more than its window does.
  const refused = new LRUCache<string, { resetAt: number; endsAt: number }>({ max: REFUSED_MAX });

  const recall = (id: string, limit: number, now: number): RateLimitExceeded | null => {
    const known = refused.get(id);
    if (known === undefined) return null;
    const leftMs = known.endsAt - now;
    // More than a window is left after the clock was set back.
    if (leftMs > 0 && leftMs <= WINDOW_MS) return { limit, resetAt: known.resetAt, at: known.resetAt - leftMs };
    refused.delete(id);
    return null;
  };

  return (bucket, client) => {
    const limit = limits[bucket];
    const id = `${bucket} ${client}`;
    const askedAt = clock();
    const known = recall(id, limit, askedAt);
    if (known) return known;
    const asked = count(`${bucket}:${toName(secret, client)}`, WINDOW_MS);
    if (asked === null) return countAlone(bucket, client);
    return asked.then((window) => {
      if (window === null) return countAlone(bucket, client);
      if (window.count <= limit) return null;
      // By this clock it ends no later than that, since the question was asked before it was answered.
      refused.set(id, { resetAt: window.resetAt, endsAt: askedAt + window.resetAt - window.now });
      return { limit, resetAt: window.resetAt, at: window.now };
    });
  };
}

function toName(secret: Buffer, client: string): string {
  return createHmac('sha256', secret).update(client).digest('base64url').slice(0, NAME_LENGTH);
}
