// Counts the requests that each limit has rejected since the process started, for the metrics.

import type { RateLimiter } from './rate-limit.ts';

export class RejectionCounts {
  readonly #counts = new Map<string, number>();

  /** Counts a rejection by the limit with this name. Names become labels of metrics, so there must be only a few different names. */
  add(limit: string): void {
    this.#counts.set(limit, (this.#counts.get(limit) ?? 0) + 1);
  }

  entries(): Iterable<[limit: string, count: number]> {
    return this.#counts.entries();
  }

  /** Returns a limiter that counts with `limiter`, and adds each rejection under the name of the bucket. */
  countBy<B extends string>(limiter: RateLimiter<B>): RateLimiter<B> {
    return {
      count: (bucket, client, limit) => {
        const counted = limiter.count(bucket, client, limit);
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
