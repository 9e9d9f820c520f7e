// Runs tasks when they are due. The schedule is in the primary database and is shared by all processes. A driver reads the schedule, starts
// the tasks that are due, and waits until the next task is due. To nudge a task is to make it due before its time.

import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../database/port.ts';
import type { TaskSchedule } from './queries/tasks.ts';
import { listTaskSchedules } from './queries/tasks.ts';
import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import { spreadMs } from '../resilience/backoff.ts';
import { Pause } from './pause.ts';
import { runTask, TASK_STATEMENT_TIMEOUT_MS } from './run.ts';
import type { Task } from './task.ts';

export type DriverOptions = {
  main: Database;
  log: Log;
  random: Random;
  leaseMs?: number;
  /** The longest delay before this driver notices a nudge by another process, or the end of another process's run. */
  pollMs?: number;
};

const POLL_MS = 5_000;
/**
 * The wait after the schedule could not be read, or a task could not be claimed. It does not grow with the number of failures: a database that was
 * restarted is used again within half a second, however long it was away. It is lengthened at random by up to RETRY_SPREAD, so that processes that lost
 * the database together do not all return at once.
 */
const RETRY_MS = 250;
const RETRY_SPREAD = 1;
/** The shortest time between two reads of the schedule. */
const GAP_MS = 50;

export class TaskDriver {
  readonly #tasks: readonly Task[];
  readonly #options: DriverOptions;
  readonly #pollMs: number;
  readonly #stopping = new AbortController();
  readonly #pause = new Pause();
  readonly #running = new Map<string, Promise<void>>();
  /** The names of tasks that this process must run even if they are not due. */
  readonly #nudged = new Set<string>();
  /** Whether the next round must start without a wait, because of a nudge or because a run has ended. */
  #isRoundDue = false;
  /** Whether the schedule could not be read in the last round. Only the first of several failures is logged. */
  #isUnread = false;
  /** Starts the round after one in which a task could not be claimed. */
  #retry: NodeJS.Timeout | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(tasks: readonly Task[], options: DriverOptions) {
    this.#tasks = tasks;
    this.#options = options;
    this.#pollMs = options.pollMs ?? POLL_MS;
  }

  start(): void {
    this.#ended = this.#loop();
  }

  /** Makes a task run soon, even if it is not due. If the task is running, it runs again afterwards. Unknown names are ignored. */
  nudge(name: string): void {
    if (!this.#tasks.some((task) => task.name === name)) return;
    this.#nudged.add(name);
    this.#startRound();
  }

  /** Aborts the current runs of this process and waits for their end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#retry) clearTimeout(this.#retry);
    this.#pause.end();
    await this.#ended;
    await Promise.all(this.#running.values());
  }

  #startRound(): void {
    this.#isRoundDue = true;
    this.#pause.end();
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#isRoundDue = false;
      const waitMs = await this.#runRound();
      await delay(GAP_MS);
      if (!this.#isRoundDue && !signal.aborted) await this.#pause.wait(waitMs - GAP_MS);
    }
  }

  /** Starts the tasks that are due. Returns the milliseconds until the next task is due, or until the schedule must be read again. */
  async #runRound(): Promise<number> {
    const { main, log } = this.#options;
    try {
      const names = this.#tasks.map((task) => task.name);
      const schedules = await listTaskSchedules(main.within(TASK_STATEMENT_TIMEOUT_MS), names);
      this.#isUnread = false;
      return this.#startDue(new Map(schedules.map((schedule) => [schedule.name, schedule])));
    } catch (error) {
      if (!this.#isUnread) log.warn('the schedule of tasks cannot be read', { error });
      this.#isUnread = true;
      return this.#retryMs();
    }
  }

  #retryClaims(): void {
    if (this.#retry || this.#stopping.signal.aborted) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#startRound();
    }, this.#retryMs());
  }

  #retryMs(): number {
    return spreadMs(RETRY_MS, RETRY_SPREAD, this.#options.random);
  }

  #startDue(schedules: ReadonlyMap<string, TaskSchedule>): number {
    let waitMs = this.#pollMs;
    for (const task of this.#tasks) {
      if (this.#running.has(task.name) || this.#stopping.signal.aborted) continue;
      const { dueInMs = 0, leasedMs = 0 } = schedules.get(task.name) ?? {};
      const force = this.#nudged.has(task.name);
      // While another run holds the lease, a claim would fail even for a nudged task.
      const inMs = Math.max(leasedMs, force ? 0 : dueInMs);
      if (inMs > 0) waitMs = Math.min(waitMs, inMs);
      else this.#startRun(task, force);
    }
    return waitMs;
  }

  #startRun(task: Task, force: boolean): void {
    // The name is removed before the run starts: a nudge during the run must cause another run, because this run may already be past the
    // step for which the task was nudged.
    this.#nudged.delete(task.name);
    const run = runTask(task, { ...this.#options, force, isFull: false, stop: this.#stopping.signal })
      .then(({ kind }) => {
        this.#running.delete(task.name);
        if (kind === 'busy' && force) this.#nudged.add(task.name);
        this.#startRound();
      })
      .catch((error: unknown) => {
        this.#running.delete(task.name);
        if (force) this.#nudged.add(task.name);
        this.#retryClaims();
        this.#options.log.debug('a task could not be claimed', { task: task.name, error });
      });
    this.#running.set(task.name, run);
  }
}
