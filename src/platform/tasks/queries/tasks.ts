// The leases and the schedule of tasks, and the results of their last runs. Primary database. A nudged task is due immediately; its next
// run ends the nudge. All times are from the clock of the database, because the clocks of the processes' machines may differ.

import type { Queryable } from '../../database/port.ts';
import type { Decoder } from '../../database/rows.ts';
import {
  boolean,
  column,
  decimal,
  integer,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../database/rows.ts';
import { BREAKER_STATES } from '../upstream-status.ts';

const decodeSchedule = rowDecoder('task schedule', {
  name: text,
  /** 0 when the task is due or nudged. */
  dueInMs: column('due', decimal),
  /** Milliseconds until the lease of the current run ends; 0 when no lease is held. */
  leasedMs: column('leased', decimal),
});

/**
 * SQL condition: the task is due. A task is never scheduled further ahead than twice its period. A due time that is further ahead was written
 * before the clock was set back, so such a task also counts as due.
 */
const isDue = (task: string): string => `(${task}.nudged or ${task}.due_at <= clock_timestamp()
  or ${task}.due_at > clock_timestamp() + 2 * ${task}.period_ms * interval '1 ms')`;

/** How long until a task is due, and how long until its lease ends. */
export type TaskSchedule = ReturnType<typeof decodeSchedule>;

/** Lists the schedules of the tasks that have run before. */
export async function listTaskSchedules(db: Queryable, names: readonly string[]): Promise<TaskSchedule[]> {
  const rows = await db.query(
    `select name, case when ${isDue('sync_task')} then 0 else ${msFromNow('due_at')} end as due,
       ${msFromNow('leased_until')} as leased
     from main.sync_task where name = any($1)`,
    [names],
  );
  return rows.map(decodeSchedule);
}

/** 0 for a time in the past and for null. */
function msFromNow(timeColumn: string): string {
  return `greatest(0, coalesce(extract(epoch from ${timeColumn} - clock_timestamp()) * 1000, 0))::float8`;
}

export type TaskClaim = {
  name: string;
  /** Identifies the run. */
  holder: string;
  leaseMs: number;
  periodMs: number;
  /** Claim the task even if it is neither due nor nudged. The claim still fails while another run holds the lease. */
  force: boolean;
};

/**
 * Returns whether the claim succeeded. It fails while another run holds a lease that has not expired. Without `force` it also fails when
 * the task is neither due nor nudged. A claimed task stays due until the end of its run is recorded, so that a nudge is not lost when the
 * process dies.
 */
export async function claimTask(db: Queryable, claim: TaskClaim): Promise<boolean> {
  const { name, holder, leaseMs, periodMs, force } = claim;
  const rows = await db.query(
    `insert into main.sync_task as stored (name, period_ms, holder, leased_until, due_at, last_started)
     values ($1, $4, $2, clock_timestamp() + $3 * interval '1 ms', clock_timestamp(), clock_timestamp())
     on conflict (name) do update set period_ms = excluded.period_ms, holder = excluded.holder,
       leased_until = excluded.leased_until, last_started = excluded.last_started, nudged = false, progress = null,
       due_at = least(stored.due_at, excluded.due_at)
     where (stored.leased_until is null or stored.leased_until <= clock_timestamp())
       and ($5 or ${isDue('stored')})
     returning 1`,
    [name, holder, leaseMs, periodMs, force],
  );
  return rows.length > 0;
}

/** Returns false when the run no longer holds the lease. */
export async function updateTaskLease(
  db: Queryable,
  { name, holder, leaseMs, progress }: { name: string; holder: string; leaseMs: number; progress: object | null },
): Promise<boolean> {
  const rows = await db.query(
    `update main.sync_task set leased_until = clock_timestamp() + $3 * interval '1 ms', progress = $4
     where name = $1 and holder = $2 returning 1`,
    [name, holder, leaseMs, progress === null ? null : JSON.stringify(progress)],
  );
  return rows.length > 0;
}

/**
 * How a run ended. `stopped`: the process is stopping. A stopped run is neither a failure nor a success, and the task is due immediately.
 * `nextInMs`: milliseconds until the task is due again.
 */
export type TaskOutcome =
  | { kind: 'done'; result: object; nextInMs: number }
  | { kind: 'failed'; error: string; nextInMs: number }
  | { kind: 'stopped' };

const decodeChange = rowDecoder('ended task', {
  failuresBefore: column('before', integer),
  failures: integer,
  hadProblems: column('problems', boolean),
});

/** Consecutive failures before and after a run, and whether the last successful run before it had problems. */
export type TaskChange = ReturnType<typeof decodeChange>;

/** Records the end of a run and releases its lease. Returns null, and changes nothing, when the run no longer holds the lease. */
export async function updateTaskEnded(
  db: Queryable,
  run: { name: string; holder: string; outcome: TaskOutcome; upstreams: object },
): Promise<TaskChange | null> {
  const { name, holder, outcome, upstreams } = run;
  const nextInMs = outcome.kind === 'stopped' ? 0 : outcome.nextInMs;
  const [row] = await db.query(
    `with held as (select name, failures, result from main.sync_task where name = $1 and holder = $2 for update)
     update main.sync_task as task set holder = null, leased_until = null, progress = null,
       due_at = clock_timestamp() + $3 * interval '1 ms', upstreams = $4::jsonb, last_ended = clock_timestamp(),
       last_ok = case when $5 = 'done' then clock_timestamp() else task.last_ok end,
       failures = case $5 when 'done' then 0 when 'failed' then task.failures + 1 else task.failures end,
       last_error = case $5 when 'done' then null when 'failed' then $6 else task.last_error end,
       result = coalesce($7::jsonb, task.result)
     from held where task.name = held.name
     returning held.failures as before, task.failures,
       coalesce(jsonb_array_length(held.result -> 'problems'), 0) > 0 as problems`,
    [
      name,
      holder,
      nextInMs,
      JSON.stringify(upstreams),
      outcome.kind,
      outcome.kind === 'failed' ? outcome.error : null,
      outcome.kind === 'done' ? JSON.stringify(outcome.result) : null,
    ],
  );
  return row ? decodeChange(row) : null;
}

const decodeName = rowDecoder('task', { name: text });

/**
 * Nudges tasks: the next driver that reads the schedule runs them. Returns the names of the nudged tasks. A task that has never run is not
 * nudged, because it is due anyway.
 */
export async function updateTasksNudged(db: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await db.query(`update main.sync_task set nudged = true where name = any($1) returning name`, [names]);
  return rows.map((row) => decodeName(row).name);
}

const taskResult = object({
  read: integer,
  changed: integer,
  refused: integer,
  retired: withDefault(integer, 0),
  problems: withDefault(list(text), []),
  refusals: withDefault(list(object({ reason: text, count: integer, example: text })), []),
});

const upstreamSummary = object({
  name: text,
  breaker: oneOf(BREAKER_STATES),
  budget: nullable(object({ perHour: decimal, left: decimal })),
  requests: integer,
  retries: integer,
  refused: integer,
  lastFailure: nullable(text),
});

const decodeTask = rowDecoder('task', {
  name: text,
  periodMs: column('period_ms', safeInteger),
  isRunning: column('running', boolean),
  /** How long the task has been due; 0 when it is not due. */
  overdueMs: column('overdue', decimal),
  progress: nullable(object({ done: integer, total: nullable(integer), what: text })),
  lastStarted: column('last_started', nullable(timestamp)),
  lastEnded: column('last_ended', nullable(timestamp)),
  /** The end of the last successful run. */
  lastOk: column('last_ok', nullable(timestamp)),
  /** Milliseconds since the end of the last successful run; null before the first. */
  lagMs: column('lag', nullable(decimal)),
  failures: integer,
  lastError: column('last_error', nullable(text)),
  result: nullable(taskResult),
  upstreams: nullable(list(upstreamSummary)),
});

/** What is stored about a task: its schedule, its current run, and the results of its last runs. */
export type TaskRecord = ReturnType<typeof decodeTask>;

export async function listTasks(db: Queryable): Promise<TaskRecord[]> {
  const rows = await db.query(
    `select *, leased_until is not null and leased_until > clock_timestamp() as running,
       greatest(0, extract(epoch from clock_timestamp() - due_at) * 1000)::float8 as overdue,
       (extract(epoch from clock_timestamp() - last_ok) * 1000)::float8 as lag
     from main.sync_task order by name`,
  );
  return rows.map(decodeTask);
}

/** A missing field becomes `value`, because JSON that an earlier version stored may lack the field. */
function withDefault<T>(decoder: Decoder<T>, value: T): Decoder<T> {
  return { ...decoder, decode: (given) => (given === undefined ? value : decoder.decode(given)) };
}
