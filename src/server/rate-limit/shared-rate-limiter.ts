// A rate limiter that counts requests in Redis, which several nodes share. If Redis cannot count a request, this process counts the request. A
// client's address leaves the process only as a keyed hash.

import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Counted, RateLimitClocks, RateLimitExceeded, RateLimiter } from '../../platform/http/rate-limit.ts';
import { WINDOW_MS } from '../../platform/http/rate-limit.ts';
import type { RedisWindows } from './redis-windows.ts';

export type SharedCounting = {
  windows: Pick<RedisWindows, 'count'>;
  /**
   * The key with which client addresses are hashed. All nodes use the same key. Nobody without the key can tell from the name of a window in
   * Redis which client the window belongs to.
   */
  secret: Buffer;
};

/**
 * The most clients that are remembered because they have exceeded their limit. Until the window of a remembered client ends, its requests are
 * rejected and not counted.
 */
const EXCEEDED_MAX = 20_000;
const NAME_LENGTH = 22;

/**
 * Creates a limiter that counts together with other nodes. If `shared` is null, returns `alone`, which counts the requests of this node
 * only.
 */
export function createLimiter<B extends string>(
  limits: Record<B, number>,
  clocks: RateLimitClocks,
  { shared, alone }: { shared: SharedCounting | null; alone: RateLimiter<B> },
): RateLimiter<B> {
  return shared ? new SharedRateLimiter(limits, clocks, { shared, alone }) : alone;
}

/** The end of a window: `resetAt` by the clock of Redis, `endsAt` by the monotonic clock of this process. */
type ExceededWindow = { resetAt: number; endsAt: number };

class SharedRateLimiter<B extends string> implements RateLimiter<B> {
  readonly #limits: Record<B, number>;
  readonly #clocks: RateLimitClocks;
  readonly #shared: SharedCounting;
  readonly #alone: RateLimiter<B>;
  // Remembers the clients that have exceeded their limit, so that their requests cause no further commands to Redis.
  readonly #exceeded = new LRUCache<string, ExceededWindow>({ max: EXCEEDED_MAX });

  constructor(
    limits: Record<B, number>,
    clocks: RateLimitClocks,
    { shared, alone }: { shared: SharedCounting; alone: RateLimiter<B> },
  ) {
    this.#limits = limits;
    this.#clocks = clocks;
    this.#shared = shared;
    this.#alone = alone;
  }

  count(bucket: B, client: string, limit = this.#limits[bucket]): Counted {
    const id = `${bucket} ${client}`;
    const sentAt = this.#clocks.monotonic();
    const exceeded = this.#findExceeded(id, limit, sentAt);
    if (exceeded) return exceeded;
    const name = `${bucket}:${toName(this.#shared.secret, client)}`;
    const counted = this.#shared.windows.count(name, WINDOW_MS);
    if (counted === null) return this.#alone.count(bucket, client, limit);
    return counted.then((window) => {
      if (window === null) return this.#alone.count(bucket, client, limit);
      if (window.count <= limit) return null;
      // Redis read `window.now` after `sentAt`. So the window ends at `endsAt` or later, and no client is rejected for too long.
      this.#exceeded.set(id, { resetAt: window.resetAt, endsAt: sentAt + window.resetAt - window.now });
      return { limit, resetAt: window.resetAt, leftMs: window.resetAt - window.now };
    });
  }

  /** The rejection of a remembered client. Null if the request has to be counted. */
  #findExceeded(id: string, limit: number, now: number): RateLimitExceeded | null {
    const window = this.#exceeded.get(id);
    if (window === undefined) return null;
    const leftMs = window.endsAt - now;
    if (leftMs > 0) return { limit, resetAt: window.resetAt, leftMs };
    this.#exceeded.delete(id);
    return null;
  }
}

function toName(secret: Buffer, client: string): string {
  return createHmac('sha256', secret).update(client).digest('base64url').slice(0, NAME_LENGTH);
}
