// The background work of a process: the tasks and the deliveries of webhooks.

import type { StatusProvider } from '../platform/core/status.ts';
import { createBackupStatus } from '../platform/database/backup/record.ts';
import { createDeliveryStatus } from '../shop/webhooks/delivery-status.ts';
import { WebhookWorker } from '../shop/webhooks/worker.ts';
import type { ServiceContext } from './context.ts';
import type { RunningTasks } from './workers/start.ts';
import { createTasks } from './workers/start.ts';

export type Workers = {
  /** Begins to run tasks and to send webhooks, unless this process does not drive them. */
  start: () => void;
  /** Makes the webhook worker of this process check for due deliveries soon. Workers of other processes poll. */
  nudge: () => void;
  tasks: RunningTasks;
  status: readonly StatusProvider[];
  /** Stops the workers and waits for their current work. */
  close: () => Promise<void>;
};

/**
 * Creates the workers, which do nothing before `start`. If `drive` is false, no worker runs in this process, but the status and the operations of
 * the tasks are available.
 */
export async function createWorkers(context: ServiceContext, { drive }: { drive: boolean }): Promise<Workers> {
  const { main, config, clock, log, random, secretKeys } = context;
  const tasks = await createTasks(context, { drive });
  const allowPrivate = config.webhookAllowPrivate;
  const webhooks = drive ? new WebhookWorker({ main, clock, log, random, secretKeys, allowPrivate }) : null;
  return {
    start: () => {
      tasks.start();
      webhooks?.start();
    },
    nudge: () => webhooks?.nudge(),
    tasks,
    status: [createDeliveryStatus(main), createBackupStatus(main), ...tasks.status],
    close: async () => {
      await Promise.all([tasks.stop(), webhooks?.stop()]);
    },
  };
}
