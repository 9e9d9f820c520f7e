// Repeats idempotent work in this process until it is stopped. A failure is logged, and the work runs again after the period.

import type { Log } from '../core/log.ts';

export type PeriodicWork = { name: string; periodMs: number; run: () => Promise<unknown> };

/** The first run starts after one period. The returned function stops the work and waits for the current run. */
export function startPeriodic(work: PeriodicWork, log: Log): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  let timer: NodeJS.Timeout;
  const schedule = () => {
    timer = setTimeout(run, work.periodMs);
    timer.unref();
  };
  const run = () => {
    running = work.run().then(
      () => undefined,
      (error: unknown) => log.warn('a task failed', { task: work.name, error }),
    );
    void running.then(() => {
      if (!isStopped) schedule();
    });
  };
  schedule();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
}
