// Creates the tasks that keep the service's data fresh, the driver that runs them, and the operator's operations on tasks, followed
// collections and audits. The tasks of a vendor come from its registration (sources/upstreams/registry.ts).

import { updateTasksNudged } from '../../platform/tasks/queries/tasks.ts';
import { OperatorError } from '../../platform/core/errors.ts';
import { createAuditOperations } from '../../sources/chains/audit/audit.ts';
import type { ChainStatus } from '../../sources/chains/chain-status.ts';
import { createChainStatus, readChainStatus } from '../../sources/chains/chain-status.ts';
import { createChainTasks } from '../../sources/chains/task.ts';
import { createCollectionOperations } from './follow-operations.ts';
import { TaskDriver } from '../../platform/tasks/driver.ts';
import { createBuyerFloorsTask } from './buyer-floors.ts';
import { createActivityTask } from './activity.ts';
import { createCatalogTask } from './catalog.ts';
import { createSnapshotsTask } from './snapshots.ts';
import type { SalesStatus } from '../../market/index/sales-status.ts';
import { createSalesStatus, readSalesStatus } from '../../market/index/sales-status.ts';
import { createMetadataStatus, readMetadataStatus } from '../../sources/metadata/status.ts';
import { createMetadataTask } from '../../sources/metadata/task.ts';
import { createExpiryTask } from './expiry.ts';
import { createRarityTask } from './rarity.ts';
import { createReservationsTask } from './reservations.ts';
import { createVendorTasks } from '../../sources/upstreams/vendor.ts';
import { runTask } from '../../platform/tasks/run.ts';
import type { StatusProvider } from '../../platform/core/status.ts';
import type { TaskStatus } from '../../platform/tasks/task-status.ts';
import { createTaskStatus, readTaskStatus } from '../../platform/tasks/task-status.ts';
import type { Task } from '../../platform/tasks/task.ts';
import type { WorkerContext } from './context.ts';

/** Creates the tasks. With `drive` false, this process runs a task only when the operator starts it. */
export async function createTasks(context: WorkerContext, { drive }: { drive: boolean }): Promise<RunningTasks> {
  const { main, log, random } = context;
  const tasks = await createEnabledTasks(context);
  return new RunningTasks(context, tasks, drive ? new TaskDriver(tasks, { main, log, random }) : null);
}

/** Creates every task that the settings enable. */
async function createEnabledTasks(context: WorkerContext): Promise<Task[]> {
  const vendorTasks = await createVendorTasks(context.config.vendors, context);
  return [
    ...createChainTasks(context),
    createMetadataTask(context),
    ...vendorTasks,
    createExpiryTask(context),
    createReservationsTask(context),
    createCatalogTask(context),
    createActivityTask(context),
    createRarityTask(context),
    createSnapshotsTask(context),
    createBuyerFloorsTask(context),
  ];
}

type Operation = (input: Readonly<Record<string, unknown>>) => Promise<unknown>;

export class RunningTasks {
  readonly status: readonly StatusProvider[];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly #context: WorkerContext;
  readonly #tasks: readonly Task[];
  readonly #driver: TaskDriver | null;
  readonly #stopping = new AbortController();
  /** Runs that the operator started. */
  readonly #startedRuns = new Set<Promise<unknown>>();

  constructor(context: WorkerContext, tasks: readonly Task[], driver: TaskDriver | null) {
    this.#context = context;
    this.#tasks = tasks;
    this.#driver = driver;
    this.status = [
      createTaskStatus(context.main, tasks),
      createChainStatus(context),
      createMetadataStatus(context),
      createSalesStatus(context.indexer),
    ];
    this.operations = {
      ...createCollectionOperations({ ...context, onFollowed: () => this.#nudgeFollowers() }),
      ...createAuditOperations(context),
      'metadata.read': () => readMetadataStatus(context),
      'sync.start': ({ name }) => this.#startNamed(name),
      'sync.read': ({ name = null }) => this.#readStatus(name),
    };
  }

  /** Begins to run the tasks when they are due. */
  start(): void {
    this.#driver?.start();
  }

  readTasks(): Promise<TaskStatus[]> {
    return readTaskStatus(this.#context.main, this.#tasks);
  }

  readChains(): Promise<ChainStatus[]> {
    return readChainStatus(this.#context);
  }

  readSales(): Promise<SalesStatus[]> {
    return readSalesStatus(this.#context.indexer);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#driver?.stop(), ...this.#startedRuns]);
  }

  /** Returns the status that the tasks had before the start. */
  async #startNamed(name: unknown): Promise<TaskStatus[]> {
    const named = findTasks(this.#tasks, name);
    const before = await readTaskStatus(this.#context.main, named);
    for (const task of named) this.#start(task);
    return before;
  }

  #start(task: Task): void {
    const { main, log, random } = this.#context;
    const run = runTask(task, { main, log, random, stop: this.#stopping.signal, force: true })
      .catch((error: unknown) => log.warn('a task could not be claimed', { task: task.name, error }))
      .finally(() => this.#startedRuns.delete(run));
    this.#startedRuns.add(run);
  }

  #readStatus(name: unknown): Promise<TaskStatus[]> {
    return readTaskStatus(this.#context.main, name === null ? this.#tasks : findTasks(this.#tasks, name));
  }

  /** Makes due all tasks that read the followed collections. A process that runs such a task notices this when it reads the schedule. */
  async #nudgeFollowers(): Promise<void> {
    const names = this.#tasks.filter(({ readsFollows }) => readsFollows).map(({ name }) => name);
    await updateTasksNudged(this.#context.main, names);
  }
}

/**
 * Returns the task with this name, and all tasks whose names begin with this name and a hyphen: `opensea` finds `opensea-listings`. Throws
 * OperatorError if no task is found.
 */
function findTasks(tasks: readonly Task[], name: unknown): Task[] {
  const named = tasks.filter((task) => task.name === name || task.name.startsWith(`${String(name)}-`));
  if (typeof name === 'string' && named.length > 0) return named;
  const known = tasks.map((task) => task.name).join(', ');
  throw new OperatorError(`there is no task ${JSON.stringify(name)}; the enabled tasks are ${known}`, { exitCode: 2 });
}
