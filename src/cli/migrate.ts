// `mercat migrate`: brings the databases up to date without serving.

import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabases } from '../database/open.ts';
import { createLog } from '../core/log.ts';
import type { Command } from './command.ts';
import { parseUsage } from './command.ts';

const HELP = `Usage: mercat migrate [--json]

Applies what is missing of the database's schema. serve does the same when it starts; two at once do no harm.

  --json   print {"main": [names], "indexer": [names]} of what was applied
`;

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'bring the database up to date',
  help: HELP,
  run: async (args, { stdout }) => {
    const { values } = parseUsage(migrateCommand, () => parseArgs({ args, options: { json: { type: 'boolean' } } }));
    const config = readConfig();
    const databases = await openDatabases(config, createLog(config.logLevel));
    try {
      const main = await migrate(databases.main, 'main');
      const indexer = await migrate(databases.indexer, 'indexer');
      const applied = main.length + indexer.length;
      const words = applied === 0 ? 'the database is up to date' : `${applied} migrations applied`;
      stdout.write(values.json ? `${JSON.stringify({ main, indexer })}\n` : `${words}\n`);
      return 0;
    } finally {
      await databases.close();
    }
  },
};
