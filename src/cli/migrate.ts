// `mercat migrate`: brings the schemas of the databases up to date without serving.

import { readConfig } from '../service/config.ts';
import { createLog } from '../platform/core/log.ts';
import type { MigrationStep } from '../platform/database/migrate.ts';
import type { CommandIo, DefineCommand } from './command.ts';

export const defineMigrate: DefineCommand = (migrate, io) => {
  migrate
    .description(
      'Apply the missing migrations to the databases. mercat serve does the same when it starts. It is safe to run both at once.',
    )
    .option(
      '--contract',
      'also apply the migrations that stop earlier versions from working: use it when no process of an earlier version runs any more',
    )
    .option(
      '--json',
      'print the names of the applied migrations as one JSON value, {"main": [names], "indexer": [names]}',
    )
    .action((options) => runMigrate(options, io));
};

async function runMigrate({ json, contract }: { json?: true; contract?: true }, { stdout }: CommandIo): Promise<void> {
  const { openDatabases } = await import('../platform/database/open.ts');
  const { migrate } = await import('../platform/database/migrate.ts');
  const config = readConfig();
  const databases = await openDatabases(config, createLog(config.logLevel));
  try {
    const onStep = ({ schema, name, number, count, tookMs }: MigrationStep) => {
      if (json || tookMs === null) return;
      stdout.write(`${schema} ${name}: applied in ${(tookMs / 1_000).toFixed(1)} s (${number} of ${count})\n`);
    };
    const options = { onStep, ...(contract && { contracts: true }) };
    const main = await migrate(databases.main, 'main', options);
    const indexer = await migrate(databases.indexer, 'indexer', options);
    const applied = main.length + indexer.length;
    const text = applied === 0 ? 'the database is up to date' : `${applied} migrations applied`;
    stdout.write(json ? `${JSON.stringify({ main, indexer })}\n` : `${text}\n`);
  } finally {
    await databases.close();
  }
}
