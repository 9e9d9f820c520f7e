// The types of a task, its arguments and its results.

import type { UpstreamStatus } from './upstream-status.ts';

/** Idempotent work without input. The next run repeats or completes what an interrupted run left unfinished. */
export type Task = {
  /** Lower case with hyphens, such as `opensea-listings`. */
  name: string;
  periodMs: number;
  /** Each period is made longer at random, by at most this share of the period. Default 0.1. */
  jitter?: number;
  /** How long one run may take before its signal aborts. */
  deadlineMs: number;
  /** How long the lease lasts without a renewal. After that, another process may run the task. Default: `TASK_LEASE_MS`. */
  leaseMs?: number;
  /** Whether the task reads the followed collections, and should run when a collection is added. */
  readsFollows?: boolean;
  /** Rejects when the run failed. A run that did only part of its work resolves with `problems`. */
  run(signal: AbortSignal, report: Report, request: RunRequest): Promise<TaskResult>;
  upstreams?(): readonly UpstreamStatus[];
};

/** `isFull`: do all the work, including work that was done recently. A run that the operator starts is full. */
export type RunRequest = { isFull: boolean };

/** A failure that an early retry would only repeat, such as a name that does not exist. The task runs again after a long delay. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
}

/** Reports the progress of a run. Does no I/O, so a task may call this function for every page. */
export type Report = (progress: TaskProgress) => void;

/** `done` of `total` units of `what`. `total` is null when it is not known. */
export type TaskProgress = { done: number; total: number | null; what: string };

/** Stored and shown to the operator, so it must not contain the URL of an upstream or a key. */
export type TaskResult = {
  /** Numbers of records. `changed`: records that inserted or updated a row. `refused`: rejected records. */
  read: number;
  changed: number;
  refused: number;
  /** Rows that were marked as retired, because the upstream no longer has them. */
  retired?: number;
  /** Rejections by reason, each with an example. */
  refusals?: readonly RejectionCount[];
  /** What could not be done in this run, in words for the operator. */
  problems?: readonly string[];
  /** True when work is left, because an upstream failed or the run took too long. The next run then starts after the retry delay. */
  soon?: boolean;
};

export type RejectionCount = { reason: string; count: number; example: string };

export const NOTHING: TaskResult = { read: 0, changed: 0, refused: 0 };
