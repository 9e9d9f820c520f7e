// Rate limits that are counted in the memory of one process.

import type { RateLimitClocks, RateLimitExceeded, RateLimiter } from './rate-limit.ts';
import { WINDOW_MS } from './rate-limit.ts';

/**
 * The largest number of windows in memory, so that requests from many addresses use bounded memory. Beyond it, the older half of the
 * windows is dropped, and their clients begin new windows.
 */
const WINDOWS_MAX = 200_000;

/** `endsAt` is the end of the window by the monotonic clock. `resetAt` is the published end, by the wall clock. */
type Window = { count: number; endsAt: number; resetAt: number };

/** Unless the clock was set, a published end of a window differs from the calculated end by less than this. */
const ROUNDING_MS = 1_000;

export class LocalRateLimiter<B extends string> implements RateLimiter<B> {
  readonly #limits: Record<B, number>;
  readonly #clocks: RateLimitClocks;
  // Windows are kept in two generations, because deleting single windows would cost as much as counting them. The older generation is
  // discarded when the newer one has existed for WINDOW_MS: all windows of the older generation have then ended. The older generation is
  // also discarded when the newer one is full. Some of its windows then end early.
  #older = new Map<string, Window>();
  #newer = new Map<string, Window>();
  #newerSince: number;

  constructor(limits: Record<B, number>, clocks: RateLimitClocks) {
    this.#limits = limits;
    this.#clocks = clocks;
    this.#newerSince = clocks.monotonic();
  }

  count(bucket: B, client: string): RateLimitExceeded | null {
    const now = this.#clocks.monotonic();
    const key = `${bucket} ${client}`;
    let window = this.#newer.get(key) ?? this.#older.get(key);
    if (!window || window.endsAt <= now) window = this.#open(key, now);
    window.count += 1;
    const limit = this.#limits[bucket];
    return window.count > limit ? this.#reject(limit, window, window.endsAt - now) : null;
  }

  /** The published end of a window is the same in every response, unless the clock was set since the window began. */
  #reject(limit: number, window: Window, leftMs: number): RateLimitExceeded {
    const endsAt = this.#clocks.clock() + leftMs;
    if (Math.abs(endsAt - window.resetAt) > ROUNDING_MS) window.resetAt = Math.round(endsAt);
    return { limit, resetAt: window.resetAt, leftMs };
  }

  #open(key: string, now: number): Window {
    if (now - this.#newerSince >= WINDOW_MS || this.#newer.size >= WINDOWS_MAX / 2) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#newerSince = now;
    }
    const window = { count: 0, endsAt: now + WINDOW_MS, resetAt: this.#clocks.clock() + WINDOW_MS };
    this.#newer.set(key, window);
    return window;
  }
}
