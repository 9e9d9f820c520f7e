// Runs idempotent work of this process on a period until it is stopped. A failed run is logged, and the next period runs it again.

import type { Log } from '../core/log.ts';

export type PeriodicWork = { name: string; periodMs: number; run: () => Promise<unknown> };

/** Starts the work, first after one period. The result stops it and waits for a run under way. */
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
