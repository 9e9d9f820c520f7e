// Ready answers of the marketplace interface, kept for a moment: a hot read costs a map lookup and a write. One request
// makes an answer, the others share it; what an import has changed is never served again.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import { ServiceError } from '../core/errors.ts';
import type { Changes } from '../core/changes.ts';
import type { CachedResponse } from './cached-response.ts';
import { DEGRADED_POLICY, underPolicy } from './cached-response.ts';

/** How long an answer is used without looking again. */
const FRESH_MS = 1_000;
/** How old an answer may be that is given to those who would otherwise wait for another request's look. */
const SHARED_STALE_MS = 5_000;
/** How old an answer may be when the primary database is out of reach. */
const LAST_GOOD_MS = 30 * 60_000;
const BYTES_MAX = 64 * 1024 * 1024;
/** Headers, key and bookkeeping of an entry. */
const ENTRY_OVERHEAD_BYTES = 1_024;

type Entry = { answer: CachedResponse; version: number; madeAt: number; freshUntil: number };
type Making = { version: number; promise: Promise<CachedResponse> };

export type ResponseCache = {
  /** A fresh answer, or undefined. For the fast path: no waiting, no making. */
  peek(key: string): CachedResponse | undefined;
  /** A fresh answer, or the one that `make` produces. */
  get(key: string, make: () => Promise<CachedResponse>): Promise<CachedResponse>;
};

export function createResponseCache(changes: Changes, clock: Clock): ResponseCache {
  const entries = new LRUCache<string, Entry>({
    maxSize: BYTES_MAX,
    sizeCalculation: (entry, key) => entry.answer.size + key.length + ENTRY_OVERHEAD_BYTES,
  });
  const making = new Map<string, Making>();

  const isCurrent = (entry: Entry) => changes.versionOf(entry.answer.subject) <= entry.version;

  const start = (key: string, produce: () => Promise<CachedResponse>): Promise<CachedResponse> => {
    const version = changes.latest();
    const madeAt = clock();
    const promise = produce().then((answer) => {
      const freshUntil = Math.min(madeAt + FRESH_MS, answer.trueUntil ?? Number.POSITIVE_INFINITY);
      entries.set(key, { answer, version, madeAt, freshUntil });
      return answer;
    });
    const entry: Making = { version, promise };
    making.set(key, entry);
    const done = () => {
      if (making.get(key) === entry) making.delete(key);
    };
    promise.then(done, done);
    return promise;
  };

  return {
    peek: (key) => {
      const entry = entries.get(key);
      return entry && entry.freshUntil > clock() && isCurrent(entry) ? entry.answer : undefined;
    },
    get: async (key, produce) => {
      const now = clock();
      const entry = entries.get(key);
      const current = entry && isCurrent(entry) ? entry : undefined;
      if (current && current.freshUntil > now) return current.answer;
      const running = making.get(key);
      if (running && current && isUsable(current, now, SHARED_STALE_MS)) return current.answer;
      try {
        return await (running?.version === changes.latest() ? running.promise : start(key, produce));
      } catch (error) {
        const outOfReach = error instanceof ServiceError && error.code === 'unavailable';
        if (outOfReach && entry && isUsable(entry, clock(), LAST_GOOD_MS))
          return underPolicy(entry.answer, DEGRADED_POLICY);
        throw error;
      }
    },
  };
}

/** Not fresh, but neither too old nor known to be untrue. */
function isUsable({ madeAt, answer }: Entry, now: number, ageMaxMs: number): boolean {
  return now - madeAt < ageMaxMs && (answer.trueUntil ?? Number.POSITIVE_INFINITY) > now;
}
