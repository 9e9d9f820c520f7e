// Runs tasks when they are due, in whichever process is first. The schedule is in the primary database, so that processes share
// one; this only looks at it, sleeps until the next task, and starts it. A primary that is out of reach is waited for.

import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../database/port.ts';
import { listTaskSchedules } from './queries/tasks.ts';
import type { Log } from '../core/log.ts';
import { runTask, STATEMENT_TIMEOUT_MS } from './run.ts';
import type { Task } from './task.ts';

export type Driver = {
  /** Makes a task run soon, here or wherever it runs already. Safe at any time, for any name. */
  nudge(name: string): void;
  /** Ends the runs under way and waits for them. */
  stop(): Promise<void>;
};

export type DriverOptions = {
  main: Database;
  log: Log;
  random?: () => number;
  leaseMs?: number;
  /** Bounds how late a nudge from another process is seen, and the end of another process's run. */
  pollMs?: number;
};

const POLL_MS = 5_000;
/** The least time between two looks, whatever nudges ask for. */
const GAP_MS = 50;

export function startDriver(tasks: readonly Task[], options: DriverOptions): Driver {
  const { main, log, pollMs = POLL_MS, random = Math.random } = options;
  const names = tasks.map((task) => task.name);
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  const nudged = new Set<string>();
  let wake: () => void = () => undefined;
  let hasNews = false;
  let hasFailed = false;
  const ended = loop();

  return {
    nudge: (name) => {
      if (!names.includes(name)) return;
      nudged.add(name);
      notify();
    },
    stop: async () => {
      stopping.abort();
      wake();
      await ended;
      await Promise.all(running.values());
    },
  };

  function notify(): void {
    hasNews = true;
    wake();
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      hasNews = false;
      const waitMs = await turn();
      await delay(GAP_MS);
      if (!hasNews) await rest(waitMs - GAP_MS);
    }
  }

  /** Starts what is due; returns how long there is nothing to do. */
  async function turn(): Promise<number> {
    try {
      const schedules = await listTaskSchedules(main.within(STATEMENT_TIMEOUT_MS), names);
      hasFailed = false;
      const byName = new Map(schedules.map((schedule) => [schedule.name, schedule]));
      let waitMs = pollMs;
      for (const task of tasks) {
        if (running.has(task.name) || stopping.signal.aborted) continue;
        const { dueInMs = 0, leasedMs = 0 } = byName.get(task.name) ?? {};
        const force = nudged.has(task.name);
        const inMs = Math.max(leasedMs, force ? 0 : dueInMs);
        if (inMs > 0) waitMs = Math.min(waitMs, inMs);
        else start(task, force);
      }
      return waitMs;
    } catch (error) {
      if (!hasFailed) log.warn('the schedule of tasks cannot be read now', { error });
      hasFailed = true;
      return pollMs * (0.5 + random());
    }
  }

  function start(task: Task, force: boolean): void {
    // A nudge that comes while it runs is about what this run may have missed: it runs once more.
    nudged.delete(task.name);
    const run = runTask(task, { ...options, force, isWhole: false, stop: stopping.signal })
      .then(({ kind }) => {
        running.delete(task.name);
        if (kind === 'busy' && force) nudged.add(task.name);
        notify();
      })
      .catch((error: unknown) => {
        // Not looked at before the next turn: a primary that cannot be written to is not asked without a pause.
        running.delete(task.name);
        if (force) nudged.add(task.name);
        log.debug('a task could not be claimed', { task: task.name, error });
      });
    running.set(task.name, run);
  }

  async function rest(ms: number): Promise<void> {
    if (ms <= 0 || stopping.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    timer.unref();
    wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}
