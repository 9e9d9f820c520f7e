// `mercat backup`: writes everything in the databases to one file, through the running server where the embedded database is its.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { readConfig } from '../config.ts';
import type { BackupState } from '../database/backup/jobs.ts';
import { BackupJobs } from '../database/backup/jobs.ts';
import { openDatabases } from '../database/open.ts';
import { OperatorError } from '../core/errors.ts';
import { createLog } from '../core/log.ts';
import { readVersion } from '../version.ts';
import type { Command, CommandIo } from './command.ts';
import { parseUsage } from './command.ts';
import { callServer } from './connect-operator.ts';
import { createProgress } from './progress.ts';
import { reachData } from './connect.ts';

const HELP = `Usage: mercat backup FILE [--force] [--json]

Writes both schemas, main and indexer, as they are at one moment, to one file, from which mercat restore fills PostgreSQL or
an embedded database. May run beside servers. On PostgreSQL they go on as ever; on the embedded database reads and writes
wait until the last row was read.

The file holds secrets (those that sign webhooks and cursors): only its owner may read it. It has its name once it is whole.

  --force   replace FILE, once the new one is whole
  --json    print {file, bytes, rows, tables: {name: rows}, createdAt, seconds}
`;

const BYTES_OF_MB = 1_000_000;

export const backupCommand: Command = {
  name: 'backup',
  summary: 'write everything in the databases to one file',
  help: HELP,
  run: async (args, io) => {
    const { values, positionals } = parseUsage(backupCommand, () =>
      parseArgs({
        args,
        allowPositionals: true,
        options: { force: { type: 'boolean' }, json: { type: 'boolean' } },
      }),
    );
    const [file, ...rest] = positionals;
    if (!file || rest.length > 0) throw new OperatorError('say one FILE; see mercat backup --help', { exitCode: 2 });
    const { result, failure } = await run({ file: path.resolve(file), force: values.force ?? false }, io);
    if (!result) throw new OperatorError(failure ?? 'no backup was written');
    const { bytes, rows, tables, seconds } = result;
    const megabytes = (bytes / BYTES_OF_MB).toFixed(1);
    io.stdout.write(
      values.json
        ? `${JSON.stringify(result)}\n`
        : `${rows} rows of ${Object.keys(tables).length} tables in ${result.file}, ${megabytes} MB, in ${seconds} s\n`,
    );
    return 0;
  },
};

async function run(target: { file: string; force: boolean }, { stderr, signal }: CommandIo): Promise<BackupState> {
  const { call, close } = await reachBackups();
  const progress = createProgress(stderr);
  const startedAt = performance.now();
  try {
    let state = (await call('backup.start', target)) as BackupState;
    while (state.result === null && state.failure === null) {
      if (signal.aborted) await call('backup.stop', {});
      state = (await call('backup.read', {})) as BackupState;
      progress.update({ done: 0, total: null, words: toWords(state, performance.now() - startedAt) });
    }
    return state;
  } finally {
    progress.clear();
    await close();
  }
}

export function toWords({ table, rows }: { table: string; rows: number }, ms: number): string {
  if (rows === 0) return 'preparing';
  return `${rows} rows, ${Math.round((rows / Math.max(1, ms)) * 1_000)} rows a second, ${table}`;
}

type Reached = { call: (operation: string, input: object) => Promise<unknown>; close: () => Promise<void> };

async function reachBackups(): Promise<Reached> {
  const config = readConfig();
  // PostgreSQL is there for everyone; the embedded database is the server's while one runs.
  if (config.databaseUrl !== null) return inThisProcess(await openAsTheyAre(config));
  const reached = await reachData(openAsTheyAre);
  if (!reached.server) return inThisProcess(reached);
  return {
    call: (operation, input) => callServer(reached.socketPath, operation, input),
    close: () => Promise.resolve(),
  };
}

function inThisProcess({ databases }: Awaited<ReturnType<typeof openAsTheyAre>>): Reached {
  const jobs = new BackupJobs({ databases, service: readVersion() });
  return {
    call: async (operation, input) => jobs.operations[operation]?.({ ...input }),
    close: async () => {
      await jobs.close();
      await databases.close();
    },
  };
}

/** Whoever backs up wants what there is: nothing is made or migrated. */
async function openAsTheyAre(config: Config) {
  if (config.databaseUrl === null && !existsSync(path.join(config.dataDir, 'db'))) {
    throw new OperatorError(`there is no database in ${config.dataDir}: DATA_DIR or DATABASE_URL says where it is`);
  }
  const log = createLog(config.logLevel);
  return { config, log, databases: await openDatabases(config, log) };
}
