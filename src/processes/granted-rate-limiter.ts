// The rate limiter of a serving process. The supervisor gives the process a part of the requests of a rate limit window. The rate limiter counts
// requests against this part, and asks the supervisor for another part when nothing is left.

import type { RateLimitClocks, RateLimitExceeded, RateLimiter } from '../http/rate-limit.ts';
import { WindowTable } from '../http/window-table.ts';
import type { WindowPart, WindowRequest } from './granted-windows.ts';

/**
 * The part of a window that this process has. `left`: how many more requests this process can admit. `isUsedUp`: the supervisor has
 * nothing more to give. `endsAt` is not later than the end of the window in the supervisor.
 */
type OwnPart = { window: number; left: number; isUsedUp: boolean; endsAt: number; resetAt: number };

export class GrantedRateLimiter<B extends string> implements RateLimiter<B> {
  readonly #limits: Record<B, number>;
  readonly #clocks: RateLimitClocks;
  readonly #take: (request: WindowRequest) => Promise<WindowPart>;
  readonly #parts: WindowTable<OwnPart>;
  /** The unanswered requests to the supervisor for a part, by key. Concurrent requests of a client wait for the same answer. */
  readonly #taking = new Map<string, Promise<void>>();

  constructor(
    limits: Record<B, number>,
    clocks: RateLimitClocks,
    take: (request: WindowRequest) => Promise<WindowPart>,
  ) {
    this.#limits = limits;
    this.#clocks = clocks;
    this.#take = take;
    this.#parts = new WindowTable(clocks.monotonic());
  }

  count(bucket: B, client: string): RateLimitExceeded | null | Promise<RateLimitExceeded | null> {
    const key = `${bucket} ${client}`;
    const limit = this.#limits[bucket];
    const counted = this.#countPart(key, limit);
    return counted === undefined ? this.#countNextPart(key, limit) : counted;
  }

  /** Gives the unused requests of the window back to the supervisor. Returns the number of these requests. */
  giveBack(key: string, window: number): number {
    const part = this.#parts.find(key, this.#clocks.monotonic());
    if (part?.window !== window) return 0;
    const { left } = part;
    part.left = 0;
    return left;
  }

  /** Counts a request. Returns undefined if this process has nothing left, but the supervisor may have another part for it. */
  #countPart(key: string, limit: number): RateLimitExceeded | null | undefined {
    const now = this.#clocks.monotonic();
    const part = this.#parts.find(key, now);
    if (!part) return undefined;
    if (part.left > 0) {
      part.left -= 1;
      return null;
    }
    return part.isUsedUp ? { limit, resetAt: part.resetAt, leftMs: part.endsAt - now } : undefined;
  }

  async #countNextPart(key: string, limit: number): Promise<RateLimitExceeded | null> {
    for (;;) {
      let taking = this.#taking.get(key);
      if (!taking) {
        taking = this.#takePart(key, limit).finally(() => this.#taking.delete(key));
        this.#taking.set(key, taking);
      }
      try {
        await taking;
      } catch {
        // The supervisor has ended, and this process ends with it.
        return null;
      }
      const counted = this.#countPart(key, limit);
      if (counted !== undefined) return counted;
    }
  }

  async #takePart(key: string, limit: number): Promise<void> {
    const sentAt = this.#clocks.monotonic();
    const { window, requests, resetAt, leftMs } = await this.#take({ key, limit, at: this.#clocks.clock() });
    const now = this.#clocks.monotonic();
    const own = this.#parts.find(key, now);
    if (own?.window === window) {
      own.left += requests;
      own.isUsedUp = requests === 0;
      return;
    }
    this.#parts.add(key, { window, left: requests, isUsedUp: requests === 0, endsAt: sentAt + leftMs, resetAt }, now);
  }
}
