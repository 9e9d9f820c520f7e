// How a command reaches the service: through the running server or, if none runs, by opening the databases in this process. Only one
// process can open the embedded database, so a command cannot open the embedded database while a server runs.

import { lstatSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../service/config.ts';
import { readConfig } from '../service/config.ts';
import { OperatorError } from '../platform/core/errors.ts';
import { embeddedDirectoryOf, hasEmbeddedDatabase } from '../platform/database/embedded/location.ts';
import { describingPermissions } from '../platform/database/embedded/permissions.ts';
import { isServerListening, socketPathOf } from '../server/local-socket.ts';
import type { MissingMigrations } from './in-process.ts';
import { connectToServer, toStopError } from './server-connection.ts';
import type { ServiceConnection } from './service-connection.ts';

export type ConnectOptions = {
  /**
   * If the embedded database does not exist, it is created, and this function is called with one line that says where. By default a missing
   * database is an error.
   */
  onCreate?: (line: string) => void;
  /** What to do about missing migrations of the databases that this process opens. Default: apply. */
  migrations?: MissingMigrations;
  /** Whether to open PostgreSQL in this process even if a server runs. Default: false. */
  bypassServer?: boolean;
};

/**
 * A process can have the embedded database open and not listen, for example a server that is starting. A command waits this long for that
 * process to listen, or to close the database.
 */
const STARTING_SERVER_TIMEOUT_MS = 20_000;
const POLL_PERIOD_MS = 100;

/**
 * Connects to the service. `signal`: the signal of the command, which ends the wait for a server, and each call. Disposing of the connection
 * closes what this process opened. A server keeps running.
 */
export async function connect(signal: AbortSignal, options: ConnectOptions = {}): Promise<ServiceConnection> {
  const config = readConfig();
  const socketPath = socketPathOf(config.dataDir);
  const mayUseServer = config.databaseUrl === null || !options.bypassServer;
  const startedAt = performance.now();
  let isCreating = false;
  for (;;) {
    if (mayUseServer && (await isServerListening(socketPath))) return connectToServer(socketPath, signal);
    if (!options.onCreate) requireDatabase(config);
    else if (!isCreating && config.databaseUrl === null && !hasEmbeddedDatabase(config.dataDir)) {
      isCreating = true;
      options.onCreate(`Creating the embedded database in ${config.dataDir}, because DATABASE_URL is not set.\n`);
    }
    const { openInProcess } = await import('./in-process.ts');
    const opened = await openInProcess(config, { migrations: options.migrations ?? 'apply', signal });
    if (!(opened instanceof Error)) return opened;
    if (performance.now() - startedAt > STARTING_SERVER_TIMEOUT_MS) throw opened;
    await delay(POLL_PERIOD_MS, undefined, { signal }).catch(() => {
      throw toStopError(signal.reason);
    });
  }
}

export async function callService(
  signal: AbortSignal,
  operation: string,
  input: object,
  options?: ConnectOptions,
): Promise<unknown> {
  await using service = await connect(signal, options);
  return await service.call(operation, input);
}

/** Like `callService`, for an operation that only reads. Without a server it applies no migrations. */
export async function readService(signal: AbortSignal, operation: string, input: object): Promise<unknown> {
  return await callService(signal, operation, input, { migrations: 'require' });
}

/** Throws if the embedded database of the settings does not exist, because a command that only reads must not create it. */
export function requireDatabase({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): void {
  if (databaseUrl !== null || hasEmbeddedDatabase(dataDir)) return;
  // `hasEmbeddedDatabase` is also false if this user may not search the data directory.
  describingPermissions(dataDir, () => lstatSync(embeddedDirectoryOf(dataDir), { throwIfNoEntry: false }));
  throw new OperatorError(
    `there is no database in ${dataDir}: set DATA_DIR or DATABASE_URL to the database of the service, or create a database with mercat serve`,
  );
}
