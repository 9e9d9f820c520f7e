// A rate limiter whose windows are counted outside the process, together with other nodes. A request that cannot be counted
// there is counted in this process. A client's address leaves the process only as a keyed hash.

import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { RateLimitExceeded, RateLimiter } from '../../http/rate-limit.ts';
import { WINDOW_MS } from '../../http/rate-limit.ts';
import { LocalRateLimiter } from '../../http/local-rate-limiter.ts';
import type { RedisWindows } from './redis-windows.ts';

export type SharedCounting = {
  windows: Pick<RedisWindows, 'count'>;
  /** The key of the hashes, the same on every node. Without it, the name of a window does not reveal its client. */
  secret: Buffer;
};

/** Clients beyond their limit that are remembered: they are not counted again until their window ends. */
const EXCEEDED_MAX = 20_000;
const NAME_LENGTH = 22;

/** A limiter that counts with other nodes, or (null) in this process alone. */
export function createLimiter<B extends string>(
  limits: Record<B, number>,
  clock: Clock,
  shared: SharedCounting | null,
): RateLimiter<B> {
  return shared ? new SharedRateLimiter(limits, clock, shared) : new LocalRateLimiter(limits, clock);
}

/** `resetAt` is by the clock of the shared windows, `endsAt` the same moment by the clock of this process. */
type ExceededWindow = { resetAt: number; endsAt: number };

class SharedRateLimiter<B extends string> implements RateLimiter<B> {
  readonly #limits: Record<B, number>;
  readonly #clock: Clock;
  readonly #shared: SharedCounting;
  readonly #local: LocalRateLimiter<B>;
  // A client that floods one node costs the shared store no more than one window's limit.
  readonly #exceeded = new LRUCache<string, ExceededWindow>({ max: EXCEEDED_MAX });

  constructor(limits: Record<B, number>, clock: Clock, shared: SharedCounting) {
    this.#limits = limits;
    this.#clock = clock;
    this.#shared = shared;
    this.#local = new LocalRateLimiter(limits, clock);
  }

  count(bucket: B, client: string): ReturnType<RateLimiter<B>['count']> {
    const limit = this.#limits[bucket];
    const id = `${bucket} ${client}`;
    const sentAt = this.#clock();
    const exceeded = this.#findExceeded(id, limit, sentAt);
    if (exceeded) return exceeded;
    const name = `${bucket}:${toName(this.#shared.secret, client)}`;
    const counted = this.#shared.windows.count(name, WINDOW_MS);
    if (counted === null) return this.#local.count(bucket, client);
    return counted.then((window) => {
      if (window === null) return this.#local.count(bucket, client);
      if (window.count <= limit) return null;
      // The window was read after `sentAt`: by this clock it ends no earlier than this.
      this.#exceeded.set(id, { resetAt: window.resetAt, endsAt: sentAt + window.resetAt - window.now });
      return { limit, resetAt: window.resetAt, at: window.now };
    });
  }

  /** The window in which a client is known to be beyond its limit. */
  #findExceeded(id: string, limit: number, now: number): RateLimitExceeded | null {
    const window = this.#exceeded.get(id);
    if (window === undefined) return null;
    const leftMs = window.endsAt - now;
    // More than a window is left only when the clock of this process was set back.
    if (leftMs > 0 && leftMs <= WINDOW_MS) return { limit, resetAt: window.resetAt, at: window.resetAt - leftMs };
    this.#exceeded.delete(id);
    return null;
  }
}

function toName(secret: Buffer, client: string): string {
  return createHmac('sha256', secret).update(client).digest('base64url').slice(0, NAME_LENGTH);
}
