// Caches the responses of the marketplace interface, which are fresh for a second. Concurrent requests for one key share one computation. A
// response is out of date if a collection of its cache tag has changed since the computation of the response began. Such a response is
// served only while the primary database cannot be reached.

import { LRUCache } from 'lru-cache';
import type { CollectionVersions } from '../core/collection-versions.ts';
import type { Clock } from '../core/clock.ts';
import { ServiceError } from '../core/errors.ts';
import type { CachedResponse } from './cached-response.ts';
import { toStaleResponse } from './cached-response.ts';

/** A response is served for this long without being computed again. */
const FRESH_MS = 1_000;
/** The greatest age of a response that is served while another request computes a new response. */
const STALE_WHILE_COMPUTING_MS = 5_000;
/** The greatest age of a response that is served while the primary database cannot be reached. */
const STALE_IF_UNAVAILABLE_MS = 30 * 60_000;
const BYTES_MAX = 64 * 1024 * 1024;
/** The share of a machine's memory that its caches may take. With less than 1 GiB of memory, this is less than BYTES_MAX. */
const MEMORY_SHARE = 1 / 16;
/** The body and its encodings occupy at most this many times the size of the body. */
const BODIES = 2;
/** An estimate of the memory of an entry beside its body and key. */
const ENTRY_OVERHEAD_BYTES = 1_024;
/** The largest share of the cache for one response. A larger response is not stored, so that a few responses cannot displace all others. */
const ENTRY_SHARE = 1 / 16;

/**
 * `createdAt` is the time at which the computation of the response began. `version` is the number of the latest change before that time.
 * `beganAt` is the same time by `performance.now()`.
 */
type Entry = {
  response: CachedResponse;
  version: number;
  createdAt: number;
  freshUntil: number;
  beganAt: number;
};
type Computation = { version: number; promise: Promise<CachedResponse> };

/** The size in bytes of the cache of one process, if `processes` processes share a machine or container with this much memory. */
export function cacheBytesFor(memoryBytes: number, processes: number): number {
  return Math.floor(Math.min(BYTES_MAX, (memoryBytes * MEMORY_SHARE) / processes));
}

export class ResponseCache {
  /**
   * How requests were answered: by a fresh response, by a stale response, by the computation of another request, or by their own
   * computation.
   */
  readonly counts = { hit: 0, stale: 0, shared: 0, computed: 0 };
  readonly #changes: CollectionVersions;
  readonly #clock: Clock;
  readonly #entries: LRUCache<string, Entry>;
  readonly #computations = new Map<string, Computation>();

  /** `bytesMax`: the largest size of all responses together. Default: BYTES_MAX. */
  constructor(changes: CollectionVersions, clock: Clock, { bytesMax = BYTES_MAX }: { bytesMax?: number } = {}) {
    this.#changes = changes;
    this.#clock = clock;
    this.#entries = new LRUCache<string, Entry>({
      maxSize: bytesMax,
      maxEntrySize: Math.floor(bytesMax * ENTRY_SHARE),
      sizeCalculation: (entry, key) => entry.response.size * BODIES + key.length + ENTRY_OVERHEAD_BYTES,
    });
  }

  /** The fresh response of a key. Undefined if there is none. */
  peek(key: string): CachedResponse | undefined {
    const entry = this.#entries.get(key);
    if (!entry || !isFresh(entry, this.#clock()) || !this.#isCurrent(entry)) return undefined;
    this.counts.hit += 1;
    return entry.response;
  }

  /**
   * Returns the fresh response of a key, or else the result of `compute`. While another request computes, returns a stored response that is
   * less than five seconds old and not out of date. If the computation rejects with `unavailable`, returns a stored response that is less
   * than half an hour old, even if it is out of date. Passes other rejections on. A response that is no longer fresh carries its age. No
   * stored response is returned after its `validUntil`.
   */
  async get(key: string, compute: () => Promise<CachedResponse>): Promise<CachedResponse> {
    const now = this.#clock();
    const entry = this.#entries.get(key);
    const current = entry && this.#isCurrent(entry) ? entry : undefined;
    if (current && isFresh(current, now)) {
      this.counts.hit += 1;
      return current.response;
    }
    const running = this.#computations.get(key);
    if (running && current && isUsable(current, now, STALE_WHILE_COMPUTING_MS)) {
      this.counts.stale += 1;
      return toStale(current, now);
    }
    try {
      const isShared = running?.version === this.#changes.latest();
      this.counts[isShared ? 'shared' : 'computed'] += 1;
      return await (isShared ? running.promise : this.#compute(key, compute));
    } catch (error) {
      const isUnavailable = error instanceof ServiceError && error.code === 'unavailable';
      const failedAt = this.#clock();
      if (isUnavailable && entry && isUsable(entry, failedAt, STALE_IF_UNAVAILABLE_MS)) return toStale(entry, failedAt);
      throw error;
    }
  }

  #compute(key: string, compute: () => Promise<CachedResponse>): Promise<CachedResponse> {
    const version = this.#changes.latest();
    const createdAt = this.#clock();
    const beganAt = performance.now();
    const promise = compute().then((response) => {
      const freshUntil = Math.min(createdAt + FRESH_MS, response.validUntil ?? Number.POSITIVE_INFINITY);
      const stored = this.#entries.peek(key);
      // A slow computation must not replace the response of a computation that began after it.
      if (!stored || stored.beganAt <= beganAt)
        this.#entries.set(key, { response, version, createdAt, freshUntil, beganAt });
      return response;
    });
    const computation: Computation = { version, promise };
    this.#computations.set(key, computation);
    const finish = () => {
      if (this.#computations.get(key) === computation) this.#computations.delete(key);
    };
    promise.then(finish, finish);
    return promise;
  }

  /** Whether no collection of the response's cache tag has changed since its computation began. */
  #isCurrent(entry: Entry): boolean {
    return this.#changes.versionOf(entry.response.cacheTag) <= entry.version;
  }
}

function toStale({ response, createdAt }: Entry, now: number): CachedResponse {
  return toStaleResponse(response, Math.max(0, now - createdAt));
}

/** If `createdAt` is later than now, the clock was set back. The response then does not count as fresh. */
function isFresh({ createdAt, freshUntil }: Entry, now: number): boolean {
  return createdAt <= now && freshUntil > now;
}

function isUsable({ createdAt, response }: Entry, now: number, ageMaxMs: number): boolean {
  return now - createdAt < ageMaxMs && (response.validUntil ?? Number.POSITIVE_INFINITY) > now;
}
