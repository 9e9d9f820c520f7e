// Runs the operations of the service in the process of a command, if no server runs. Tasks do not follow their schedule here: a task runs
// only if the command starts it.

import type { Config } from '../service/config.ts';
import { createContext } from '../service/context.ts';
import { OperatorError } from '../platform/core/errors.ts';
import { createLog } from '../platform/core/log.ts';
import { BackupJobs } from '../platform/database/backup/jobs.ts';
import { DatabaseClock } from '../platform/database/clock.ts';
import { DirectoryInUse } from '../platform/database/embedded/lock.ts';
import type { Schema } from '../platform/database/migrate.ts';
import { listPendingMigrations, migrate, SCHEMAS } from '../platform/database/migrate.ts';
import { openDatabases } from '../platform/database/open.ts';
import type { Queryable } from '../platform/database/port.ts';
import { describeDatabaseFailure } from '../platform/database/port.ts';
import { importRecords } from '../intake/import.ts';
import { createOperations } from '../service/operations.ts';
import { createWorkers } from '../service/working.ts';
import type { Operations } from '../shop/operations.ts';
import { createStatusReader } from '../platform/core/status.ts';
import { createDatabaseStatus } from '../platform/database/status.ts';
import { readVersion } from '../platform/version.ts';
import { toStopError } from './server-connection.ts';
import type { ServiceConnection } from './service-connection.ts';

/** What to do about missing migrations. `require`: they are an error, because a command that only reads must not change the schema. */
export type MissingMigrations = 'apply' | 'require' | 'ignore';

/** Opens the databases. Returns an error if another process has the embedded database open. */
export async function openInProcess(
  config: Config,
  options: { migrations: MissingMigrations; signal: AbortSignal },
): Promise<ServiceConnection | DirectoryInUse> {
  try {
    return await open(config, options);
  } catch (error) {
    if (error instanceof DirectoryInUse) return error;
    throw toOperatorError(error);
  }
}

async function open(
  config: Config,
  options: { migrations: MissingMigrations; signal: AbortSignal },
): Promise<ServiceConnection> {
  await using opening = new AsyncDisposableStack();
  const log = createLog(config.logLevel);
  const databases = opening.adopt(await openDatabases(config, log), ({ close }) => close());
  for (const schema of SCHEMAS) {
    if (options.migrations === 'apply') await migrate(databases[schema], schema);
    if (options.migrations === 'require') await requireMigrations(databases[schema], schema);
  }
  const { now: clock } = await DatabaseClock.start({ db: databases.main, log });
  const context = opening.adopt(createContext({ config, log, clock, databases }), ({ close }) => close());
  const workers = opening.adopt(await createWorkers(context, { drive: false }), ({ close }) => close());
  const backups = opening.adopt(new BackupJobs({ databases, service: readVersion() }), (jobs) => jobs.close());
  const operations: Operations = {
    ...createOperations(context, workers),
    ...backups.operations,
    status: createStatusReader([createDatabaseStatus(databases), ...workers.status], context.clock),
  };
  const opened = opening.move();
  return {
    call: async (operation, input, { signal } = options) => {
      const call = new Map(Object.entries(operations)).get(operation);
      if (!call) throw new Error(`there is no operation ${operation}`);
      try {
        return await untilAborted(call({ ...input }), signal);
      } catch (error) {
        throw toOperatorError(error);
      }
    },
    import: (source, importOptions, onEvent) => importRecords(context, source, { ...importOptions, onEvent }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function requireMigrations(db: Queryable, schema: Schema): Promise<void> {
  const { pending } = await listPendingMigrations(db, schema);
  if (pending.length === 0) return;
  throw new OperatorError(
    `the schema ${schema} lacks migrations (${pending.length}): run mercat migrate, or start the service`,
  );
}

/** Settles like `work`, or rejects when the signal aborts. The work then ends when the databases are closed. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(toStopError(signal.reason));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A failure of a database is no bug, so it is reported in one sentence. Every other error is returned unchanged. */
function toOperatorError(error: unknown): unknown {
  const failure = describeDatabaseFailure(error);
  return failure === null ? error : new OperatorError(failure, { cause: error });
}
