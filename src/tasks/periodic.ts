// Runs an idempotent task on a period until it is told to stop. A failed run is logged and tried again at the next turn.

import type { Log } from '../core/log.ts';

export type PeriodicTask = { name: string; periodMs: number; run: () => Promise<unknown> };

/** Starts the task; the result stops it and waits for a run that is under way. */
export function startPeriodic(task: PeriodicTask, log: Log): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  let timer: NodeJS.Timeout;
  const schedule = () => {
    timer = setTimeout(turn, task.periodMs);
    timer.unref();
  };
  const turn = () => {
    running = task.run().then(
      () => undefined,
      (error: unknown) => log.warn('a task failed', { task: task.name, error }),
    );
    void running.then(() => {
      if (!stopped) schedule();
    });
  };
  schedule();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}
