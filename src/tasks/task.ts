// What a task is, and what every task is given: the vocabulary of this folder. It does nothing by itself.

import type { UpstreamStatus } from './upstream-status.ts';

/** Idempotent work without input: whatever a run was cut off in, the next one does again. */
export type Task = {
  /** Lower case, with hyphens: `opensea-listings`. The part before the first hyphen is its source. */
  name: string;
  periodMs: number;
  /** Periods are longer or shorter by up to this share of themselves. Default 0.1. */
  jitter?: number;
  /** How long one run may take: then its signal aborts. */
  deadlineMs: number;
  /** How long its process may say nothing before another one takes it over. Default: the driver's. */
  leaseMs?: number;
  /** Whether it goes through the collections that are followed: then it has something to do when one is added. */
  readsFollows?: boolean;
  /** A run that fails rejects; one that did a part says in its result what it could not do. */
  run(signal: AbortSignal, report: Report, wish: RunWish): Promise<TaskResult>;
  /** The upstreams that it asks, as they are now; without addresses and keys. */
  upstreams?(): readonly UpstreamStatus[];
};

/** `isWhole`: the operator wants everything done, also what was done just now. */
export type RunWish = { isWhole: boolean };

/** A run failed by what it was told, such as that a name does not exist. Whoever asks again soon is told the same. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
}

/** How far a run is. Cheap: may be called for every page. `total` is null where it is not known. */
export type Report = (progress: TaskProgress) => void;

export type TaskProgress = { done: number; total: number | null; what: string };

/** What a run came to. It is stored and shown: no address, no key. */
export type TaskResult = {
  /** Records that were read, and of these: rows that were new or different, and records that were refused. */
  read: number;
  changed: number;
  refused: number;
  /** Rows that were retired because they vanished upstream. */
  retired?: number;
  /** Refusals by reason, with one of each: see land.ts. */
  refusals?: readonly RejectionCount[];
  /** What could not be done this time, in words for the operator. */
  problems?: readonly string[];
  /**
   * There is a rest, because an upstream went away in the middle of it or because it took too long: it is tried as soon as after
   * a failure, not after the period.
   */
  soon?: boolean;
};

export type RejectionCount = { reason: string; count: number; example: string };

/** The result of a run that had nothing to do. */
export const NOTHING: TaskResult = { read: 0, changed: 0, refused: 0 };
