// How the tasks are doing, as the operator sees it and as anyone may: the same figures, the latter without a word that came
// from outside. It never tells a host, a key or a path.

import type { Clock } from '../core/clock.ts';
import type { Database } from '../database/port.ts';
import type { TaskRecord } from './queries/tasks.ts';
import { listTasks } from './queries/tasks.ts';
import type { UpstreamStatus } from './upstream-status.ts';
import type { Task, TaskProgress, TaskResult } from './task.ts';

/** One section of the status: what it reads must be JSON, and fit for anyone's eyes. */
export type StatusProvider = {
  section: string;
  /** May reject: the section is then shown as out of reach. */
  read(): Promise<unknown>;
};

export type StatusReader = () => Promise<Record<string, unknown>>;

/** All sections together. A section that cannot be read is null, and named in `unavailable`. */
export function createStatusReader(providers: readonly StatusProvider[], clock: Clock): StatusReader {
  return async () => {
    const sections = await Promise.allSettled(providers.map((provider) => Promise.try(() => provider.read())));
    const unavailable = providers.filter((_, index) => sections[index]?.status === 'rejected');
    return {
      at: new Date(clock()).toISOString(),
      ...Object.fromEntries(
        providers.map(({ section }, index) => {
          const read = sections[index];
          return [section, read?.status === 'fulfilled' ? read.value : null];
        }),
      ),
      unavailable: unavailable.map(({ section }) => section),
    };
  };
}

export type DatabaseStatus = { engine: Database['engine']; answers: boolean; latencyMs: number | null };

/** Whether each database answers. */
export function createDatabaseStatus({ main, indexer }: { main: Database; indexer: Database }): StatusProvider {
  const read = async (db: Database): Promise<DatabaseStatus> => {
    const startedAt = performance.now();
    try {
      await db.within(TIMEOUT_MS).query('select 1');
      return { engine: db.engine, answers: true, latencyMs: Math.round(performance.now() - startedAt) };
    } catch {
      // Why is in the log of the reads that failed; here it only shows.
      return { engine: db.engine, answers: false, latencyMs: null };
    }
  };
  return {
    section: 'databases',
    read: async () => {
      const [primary, index] = await Promise.all([read(main), indexer === main ? null : read(indexer)]);
      return { main: primary, indexer: index ?? primary };
    },
  };
}

/**
 * `waiting` has never run, `overdue` should have long ago and no process does it. Times are ISO 8601, `lagSeconds` counts
 * from the end of the last good run.
 */
export type TaskStatus = {
  name: string;
  state: 'ok' | 'partial' | 'failing' | 'running' | 'waiting' | 'overdue';
  periodSeconds: number;
  lastStarted: string | null;
  lastEnded: string | null;
  lastSuccess: string | null;
  lagSeconds: number | null;
  /** Runs in a row. */
  failures: number;
  /** Of the last good run. */
  rows: Pick<TaskResult, 'read' | 'changed' | 'refused'> & { retired: number };
  upstreams: UpstreamSummary[];
  /** What follows is for the operator alone. */
  progress?: TaskProgress | null;
  lastError?: string | null;
  problems?: readonly string[];
  refusals?: TaskResult['refusals'];
};

export type UpstreamSummary = Pick<
  UpstreamStatus,
  'name' | 'breaker' | 'budget' | 'requests' | 'retries' | 'refused'
> & {
  lastFailure: UpstreamStatus['lastFailure'];
};

const TIMEOUT_MS = 2_000;
/** Periods without a run after which nobody seems to do it. */
const OVERDUE_PERIODS = 3;
const OVERDUE_MS_MIN = 60_000;

/** The tasks without what came from outside. */
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

/** The tasks in the order given, with everything that is known. */
export async function readTaskStatus(main: Database, tasks: readonly Task[]): Promise<TaskStatus[]> {
  const records = new Map((await listTasks(main.within(TIMEOUT_MS))).map((record) => [record.name, record]));
  return tasks.map((task) => toTaskStatus(task, records.get(task.name) ?? null));
}

function toTaskStatus(task: Task, record: TaskRecord | null): TaskStatus {
  const result = record?.result as TaskResult | null;
  const { read = 0, changed = 0, refused = 0, retired = 0, problems = [], refusals = [] } = result ?? {};
  // What is asked from this process is known to the second; what another one asks, as its last run left it.
  const here = task.upstreams?.() ?? [];
  const isAskedHere = here.some(({ requests, refused: unsent }) => requests + unsent > 0);
  const upstreams = isAskedHere ? here : ((record?.upstreams ?? here) as readonly UpstreamStatus[]);
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
    upstreams: upstreams.map(toSummary),
    progress: (record?.progress ?? null) as TaskProgress | null,
    lastError: record?.lastError ?? null,
    problems,
    refusals,
  };
}

function stateOf(record: TaskRecord | null, hasProblems: boolean): TaskStatus['state'] {
  if (record === null) return 'waiting';
  if (record.isRunning) return 'running';
  if (record.failures > 0) return 'failing';
  if (record.overdueMs > Math.max(OVERDUE_MS_MIN, OVERDUE_PERIODS * record.periodMs)) return 'overdue';
  return hasProblems ? 'partial' : 'ok';
}

function toSummary(upstream: UpstreamStatus): UpstreamSummary {
  const { name, breaker, budget, requests, retries, refused, lastFailure } = upstream;
  return { name, breaker, budget, requests, retries, refused, lastFailure };
}

function toTime(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
