// The task that ends reservations whose time is over, and returns their stock.

import { endDueReservations } from '../../shop/reservations/reservations.ts';
import type { Task } from '../../platform/tasks/task.ts';
import type { WorkerContext } from './context.ts';

/** Stock is returned at most a second after the expiry: this period with its jitter, and the time of a run. */
const PERIOD_MS = 500;
/** If the process of a run dies, another process continues after this time. */
const LEASE_MS = 1_000;
const DEADLINE_MS = 60_000;
const BATCH_SIZE = 200;
const BATCH_TIMEOUT_MS = 10_000;

export function createReservationsTask({ main }: Pick<WorkerContext, 'main'>): Task {
  return {
    name: 'reservations',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    leaseMs: LEASE_MS,
    run: async (signal) => {
      let changed = 0;
      for (let ended = BATCH_SIZE; ended > 0; changed += ended) {
        signal.throwIfAborted();
        ended = await endDueReservations(main.within(BATCH_TIMEOUT_MS), BATCH_SIZE);
      }
      return { read: changed, changed, refused: 0 };
    },
  };
}
