// The leases and the schedule of sync tasks, and what came of their last runs. Primary database. Every time is the database's
// own: leases hold between machines whose clocks differ.

import type { Queryable, Row } from '../../database/port.ts';

/** When a task is due, as seen now. */
export type TaskSchedule = {
  name: string;
  /** Milliseconds until it is due; 0 when it is, or when somebody wants it now. */
  dueInMs: number;
  /** What is left of the lease of a run; 0 when there is none. */
  leasedMs: number;
};

export async function listTaskSchedules(db: Queryable, names: readonly string[]): Promise<TaskSchedule[]> {
  const rows = await db.query<{ name: string; due: number; leased: number }>(
    `select name, case when nudged then 0 else ${msFromNow('due_at')} end as due, ${msFromNow('leased_until')} as leased
     from main.sync_task where name = any($1)`,
    [names],
  );
  return rows.map((row) => ({ name: row.name, dueInMs: row.due, leasedMs: row.leased }));
}

function msFromNow(column: string): string {
  return `greatest(0, coalesce(extract(epoch from ${column} - clock_timestamp()) * 1000, 0))::float8`;
}

export type TaskClaim = {
  name: string;
  /** Names the run. */
  holder: string;
  leaseMs: number;
  periodMs: number;
  /** Whether it has to be due. */
  force: boolean;
};

/**
 * Takes the lease of a task that nobody runs and that is due, was nudged, or is new; false when it is not to be had. It stays due
 * until its end is recorded: whoever dies over a nudge does not take it along.
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
       and ($5 or stored.nudged or stored.due_at <= clock_timestamp())
     returning 1`,
    [name, holder, leaseMs, periodMs, force],
  );
  return rows.length > 0;
}

/** Renews a lease and notes how far the run is; false when the lease is somebody else's by now. */
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

/** How a run ended. A run that was stopped neither failed nor succeeded, and is due again at once. */
export type TaskOutcome =
  | { kind: 'done'; result: object; nextInMs: number }
  | { kind: 'failed'; error: string; nextInMs: number }
  | { kind: 'stopped' };

/** What changed with a run: runs in a row that had failed before it and have failed now, and whether its last good one had problems. */
export type TaskChange = { failuresBefore: number; failures: number; hadProblems: boolean };

/** Records the end of a run and gives its lease back. Null when the lease is somebody else's by now. */
export async function updateTaskEnded(
  db: Queryable,
  run: { name: string; holder: string; outcome: TaskOutcome; upstreams: object },
): Promise<TaskChange | null> {
  const { name, holder, outcome, upstreams } = run;
  const nextInMs = outcome.kind === 'stopped' ? 0 : outcome.nextInMs;
  const [row] = await db.query<{ before: number; failures: number; problems: boolean }>(
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
  return row ? { failuresBefore: row.before, failures: row.failures, hadProblems: row.problems } : null;
}

/** Makes tasks due now, in whichever process runs them; returns the names of those that have ever run. */
export async function updateTasksNudged(db: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `update main.sync_task set nudged = true where name = any($1) returning name`,
    [names],
  );
  return rows.map((row) => row.name);
}

/** A task as it is shown. Ages in milliseconds by the database's clock; null for what never was. */
export type TaskRecord = {
  name: string;
  periodMs: number;
  isRunning: boolean;
  /** How long it has been due; 0 when it is not. */
  overdueMs: number;
  progress: unknown;
  lastStarted: number | null;
  lastEnded: number | null;
  lastOk: number | null;
  /** Since the last good run ended. */
  lagMs: number | null;
  failures: number;
  lastError: string | null;
  result: unknown;
  upstreams: unknown;
};

export async function listTasks(db: Queryable): Promise<TaskRecord[]> {
  const rows = await db.query(
    `select *, leased_until is not null and leased_until > clock_timestamp() as running,
       greatest(0, extract(epoch from clock_timestamp() - due_at) * 1000)::float8 as overdue,
       (extract(epoch from clock_timestamp() - last_ok) * 1000)::float8 as lag
     from main.sync_task order by name`,
  );
  return rows.map(toTaskRecord);
}

function toTaskRecord(row: Row): TaskRecord {
  const time = (name: string) => (row[name] as Date | null)?.getTime() ?? null;
  return {
    name: row['name'] as string,
    periodMs: Number(row['period_ms']),
    isRunning: row['running'] as boolean,
    overdueMs: row['overdue'] as number,
    progress: row['progress'],
    lastStarted: time('last_started'),
    lastEnded: time('last_ended'),
    lastOk: time('last_ok'),
    lagMs: row['lag'] as number | null,
    failures: row['failures'] as number,
    lastError: row['last_error'] as string | null,
    result: row['result'],
    upstreams: row['upstreams'],
  };
}
