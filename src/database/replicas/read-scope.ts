// Marks work whose reads may use replicas, and says which commits a replica must already have. Reads outside such work use the primary.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Replica } from './replica.ts';

export type ReadScope = {
  /** A replica is used only if it has everything that was committed before this time, by `performance.now()`. */
  readonly notBefore: number;
  /** The reads of the work so far. All reads of the work share this object. */
  readonly past: PastReads;
};

export type PastReads = {
  /** For each set of replicas, the replica that the earlier reads have used. */
  readonly chosen: Map<object, Replica>;
  /**
   * The earlier reads saw everything that was committed before this time, by `performance.now()`. Infinite if all earlier reads used the
   * primary. While the primary is lost, reads may use replicas that are older than `notBefore`, so this time can be before `notBefore`.
   */
  coveredUntil: number;
};

const scopes = new AsyncLocalStorage<ReadScope>();

/** Runs work whose reads may use replicas that have everything that was committed before `notBefore`, a time by `performance.now()`. */
export function readFromReplicas<T>(notBefore: number, work: () => Promise<T>): Promise<T> {
  return scopes.run({ notBefore, past: { chosen: new Map(), coveredUntil: Number.POSITIVE_INFINITY } }, work);
}

/**
 * Runs work that computes a new value for a shared cache. The new value must not be older than the cached value. Therefore a replica that the
 * work uses must also have everything that was committed before `notBefore`. Outside of `readFromReplicas`, the work reads the primary.
 */
export function readNotBefore<T>(notBefore: number, work: () => Promise<T>): Promise<T> {
  const scope = scopes.getStore();
  if (!scope || scope.notBefore >= notBefore) return work();
  return scopes.run({ ...scope, notBefore }, work);
}

/** Returns `coveredUntil` of the current work (see PastReads). Infinite outside of `readFromReplicas`. */
export function readsCoveredUntil(): number {
  return scopes.getStore()?.past.coveredUntil ?? Number.POSITIVE_INFINITY;
}

/** Returns the scope of the current work. If it is undefined, only the primary may be read. */
export function currentReadScope(): ReadScope | undefined {
  return scopes.getStore();
}
