// How many requests each limit has rejected since the process started, for the metrics.

import type { RateLimiter } from './rate-limit.ts';

export class RejectionCounts {
  readonly #counts = new Map<string, number>();

  /** Counts a rejection by the limit with this name. The name becomes a label, so there must be few names. */
  add(limit: string): void {
    this.#counts.set(limit, (this.#counts.get(limit) ?? 0) + 1);
  }

  entries(): Iterable<[limit: string, count: number]> {
    return this.#counts.entries();
  }

  /** Returns a limiter that counts requests with `limiter`. Each of its rejections is added under the name of the bucket. */
  countBy<B extends string>(limiter: RateLimiter<B>): RateLimiter<B> {
    return {
      count: (bucket, client) => {
        const counted = limiter.count(bucket, client);
        if (!(counted instanceof Promise)) {
          if (counted) this.add(bucket);
          return counted;
        }
        return counted.then((exceeded) => {
          if (exceeded) this.add(bucket);
          return exceeded;
        });
      },
    };
  }
}
