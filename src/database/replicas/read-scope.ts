// Marks work whose reads may use replicas, and states what these replicas must have replayed. Reads outside such work use the primary.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Replica } from './replica.ts';

export type ReadScope = {
  /** A replica must have everything that was committed before this time, by `performance.now()`. */
  readonly notBefore: number;
  /** Shared by all reads of the same work. */
  readonly past: PastReads;
};

export type PastReads = {
  /** The replica that earlier reads have used, of each set of replicas. */
  readonly chosen: Map<object, Replica>;
  /**
   * Earlier reads have everything that was committed before this time, by `performance.now()`. It can be before `notBefore` if the primary
   * was lost. Infinite if all of them have used the primary.
   */
  coveredUntil: number;
};

const scopes = new AsyncLocalStorage<ReadScope>();

/** Runs work whose reads may use replicas that have everything that was committed before `notBefore`, a time by `performance.now()`. */
export function readFromReplicas<T>(notBefore: number, work: () => Promise<T>): Promise<T> {
  return scopes.run({ notBefore, past: { chosen: new Map(), coveredUntil: Number.POSITIVE_INFINITY } }, work);
}

/**
 * For work that replaces a value that others share: its replicas must also have everything that was committed before `notBefore`. Outside
 * of `readFromReplicas` the work reads the primary as before.
 */
export function readNotBefore<T>(notBefore: number, work: () => Promise<T>): Promise<T> {
  const scope = scopes.getStore();
  if (!scope || scope.notBefore >= notBefore) return work();
  return scopes.run({ ...scope, notBefore }, work);
}

/** The reads of the current work so far have everything that was committed before this time (see PastReads). Infinite without such work. */
export function readsCoveredUntil(): number {
  return scopes.getStore()?.past.coveredUntil ?? Number.POSITIVE_INFINITY;
}

/** Undefined: only the primary may be read. */
export function currentReadScope(): ReadScope | undefined {
  return scopes.getStore();
}
