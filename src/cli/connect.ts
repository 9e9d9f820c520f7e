// How a command reaches the data: through the server that runs on the data directory, else by opening the databases in this
// process. The embedded database has room for one process, so while a server runs only the server can write.

import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { readConfig } from '../config.ts';
import { DirectoryInUse } from '../database/embedded/lock.ts';
import { migrate } from '../database/migrate.ts';
import type { Databases } from '../database/open.ts';
import { openDatabases } from '../database/open.ts';
import { socketPathOf } from '../server/local-server.ts';
import { isServerListening } from '../intake/socket-client.ts';
import type { Log } from '../core/log.ts';
import { createLog } from '../core/log.ts';

export type Reached =
  | { server: true; socketPath: string }
  | { server: false; config: Config; log: Log; databases: Databases };

/** A server that is just starting holds the directory before it listens: it is waited for this long. */
const STARTING_SERVER_WAIT_MS = 20_000;
const POLL_MS = 100;

/** The running server, or databases that are open and, unless `open` says otherwise, up to date; whoever called closes them. */
export async function reachData(open: typeof openUpToDate = openUpToDate): Promise<Reached> {
  const config = readConfig();
  const socketPath = socketPathOf(config.dataDir);
  const deadline = performance.now() + STARTING_SERVER_WAIT_MS;
  for (;;) {
    if (await isServerListening(socketPath)) return { server: true, socketPath };
    try {
      return { server: false, ...(await open(config)) };
    } catch (error) {
      if (!(error instanceof DirectoryInUse) || performance.now() > deadline) throw error;
      await delay(POLL_MS);
    }
  }
}

async function openUpToDate(config: Config) {
  const log = createLog(config.logLevel);
  const databases = await openDatabases(config, log);
  try {
    await migrate(databases.main, 'main');
    await migrate(databases.indexer, 'indexer');
    return { config, log, databases };
  } catch (error) {
    await databases.close();
    throw error;
  }
}
