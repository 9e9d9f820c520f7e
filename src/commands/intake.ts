// How commands reach the intake: through the server that runs on the data directory, else in this process.

import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { migrate } from '../db/migrate.ts';
import { openDatabases } from '../db/open.ts';
import { createChains } from '../domain/chain.ts';
import { socketPathOf } from '../http/local-server.ts';
import { createSocketConnection, isServerListening } from '../intake/client.ts';
import type { IntakeConnection } from '../intake/connection.ts';
import { createLocalConnection } from '../intake/connection.ts';
import { createLog } from '../log.ts';

/** The embedded database has room for one process: while a server runs, only it can write. */
export async function connectIntake(): Promise<IntakeConnection> {
  const config = readConfig();
  const socketPath = socketPathOf(config.dataDir);
  if (await isServerListening(socketPath)) return createSocketConnection(socketPath);
  const databases = await openDatabases(config, createLog(config.logLevel));
  try {
    await migrate(databases.main, 'main');
    await migrate(databases.indexer, 'indexer');
  } catch (error) {
    await databases.close();
    throw error;
  }
  const { serviceName, extraChain } = config;
  const context = { ...databases, chains: createChains(extraChain), serviceName, clock: systemClock };
  return createLocalConnection(context, () => databases.close());
}
