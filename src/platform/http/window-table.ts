// Keeps the rate-limit windows of clients in bounded memory.

import { WINDOW_MS } from './rate-limit.ts';

/**
 * The largest number of windows in memory, so that requests from many addresses use bounded memory. If more windows are needed, the older
 * half of the windows is dropped, and the clients of these windows begin new windows.
 */
const WINDOWS_MAX = 200_000;

/** `endsAt` is the end of a window by the monotonic clock that the callers of the table use. */
export class WindowTable<W extends { endsAt: number }> {
  // Windows are kept in two generations, because deleting single windows would cost as much as counting requests. The older generation is
  // discarded when the newer one has existed for WINDOW_MS: all windows of the older generation have then ended. The older generation is
  // also discarded when the newer one is full. Some windows of the older generation then end early.
  #older = new Map<string, W>();
  #newer = new Map<string, W>();
  #newerSince: number;

  constructor(now: number) {
    this.#newerSince = now;
  }

  /** The window of the key, unless it has ended. */
  find(key: string, now: number): W | undefined {
    const window = this.#newer.get(key) ?? this.#older.get(key);
    return window && window.endsAt > now ? window : undefined;
  }

  /** Adds a window, which replaces the earlier window of the key. */
  add(key: string, window: W, now: number): W {
    if (now - this.#newerSince >= WINDOW_MS || this.#newer.size >= WINDOWS_MAX / 2) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#newerSince = now;
    }
    this.#newer.set(key, window);
    return window;
  }
}
