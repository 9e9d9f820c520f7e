// Rate limits that are counted in the memory of one process.

import type { Clock } from '../core/clock.ts';
import type { RateLimitExceeded, RateLimiter } from './rate-limit.ts';
import { WINDOW_MS } from './rate-limit.ts';

/**
 * The largest number of windows in memory, so that requests from many addresses use bounded memory. Beyond this number the older half
 * of the windows is dropped, and the clients of dropped windows begin new windows.
 */
const WINDOWS_MAX = 200_000;

type Window = { count: number; resetAt: number };

export class LocalRateLimiter<B extends string> implements RateLimiter<B> {
  readonly #limits: Record<B, number>;
  readonly #clock: Clock;
  // Windows are kept in two generations, because deleting them one by one would cost as much as counting them. The older generation
  // is discarded when the newer generation is as old as a window is long, because then all windows of the older generation have
  // ended. It is also discarded when the newer generation is full. Some windows then end early.
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
