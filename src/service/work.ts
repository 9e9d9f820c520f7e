// The process of `mercat work`: the background work without a server.

import type { Log } from '../platform/core/log.ts';
import { openDatabases } from '../platform/database/open.ts';
import { requireSecretKeys } from '../shop/stored-secrets.ts';
import { bindMetrics } from './addresses.ts';
import type { Config } from './config.ts';
import { createContext } from './context.ts';
import { migrateAll, recordStart, startClock, watchWrites } from './databases.ts';
import { openMetrics, openTelemetry } from './observability.ts';
import { Parts } from './parts.ts';
import { createWorkers } from './working.ts';

export type WorkerProcess = AsyncDisposable & {
  /** Rejects with OperatorError when the process must not go on. Never resolves. */
  failed: Promise<never>;
};

/** Runs the workers without a server, until the returned object is disposed. */
export async function startWorkerProcess({ config, log }: { config: Config; log: Log }): Promise<WorkerProcess> {
  await using opening = new AsyncDisposableStack();
  const server = await bindMetrics(config.metricsAddress, log);
  opening.defer(() => server?.close());
  const databases = opening.adopt(await openDatabases(config, log), ({ close }) => close());
  const parts = opening.use(new Parts());
  const { failed } = parts.use(await migrateAll(databases, log));
  const { now: clock } = parts.use(await startClock(databases, log));
  const context = parts.use(createContext({ config, log, clock, databases }));
  parts.use(watchWrites(context));
  await recordStart(context, 'work');
  const telemetry = parts.use(await openTelemetry(context));
  await requireSecretKeys(context);
  const workers = await createWorkers(context, { drive: true });
  parts.onClose(() => {
    const closed = workers.close();
    // Ends tasks that wait for an endpoint of a chain.
    context.followed.close();
    return closed;
  });
  parts.use(await openMetrics(context, { telemetry, sources: { tasks: workers.tasks, http: null }, server }));
  workers.start();
  const opened = opening.move();
  return { failed, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
