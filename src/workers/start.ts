// The tasks that keep the service's data fresh, the driver that runs them, and the runs that the operator starts. The tasks of a
// vendor come from its registration (upstreams/registry.ts).

import { updateTasksNudged } from '../tasks/queries/tasks.ts';
import { OperatorError } from '../core/errors.ts';
import { createAuditOperations } from '../chains/audit/audit.ts';
import { createChainStatus } from '../chains/chain-status.ts';
import { createChainTasks } from '../chains/task.ts';
import { createCollectionOperations } from './follow-operations.ts';
import { TaskDriver } from '../tasks/driver.ts';
import { createExpiryTask } from './expiry.ts';
import { createVendorTasks } from '../upstreams/vendor.ts';
import { runTask } from '../tasks/run.ts';
import type { StatusProvider } from '../core/status.ts';
import type { TaskStatus } from '../tasks/task-status.ts';
import { createTaskStatus, readTaskStatus } from '../tasks/task-status.ts';
import type { Task } from '../tasks/task.ts';
import type { WorkerContext } from './context.ts';

/** Every task that the settings enable. */
export async function createTasks(context: WorkerContext): Promise<Task[]> {
  const vendorTasks = await createVendorTasks(context.config.vendors, context);
  return [...createChainTasks(context), ...vendorTasks, createExpiryTask(context)];
}

export type Sync = {
  tasks: readonly Task[];
  /** Makes the tasks of a name or a source run soon; without workers here, those of another process see to it in time. */
  nudge(name: string): void;
  status: readonly StatusProvider[];
  operations: Readonly<Record<string, (input: Readonly<Record<string, unknown>>) => Promise<unknown>>>;
  stop(): Promise<void>;
};

/** With `drive` false nothing runs by itself: another process does, and this one only when the operator asks it to. */
export async function startSync(context: WorkerContext, { drive }: { drive: boolean }): Promise<Sync> {
  const { main, log, random } = context;
  const tasks = await createTasks(context);
  const driver = drive ? new TaskDriver(tasks, { main, log, random }) : null;
  driver?.start();
  const stopping = new AbortController();
  const asked = new Set<Promise<unknown>>();
  const start = (task: Task) => {
    const run = runTask(task, { main, log, random, stop: stopping.signal, force: true })
      .catch((error: unknown) => log.warn('a task could not be claimed', { task: task.name, error }))
      .finally(() => asked.delete(run));
    asked.add(run);
  };
  // Whichever process runs them; one that has never run is due in any case.
  const onFollowed = async () => {
    const names = tasks.filter(({ readsFollows }) => readsFollows).map(({ name }) => name);
    await updateTasksNudged(main, names);
  };
  return {
    tasks,
    nudge: (name) => {
      for (const task of tasks) if (isOf(task, name)) driver?.nudge(task.name);
    },
    status: [createTaskStatus(main, tasks), createChainStatus(context)],
    operations: {
      ...createCollectionOperations({ ...context, onFollowed }),
      ...createAuditOperations(context),
      'sync.start': async (input) => {
        const named = findTasks(tasks, input['name']);
        const before = await readTaskStatus(main, named);
        for (const task of named) start(task);
        return before;
      },
      'sync.read': ({ name = null }): Promise<TaskStatus[]> =>
        readTaskStatus(main, name === null ? tasks : findTasks(tasks, name)),
    },
    stop: async () => {
      stopping.abort();
      await Promise.all([driver?.stop(), ...asked]);
    },
  };
}

/** The task of a name, or all tasks of a source: `opensea` is `opensea-listings` and the rest. Throws OperatorError. */
export function findTasks(tasks: readonly Task[], name: unknown): Task[] {
  const named = tasks.filter((task) => typeof name === 'string' && isOf(task, name));
  if (named.length > 0) return named;
  const known = tasks.map((task) => task.name).join(', ');
  throw new OperatorError(`there is no task ${JSON.stringify(name)}; the settings give ${known}`, { exitCode: 2 });
}

function isOf(task: Task, name: string): boolean {
  return task.name === name || task.name.startsWith(`${name}-`);
}
