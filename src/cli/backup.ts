// `mercat backup`: writes all data to one file. If a server has the embedded database open, the server writes the file.

import path from 'node:path';
import { OperatorError } from '../core/errors.ts';
import type { BackupState } from '../database/backup/jobs.ts';
import type { BackupResult } from '../database/backup/write.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { connect } from './connect.ts';
import { withPatience } from './interruption.ts';
import { describeRows, Progress } from './progress.ts';

const BYTES_OF_MB = 1_000_000;

export const defineBackup: DefineCommand = (backup, io) => {
  backup
    .description(
      'Write both schemas, main and indexer, as they are at one moment, to one file. mercat restore writes the file into ' +
        'PostgreSQL or an embedded database. Servers may run during the backup. With PostgreSQL, they do not wait for the ' +
        'backup. With the embedded database, reads and writes wait until the backup has read the last row.\n\nThe file ' +
        'contains the secrets that sign webhooks and cursors. They are encrypted if they are encrypted in the database ' +
        '(mercat secrets list shows this), and otherwise in clear text. Only the owner of the file can read it. The file has a ' +
        'temporary name until it is complete.',
    )
    .argument('<file>', 'the file to write')
    .option('--force', 'replace an existing file when the new file is complete')
    .option(
      '--json',
      'print {file, bytes, rows, tables: {name: rows}, createdAt, seconds, newerMigrations} as one JSON value',
    )
    .addHelpText('after', '\nExample:\n  mercat backup mercat-backup')
    .action((file, options) => runBackup(path.resolve(file), options, io));
};

async function runBackup(file: string, { force, json }: { force?: true; json?: true }, io: CommandIo): Promise<void> {
  const result = await writeBackup({ file, force: force ?? false }, io);
  // A running server may have made the backup. If its version is earlier, the result lacks `newerMigrations`.
  const { newerMigrations = [] } = result as Partial<BackupResult>;
  if (newerMigrations.length > 0) {
    io.stderr.write(
      `mercat: only a newer version can restore this backup: this version does not have the migrations ${newerMigrations.join(', ')} of the database\n`,
    );
  }
  io.stdout.write(json ? `${JSON.stringify(result)}\n` : describeBackup(result));
}

async function writeBackup(target: { file: string; force: boolean }, io: CommandIo): Promise<BackupResult> {
  // A backup must not change the databases, so no migrations are applied.
  await using service = await connect(withPatience(io.signal), { migrate: false, bypassServer: true });
  const progress = new Progress(io.stderr);
  const startedAt = performance.now();
  try {
    let state = (await service.call('backup.start', target)) as BackupState;
    while (state.result === null && state.failure === null) {
      if (io.signal.aborted) await service.call('backup.stop', {});
      state = (await service.call('backup.read', {})) as BackupState;
      progress.update({ done: 0, total: null, text: describeRows(state, performance.now() - startedAt) });
    }
    if (state.result === null) throw new OperatorError(state.failure ?? 'no backup was written');
    return state.result;
  } finally {
    progress.clear();
  }
}

function describeBackup({ file, bytes, rows, tables, seconds }: BackupResult): string {
  const megabytes = (bytes / BYTES_OF_MB).toFixed(1);
  return `${rows} rows of ${Object.keys(tables).length} tables in ${file}, ${megabytes} MB, in ${seconds} s\n`;
}
