// The status of the tasks. The operator's status has all fields. The public status leaves out texts that may come from upstreams.

import type { StatusProvider } from '../core/status.ts';
import type { Database } from '../database/port.ts';
import type { TaskRecord } from './queries/tasks.ts';
import { listTasks } from './queries/tasks.ts';
import type { UpstreamSummary } from './upstream-status.ts';
import { toUpstreamSummary } from './upstream-status.ts';
import type { Task, TaskProgress, TaskResult } from './task.ts';

/**
 * The status of one task. `waiting`: the task has never run. `overdue`: it has been due for so long that probably no process runs it.
 * `partial`: the last successful run did only part of its work. Times are ISO 8601. `lagSeconds` is the time since the end of the last
 * successful run; null if no run has succeeded yet.
 */
export type TaskStatus = {
  name: string;
  state: 'ok' | 'partial' | 'failing' | 'running' | 'waiting' | 'overdue';
  periodSeconds: number;
  lastStarted: string | null;
  lastEnded: string | null;
  lastSuccess: string | null;
  lagSeconds: number | null;
  failures: number;
  /** Row counts of the last successful run. */
  rows: Pick<TaskResult, 'read' | 'changed' | 'refused'> & { retired: number };
  upstreams: readonly UpstreamSummary[];
  /** The fields from here on are for the operator only. */
  progress?: TaskProgress | null;
  lastError?: string | null;
  problems?: readonly string[];
  refusals?: TaskResult['refusals'];
};

const STATUS_TIMEOUT_MS = 2_000;
/** A task is overdue when it has been due for more than this many periods, and for more than OVERDUE_MS_MIN. */
const OVERDUE_PERIODS = 3;
const OVERDUE_MS_MIN = 60_000;

/** Creates the provider of the public status, which leaves out the fields that are for the operator only. */
export function createTaskStatus(main: Database, tasks: readonly Task[]): StatusProvider {
  return {
    section: 'tasks',
    read: async () => (await readTaskStatus(main, tasks)).map(toPublicStatus),
  };
}

function toPublicStatus(task: TaskStatus): TaskStatus {
  const { name, state, periodSeconds, lastStarted, lastEnded, lastSuccess, lagSeconds, failures, rows, upstreams } =
    task;
  return { name, state, periodSeconds, lastStarted, lastEnded, lastSuccess, lagSeconds, failures, rows, upstreams };
}

/** Returns one status for each task, in the order of `tasks`. */
export async function readTaskStatus(main: Database, tasks: readonly Task[]): Promise<TaskStatus[]> {
  const records = new Map((await listTasks(main.within(STATUS_TIMEOUT_MS))).map((record) => [record.name, record]));
  return tasks.map((task) => toTaskStatus(task, records.get(task.name) ?? null));
}

function toTaskStatus(task: Task, record: TaskRecord | null): TaskStatus {
  const { read = 0, changed = 0, refused = 0, retired = 0, problems = [], refusals = [] } = record?.result ?? {};
  return {
    name: task.name,
    state: stateOf(record, problems.length > 0),
    periodSeconds: task.periodMs / 1_000,
    lastStarted: toTime(record?.lastStarted),
    lastEnded: toTime(record?.lastEnded),
    lastSuccess: toTime(record?.lastOk),
    lagSeconds: record === null || record.lagMs === null ? null : Math.round(record.lagMs / 1_000),
    failures: record?.failures ?? 0,
    rows: { read, changed, refused, retired },
    upstreams: upstreamsOf(task, record),
    progress: record?.progress ?? null,
    lastError: record?.lastError ?? null,
    problems,
    refusals,
  };
}

/**
 * Returns the current state of the task's upstreams if this process has used them, and otherwise their state at the end of the last run.
 */
function upstreamsOf(task: Task, record: TaskRecord | null): readonly UpstreamSummary[] {
  const current = task.upstreams?.().map(toUpstreamSummary) ?? [];
  const isUsedHere = current.some(({ requests, refused }) => requests + refused > 0);
  return isUsedHere ? current : (record?.upstreams ?? current);
}

function stateOf(record: TaskRecord | null, hasProblems: boolean): TaskStatus['state'] {
  if (record === null) return 'waiting';
  if (record.isRunning) return 'running';
  if (record.failures > 0) return 'failing';
  if (record.overdueMs > Math.max(OVERDUE_MS_MIN, OVERDUE_PERIODS * record.periodMs)) return 'overdue';
  return hasProblems ? 'partial' : 'ok';
}

function toTime(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
