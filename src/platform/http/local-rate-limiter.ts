// Rate limits that are counted in the memory of one process.

import type { RateLimitClocks, RateLimitExceeded, RateLimiter } from './rate-limit.ts';
import { WINDOW_MS } from './rate-limit.ts';
import { WindowTable } from './window-table.ts';

/** `endsAt` is the end of the window by the monotonic clock. `resetAt` is the published end, by the wall clock. */
type Window = { count: number; endsAt: number; resetAt: number };

/**
 * The end of a window is calculated again for each rejected request. If the published end differs from the calculated end by more than this
 * time, the wall clock was set, and the calculated end is published.
 */
const ROUNDING_MS = 1_000;

export class LocalRateLimiter<B extends string> implements RateLimiter<B> {
  readonly #limits: Record<B, number>;
  readonly #clocks: RateLimitClocks;
  readonly #windows: WindowTable<Window>;

  constructor(limits: Record<B, number>, clocks: RateLimitClocks) {
    this.#limits = limits;
    this.#clocks = clocks;
    this.#windows = new WindowTable(clocks.monotonic());
  }

  count(bucket: B, client: string, limit = this.#limits[bucket]): RateLimitExceeded | null {
    const now = this.#clocks.monotonic();
    const key = `${bucket} ${client}`;
    const window = this.#windows.find(key, now) ?? this.#open(key, now);
    window.count += 1;
    return window.count > limit ? this.#reject(limit, window, window.endsAt - now) : null;
  }

  /** The published end of a window is the same in every response, unless the wall clock was set since the window began. */
  #reject(limit: number, window: Window, leftMs: number): RateLimitExceeded {
    const endsAt = this.#clocks.clock() + leftMs;
    if (Math.abs(endsAt - window.resetAt) > ROUNDING_MS) window.resetAt = Math.round(endsAt);
    return { limit, resetAt: window.resetAt, leftMs };
  }

  #open(key: string, now: number): Window {
    const window = { count: 0, endsAt: now + WINDOW_MS, resetAt: this.#clocks.clock() + WINDOW_MS };
    return this.#windows.add(key, window, now);
  }
}
