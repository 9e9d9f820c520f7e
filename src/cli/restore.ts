// `mercat restore`: puts a backup into the databases that the settings name. No service may run on them.

import path from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { checkBackupFile } from '../database/backup/file.ts';
import { verifyBackup } from '../database/backup/format.ts';
import { restoreBackup } from '../database/backup/restore.ts';
import { openDatabases } from '../database/open.ts';
import { OperatorError } from '../core/errors.ts';
import { createLog } from '../core/log.ts';
import { toWords } from './backup.ts';
import type { Command, CommandIo } from './command.ts';
import { parseUsage } from './command.ts';
import { createProgress } from './progress.ts';

const HELP = `Usage: mercat restore FILE [--replace] [--json]

Puts a backup into the databases that the settings name: PostgreSQL or embedded, one or two, whichever it came from. Stop
the servers and workers first. The whole file is checked before anything is changed, and all of a database is restored in one
transaction: one that fails or is killed leaves the database as it was. A backup of an older version is brought up to date.

  --replace   put it in place of everything that the databases hold
  --json      print {file, bytes, rows, tables: {name: rows}, createdAt, seconds}
`;

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'put a backup into empty databases',
  help: HELP,
  run: async (args, io) => {
    const { values, positionals } = parseUsage(restoreCommand, () =>
      parseArgs({
        args,
        allowPositionals: true,
        options: { replace: { type: 'boolean' }, json: { type: 'boolean' } },
      }),
    );
    const [named, ...rest] = positionals;
    if (!named || rest.length > 0) throw new OperatorError('say one FILE; see mercat restore --help', { exitCode: 2 });
    const file = path.resolve(named);
    const startedAt = performance.now();
    const { others, ...restored } = await run(file, values.replace ?? false, io);
    if (others > 0) {
      io.stderr.write(
        `mercat: ${others} other connections of mercat were open: servers and workers that run on this database have to be started again\n`,
      );
    }
    const seconds = Math.round(performance.now() - startedAt) / 1_000;
    const { rows, tables, createdAt } = restored;
    io.stdout.write(
      values.json
        ? `${JSON.stringify({ file, ...restored, seconds })}\n`
        : `${rows} rows of ${Object.keys(tables).length} tables restored as they were at ${createdAt}, in ${seconds} s\n`,
    );
    return 0;
  },
};

async function run(file: string, replace: boolean, { stderr, signal }: CommandIo) {
  const config = readConfig();
  const bytes = checkBackupFile(file);
  const progress = createProgress(stderr);
  try {
    const { header } = await verifyBackup(file, {
      signal,
      onBytes: (done) => progress.update({ done, total: bytes, words: 'checking the file' }),
    });
    const databases = await openDatabases(config, createLog(config.logLevel));
    const startedAt = performance.now();
    try {
      const result = await restoreBackup(databases, file, {
        header,
        replace,
        signal,
        onProgress: (state) => {
          const words = toWords(state, performance.now() - startedAt);
          progress.update({ done: state.bytes, total: bytes, words });
        },
      });
      return { bytes, createdAt: header.createdAt, ...result };
    } finally {
      await databases.close();
    }
  } catch (error) {
    if (signal.aborted && !(error instanceof OperatorError)) throw new OperatorError('stopped: nothing was changed');
    throw error;
  } finally {
    progress.clear();
  }
}
