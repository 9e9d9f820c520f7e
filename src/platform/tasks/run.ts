// Runs a task once: claims its lease, aborts the run at its deadline, and records the result. The lease prevents two processes from running
// the same task at the same time.

import { randomUUID } from 'node:crypto';
import type { Database } from '../database/port.ts';
import type { TaskChange, TaskOutcome } from './queries/tasks.ts';
import { claimTask, updateTaskEnded } from './queries/tasks.ts';
import { describeError } from '../core/errors.ts';
import { traced } from '../core/traced.ts';
import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import { spreadMs } from '../resilience/backoff.ts';
import { DeadlineSignal } from '../resilience/deadline.ts';
import { LeaseKeeper } from './lease.ts';
import type { Task, TaskProgress, TaskResult } from './task.ts';
import { PermanentFailure } from './task.ts';

export type RunOptions = {
  main: Database;
  log: Log;
  /** Aborts the run. The task is then due immediately, so that another process can run it. */
  stop: AbortSignal;
  /** Run the task even if it is not due. It does not run while another run holds its lease. */
  force?: boolean;
  /** Passed to the task as `RunRequest.isFull`. Default: the value of `force`. */
  isFull?: boolean;
  random: Random;
  leaseMs?: number;
  onProgress?: (progress: TaskProgress) => void;
};

/**
 * How a run ended. `busy`: the task did not run, because it is not due or another run holds its lease. `stopped`: `stop` aborted the run.
 * `lost`: the lease was lost or could not be renewed in time, so another process may run the task.
 */
export type RunEnd =
  | { kind: 'done'; result: TaskResult }
  | { kind: 'failed'; error: string; isPermanent: boolean }
  | { kind: 'stopped' | 'busy' | 'lost' };

/** How long a lease lasts without a renewal. After a process has died, no other process runs its task for up to this long. */
const TASK_LEASE_MS = 30_000;
export const TASK_STATEMENT_TIMEOUT_MS = 10_000;
const JITTER = 0.1;
/**
 * The delay before a task runs again after a failure, or after a result with `soon`. If the task's period is shorter, the delay is the
 * period.
 */
const RETRY_MS = 20_000;
/** The delay before a task runs again after a permanent failure, or the task's period if that is shorter. */
const PERMANENT_RETRY_MS = 15 * 60_000;
const ERROR_LENGTH_MAX = 500;

/**
 * Rejects only when the statement of the claim fails, for example without a database. Resolves with `busy` if the lease cannot be claimed.
 */
export async function runTask(task: Task, options: RunOptions): Promise<RunEnd> {
  const { main, log, random } = options;
  const lease = { name: task.name, holder: randomUUID(), leaseMs: options.leaseMs ?? task.leaseMs ?? TASK_LEASE_MS };
  const claim = { ...lease, periodMs: task.periodMs, force: options.force ?? false };
  const claimedAt = performance.now();
  if (!(await claimTask(main.within(TASK_STATEMENT_TIMEOUT_MS), claim))) return { kind: 'busy' };
  const keeper = new LeaseKeeper(lease, { ...options, claimedAt });
  keeper.start();
  const end = await runUntilDeadline(task, keeper, options);
  await keeper.stop();
  if (keeper.lost.aborted) return { kind: 'lost' };
  try {
    const run = { ...lease, outcome: toOutcome(end, task, random), upstreams: task.upstreams?.() ?? [] };
    const change = await updateTaskEnded(main.within(TASK_STATEMENT_TIMEOUT_MS), run);
    if (change) logChange(log, { task: task.name, end, change });
  } catch (error) {
    // The lease expires, and the next run repeats the work.
    log.warn('the end of a task could not be recorded', { task: task.name, error });
  }
  return end;
}

async function runUntilDeadline(task: Task, keeper: LeaseKeeper, options: RunOptions): Promise<RunEnd> {
  using deadline = new DeadlineSignal(task.deadlineMs, options.stop, keeper.lost);
  const report = (progress: TaskProgress) => {
    keeper.setProgress(progress);
    options.onProgress?.(progress);
  };
  const request = { isFull: options.isFull ?? options.force ?? false };
  try {
    const describe = () => ({
      kind: 'internal' as const,
      name: `task ${task.name}`,
      needsParent: false,
      attributes: { 'mercat.task': task.name },
    });
    return { kind: 'done', result: await traced(describe, async () => task.run(deadline.signal, report, request)) };
  } catch (error) {
    if (options.stop.aborted) return { kind: 'stopped' };
    if (deadline.hasPassed) {
      return { kind: 'failed', error: `not done within ${task.deadlineMs / 1_000} s`, isPermanent: false };
    }
    const text = describeError(error).slice(0, ERROR_LENGTH_MAX);
    return { kind: 'failed', error: text, isPermanent: error instanceof PermanentFailure };
  }
}

function toOutcome(end: RunEnd, task: Task, random: Random): TaskOutcome {
  const spread = (ms: number) => spreadMs(ms, task.jitter ?? JITTER, random);
  const retryMs = Math.min(task.periodMs, RETRY_MS);
  if (end.kind === 'done') {
    return { kind: 'done', result: end.result, nextInMs: spread(end.result.soon ? retryMs : task.periodMs) };
  }
  if (end.kind !== 'failed') return { kind: 'stopped' };
  const delayMs = end.isPermanent ? Math.min(task.periodMs, PERMANENT_RETRY_MS) : retryMs;
  return { kind: 'failed', error: end.error, nextInMs: spread(delayMs) };
}

/** Logs at `warn` when failures or problems begin, at `debug` while they continue, and at `info` when a run succeeds after failures. */
function logChange(log: Log, { task, end, change }: { task: string; end: RunEnd; change: TaskChange }): void {
  if (end.kind === 'failed') {
    log[change.failuresBefore === 0 ? 'warn' : 'debug']('a task failed', { task, reason: end.error });
  }
  if (end.kind !== 'done') return;
  if (change.failuresBefore > 0) log.info('a task works again', { task });
  const problems = end.result.problems ?? [];
  if (problems.length > 0) {
    log[change.hadProblems ? 'debug' : 'warn']('a task did only part of its work', { task, problems });
  }
}
