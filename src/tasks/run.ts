// One run of a task: under a lease that it renews, until its deadline, with its end recorded. Between processes, and within one,
// there is never more than one run of a task. A process that dies leaves a lease that runs out.

import { randomUUID } from 'node:crypto';
import type { Database } from '../database/port.ts';
import type { TaskChange, TaskOutcome } from './queries/tasks.ts';
import { claimTask, updateTaskEnded, updateTaskLease } from './queries/tasks.ts';
import { describeError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Task, TaskProgress, TaskResult } from './task.ts';
import { PermanentFailure } from './task.ts';

export type RunOptions = {
  main: Database;
  log: Log;
  /** Ends the run, which is then due again at once. */
  stop: AbortSignal;
  /** Runs even when it is not due. */
  force?: boolean;
  /** Does everything, also what was done just now. Default: as `force`. */
  isWhole?: boolean;
  random?: () => number;
  leaseMs?: number;
  onProgress?: (progress: TaskProgress) => void;
};

/** `busy`: not run, because it is not due or runs elsewhere. `lost`: another process took it over. */
export type RunEnd =
  | { kind: 'done'; result: TaskResult }
  | { kind: 'failed'; error: string; isAnswered?: true }
  | { kind: 'stopped' | 'busy' | 'lost' };

/** How long a run that says nothing is believed to go on: the wait after a process died. */
export const LEASE_MS = 30_000;
/** Renewals in one lease: two may be lost. */
const RENEWALS = 3;
const PROGRESS_MS = 1_000;
export const STATEMENT_TIMEOUT_MS = 10_000;
const JITTER = 0.1;
/**
 * A task that failed is tried again after this, or after its period when that is shorter. An upstream rests no longer than
 * that, and a request that was sent before its return ends within half a minute: what is back is used within a minute.
 */
const RETRY_MS = 20_000;
/** One that was told that there is no such thing is tried again after this, or after its period when that is shorter. */
const ANSWERED_RETRY_MS = 15 * 60_000;
const ERROR_LENGTH_MAX = 500;

/** Runs a task once, if it can be had. Rejects only when the lease cannot be asked for. */
export async function runTask(task: Task, options: RunOptions): Promise<RunEnd> {
  const { main, random = Math.random } = options;
  const leaseMs = options.leaseMs ?? task.leaseMs ?? LEASE_MS;
  const lease = { name: task.name, holder: randomUUID(), leaseMs };
  const claim = { ...lease, periodMs: task.periodMs, force: options.force ?? false };
  if (!(await claimTask(main.within(STATEMENT_TIMEOUT_MS), claim))) return { kind: 'busy' };
  const { end, isLost } = await runLeased(task, lease, options);
  if (isLost) return { kind: 'lost' };
  const outcome = toOutcome(end, task, random);
  const upstreams = task.upstreams?.() ?? [];
  try {
    const run = { name: task.name, holder: lease.holder, outcome, upstreams };
    const change = await updateTaskEnded(main.within(STATEMENT_TIMEOUT_MS), run);
    if (change) tell(options.log, { task: task.name, end, change });
  } catch (error) {
    // The lease runs out by itself, and the next run does the same work.
    options.log.warn('the end of a task could not be recorded', { task: task.name, error });
  }
  return end;
}

type Lease = { name: string; holder: string; leaseMs: number };

async function runLeased(task: Task, lease: Lease, options: RunOptions): Promise<{ end: RunEnd; isLost: boolean }> {
  const late = new AbortController();
  const lost = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('the deadline has passed')), task.deadlineMs);
  const keeper = keepLease(lease, options, () => lost.abort(new Error('another process has taken the task over')));
  const signal = AbortSignal.any([options.stop, late.signal, lost.signal]);
  let end: RunEnd;
  try {
    const result = await Promise.try(() =>
      task.run(
        signal,
        (progress) => {
          keeper.note(progress);
          options.onProgress?.(progress);
        },
        { isWhole: options.isWhole ?? options.force ?? false },
      ),
    );
    end = { kind: 'done', result };
  } catch (error) {
    if (options.stop.aborted) end = { kind: 'stopped' };
    else if (late.signal.aborted) end = { kind: 'failed', error: `not done within ${task.deadlineMs / 1_000} s` };
    else {
      const isAnswered = error instanceof PermanentFailure;
      end = {
        kind: 'failed',
        error: describeError(error).slice(0, ERROR_LENGTH_MAX),
        ...(isAnswered && { isAnswered }),
      };
    }
  }
  clearTimeout(timer);
  await keeper.stop();
  return { end, isLost: lost.signal.aborted };
}

/** Renews the lease while the run goes on, and passes its progress on with it. */
function keepLease(lease: Lease, { main, log }: RunOptions, onLost: () => void) {
  const periodMs = lease.leaseMs / RENEWALS;
  let progress: TaskProgress | null = null;
  let isNews = false;
  let renewedAt = performance.now();
  let renewing: Promise<void> | null = null;
  const renew = async () => {
    const sentAt = performance.now();
    isNews = false;
    try {
      if (await updateTaskLease(main.within(periodMs), { ...lease, progress })) renewedAt = sentAt;
      else onLost();
    } catch (error) {
      log.debug('a lease could not be renewed', { task: lease.name, error });
      // By now another process may have begun: two at once would do no harm, but no good either.
      if (performance.now() - renewedAt > lease.leaseMs) onLost();
    }
    renewing = null;
  };
  const timer = setInterval(
    () => {
      if (renewing || (!isNews && performance.now() - renewedAt < periodMs)) return;
      renewing = renew();
    },
    Math.min(PROGRESS_MS, periodMs),
  );
  return {
    note: (told: TaskProgress) => {
      progress = told;
      isNews = true;
    },
    stop: async () => {
      clearInterval(timer);
      await renewing;
    },
  };
}

function toOutcome(end: RunEnd, task: Task, random: () => number): TaskOutcome {
  const spread = (ms: number) => ms * (1 + (task.jitter ?? JITTER) * (2 * random() - 1));
  const soonMs = Math.min(task.periodMs, RETRY_MS);
  if (end.kind === 'done') {
    return { kind: 'done', result: end.result, nextInMs: spread(end.result.soon ? soonMs : task.periodMs) };
  }
  if (end.kind !== 'failed') return { kind: 'stopped' };
  const retryMs = end.isAnswered ? Math.min(task.periodMs, ANSWERED_RETRY_MS) : soonMs;
  return { kind: 'failed', error: end.error, nextInMs: spread(retryMs) };
}

/** Only a change is news: what goes on failing has been told. */
function tell(log: Log, { task, end, change }: { task: string; end: RunEnd; change: TaskChange }): void {
  if (end.kind === 'failed') {
    log[change.failuresBefore === 0 ? 'warn' : 'debug']('a task failed', { task, reason: end.error });
  }
  if (end.kind !== 'done') return;
  if (change.failuresBefore > 0) log.info('a task works again', { task });
  const problems = end.result.problems ?? [];
  if (problems.length > 0) log[change.hadProblems ? 'debug' : 'warn']('a task could not do all', { task, problems });
}
