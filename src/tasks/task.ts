// What a task is, what a run of it is given, and what a run results in. This file has no behaviour.

import type { UpstreamStatus } from './upstream-status.ts';

/** Idempotent work without input. A run that is interrupted leaves nothing that the next run does not repeat. */
export type Task = {
  /** Lower case with hyphens: `opensea-listings`. The part before the first hyphen is the task's source. */
  name: string;
  periodMs: number;
  /** Periods are lengthened by up to this share. Default 0.1. */
  jitter?: number;
  /** How long one run may take. Then its signal aborts. */
  deadlineMs: number;
  /** How long a lease lasts without a renewal, after which another process may run the task. Default: the driver's. */
  leaseMs?: number;
  /** Whether the task reads the followed collections, and should run when one is added. */
  readsFollows?: boolean;
  /** Rejects when the run failed. A run that did a part of its work resolves, with its `problems`. */
  run(signal: AbortSignal, report: Report, request: RunRequest): Promise<TaskResult>;
  /** The current state of the upstreams that the task reads. */
  upstreams?(): readonly UpstreamStatus[];
};

/** `isFull`: the operator asks for all the work, including what was done a moment ago. */
export type RunRequest = { isFull: boolean };

/** A failure that a retry would repeat, such as a name that does not exist. The task is retried after a long delay only. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
}

/** Reports the progress of a run. Cheap enough to be called for every page. */
export type Report = (progress: TaskProgress) => void;

/** `total` is null where it is not known. */
export type TaskProgress = { done: number; total: number | null; what: string };

/** The result of a run. It is stored and shown, so it must not contain an address or a key. */
export type TaskResult = {
  /** Records that were read. Of these: records that inserted or updated a row, and records that were rejected. */
  read: number;
  changed: number;
  refused: number;
  /** Rows that were retired because they no longer exist upstream. */
  retired?: number;
  /** Rejections by reason, each with an example. */
  refusals?: readonly RejectionCount[];
  /** What could not be done in this run, in words for the operator. */
  problems?: readonly string[];
  /** Work is left, because an upstream failed meanwhile or because the run took too long: the next run starts after the retry delay. */
  soon?: boolean;
};

export type RejectionCount = { reason: string; count: number; example: string };

/** The result of a run that had nothing to do. */
export const NOTHING: TaskResult = { read: 0, changed: 0, refused: 0 };
