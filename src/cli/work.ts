// `mercat work`: only the workers, for a deployment that keeps them apart from the servers.

import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { createContext } from '../context.ts';
import { openDatabases } from '../database/open.ts';
import { createLog } from '../core/log.ts';
import type { Closer } from '../service.ts';
import { closeInOrder, migrateAll, startWorkers } from '../service.ts';
import type { Command } from './command.ts';
import { parseUsage } from './command.ts';

const HELP = `Usage: mercat work

Runs the workers without serving: the tasks that keep the mirror and the prices fresh (mercat status shows them), and the
delivery of webhooks. Needs PostgreSQL when a server runs beside it, because the embedded database has room for one process.
`;

export const workCommand: Command = {
  name: 'work',
  summary: 'run only the workers',
  help: HELP,
  run: async (args, { signal, stdout }) => {
    parseUsage(workCommand, () => parseArgs({ args, options: {} }));
    const config = readConfig();
    const log = createLog(config.logLevel);
    const databases = await openDatabases(config, log);
    const closers: Closer[] = [databases.close];
    try {
      closers.push(await migrateAll(databases, log));
      const context = createContext({ config, log, databases });
      closers.push(context.close);
      closers.push((await startWorkers(context, { drive: true })).stop);
      stdout.write('Mercat works. Stop: Ctrl-C\n');
      if (!signal.aborted) await once(signal, 'abort');
      return 0;
    } finally {
      await closeInOrder(closers);
    }
  },
};
