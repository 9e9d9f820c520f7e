// `mercat restore`: writes the data of a backup into the databases that the settings name. No server may run on them.

import path from 'node:path';
import { readConfig } from '../config.ts';
import { OperatorError } from '../core/errors.ts';
import { createLog } from '../core/log.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { describeRows, Progress } from './progress.ts';

export const defineRestore: DefineCommand = (restore, io) => {
  restore
    .description(
      'Write a backup into the databases that the settings name. It does not matter whether the backup was made from PostgreSQL ' +
        'or an embedded database, or from one database or two. Stop servers and workers first. The complete file is checked ' +
        'before anything is changed. Each database is restored in one transaction. If the restore fails or is killed, a database ' +
        'whose transaction is not complete stays as it was. A backup of an older version is brought up to date.',
    )
    .argument('<file>', 'the backup file')
    .option('--replace', 'replace all data of the databases; without this option they must be empty')
    .option('--json', 'print {file, bytes, rows, tables: {name: rows}, createdAt, seconds} as one JSON value')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://… mercat restore mercat-backup')
    .action((file, options) => runRestore(path.resolve(file), options, io));
};

type Options = { replace?: true; json?: true };

async function runRestore(file: string, { replace, json }: Options, io: CommandIo): Promise<void> {
  const startedAt = performance.now();
  const { others: otherConnections, ...restored } = await restoreFile(file, replace ?? false, io);
  if (otherConnections > 0) {
    io.stderr.write(
      `mercat: ${otherConnections} other connections of mercat are open: restart the servers and workers that run on this database\n`,
    );
  }
  const seconds = Math.round(performance.now() - startedAt) / 1_000;
  const { rows, tables, createdAt } = restored;
  io.stdout.write(
    json
      ? `${JSON.stringify({ file, ...restored, seconds })}\n`
      : `${rows} rows of ${Object.keys(tables).length} tables restored as they were at ${createdAt}, in ${seconds} s\n`,
  );
}

async function restoreFile(file: string, replace: boolean, io: CommandIo) {
  const progress = new Progress(io.stderr);
  try {
    return await checkAndRestore(file, replace, { progress, signal: io.signal });
  } catch (error) {
    if (io.signal.aborted && !(error instanceof OperatorError)) {
      throw new OperatorError('stopped: nothing was changed', { cause: error });
    }
    throw error;
  } finally {
    progress.clear();
  }
}

async function checkAndRestore(
  file: string,
  replace: boolean,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
) {
  const { checkBackupFile } = await import('../database/backup/file.ts');
  const { verifyBackup } = await import('../database/backup/format.ts');
  const config = readConfig();
  const bytes = checkBackupFile(file);
  const { header } = await verifyBackup(file, {
    signal,
    onBytes: (done) => progress.update({ done, total: bytes, text: 'checking the file' }),
  });
  const { openDatabases } = await import('../database/open.ts');
  const { restoreBackup } = await import('../database/backup/restore.ts');
  const databases = await openDatabases(config, createLog(config.logLevel));
  const startedAt = performance.now();
  try {
    const onProgress = (state: { table: string; rows: number; bytes: number }) => {
      const text = describeRows(state, performance.now() - startedAt);
      progress.update({ done: state.bytes, total: bytes, text });
    };
    const result = await restoreBackup(databases, file, { header, replace, signal, onProgress });
    return { bytes, createdAt: header.createdAt, ...result };
  } finally {
    await databases.close();
  }
}
