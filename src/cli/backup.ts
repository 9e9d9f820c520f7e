// `mercat backup`: writes all data to one file, to a new file of a folder, or to standard output. If a server has the embedded database open,
// the server writes the file.

import { existsSync, rmSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { readConfig } from '../service/config.ts';
import { describeError, OperatorError } from '../platform/core/errors.ts';
import type { BackupReport, BackupState } from '../platform/database/backup/jobs.ts';
import { BackupFolder, makeDraftFolder, removeAbandonedDrafts, timeOf } from './backup-folder.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { connect } from './connect.ts';
import { withPatience } from './interruption.ts';
import { describeRows, Progress } from './progress.ts';

const BYTES_OF_MB = 1_000_000;
const HOUR_MS = 3_600_000;
/** `setTimeout` waits for about 24.8 days at most. */
const EVERY_HOURS_MAX = 24 * 14;
/** After a failed backup of `--every`, the next one begins after this time, or earlier if it is due earlier. */
const RETRY_MS = 10 * 60_000;
const STDOUT = '-';

type Options = { force?: true; json?: true; keep?: number; every?: number };

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
    .argument(
      '<target>',
      'the file to write; a folder, in which the file is named by the time; or - for standard output',
    )
    .option('--force', 'replace an existing file when the new file is complete')
    .option(
      '--keep <n>',
      'with a folder: then remove the backups of this service (SERVICE_NAME) except the newest n',
      parseKeep,
    )
    .option('--every <hours>', 'with a folder: go on, and write a backup every so many hours', parseEvery)
    .option(
      '--json',
      'print {file, bytes, rows, tables: {name: rows}, createdAt, seconds, newerMigrations, notRecorded} as one JSON value',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  mercat backup mercat-backup\n  mercat backup /srv/backup --keep 30\n  mercat backup - > mercat-backup',
    )
    .action((target, options) => runBackup(target, options, io));
};

function parseKeep(value: string): number {
  if (/^[1-9]\d{0,4}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a number of backups, at least 1.');
}

function parseEvery(value: string): number {
  if (/^[1-9]\d{0,2}$/.test(value) && Number(value) <= EVERY_HOURS_MAX) return Number(value);
  throw new InvalidArgumentError(`It must be a number of hours from 1 to ${EVERY_HOURS_MAX}.`);
}

async function runBackup(target: string, options: Options, io: CommandIo): Promise<void> {
  const isFolder = target !== STDOUT && existsSync(target) && statSync(target).isDirectory();
  if (!isFolder && (options.keep !== undefined || options.every !== undefined)) {
    throw new OperatorError(`--keep and --every need a folder that exists: ${target} is none`, { exitCode: 2 });
  }
  if (target === STDOUT) return backUpToStdout(options, io);
  const resolved = path.resolve(target);
  if (!isFolder) return report(await writeBackup({ file: resolved, force: options.force ?? false }, io), options, io);
  if (options.every === undefined) return backUpInto(resolved, options, io);
  return backUpEvery(options.every * HOUR_MS, resolved, options, io);
}

async function backUpInto(folder: string, options: Options, io: CommandIo): Promise<void> {
  const backups = new BackupFolder(folder, readConfig().serviceName);
  if (options.keep !== undefined) backups.removeAbandoned(Date.now());
  const file = backups.fileAt(Date.now());
  report(await writeBackup({ file, force: options.force ?? false }, io), options, io);
  const { past, future } = backups.list(Date.now());
  if (future.length > 0) {
    io.stderr.write(
      `mercat: the names of ${future.length} backups in ${folder} are of a time that is still to come, such as ${future[0]}: they are neither counted nor removed\n`,
    );
  }
  if (options.keep !== undefined) backups.remove(past.slice(0, -options.keep));
}

/**
 * Writes a backup when the newest one of the folder is `everyMs` old, until the command is interrupted. A failure is printed. No wait is
 * longer than `everyMs`, because backups of the future, which a wrong clock has named, do not count.
 */
async function backUpEvery(everyMs: number, folder: string, options: Options, io: CommandIo): Promise<void> {
  const backups = new BackupFolder(folder, readConfig().serviceName);
  while (!io.signal.aborted) {
    const now = Date.now();
    const newest = backups.list(now).past.at(-1);
    const dueMs = newest === undefined ? 0 : timeOf(newest) + everyMs - now;
    if (dueMs > 0) await delay(dueMs, null, { signal: io.signal }).catch(() => null);
    else {
      try {
        await backUpInto(folder, options, io);
      } catch (error) {
        if (!(error instanceof OperatorError) || io.signal.aborted) throw error;
        io.stderr.write(`mercat: ${describeError(error)}\n`);
        await delay(Math.min(RETRY_MS, everyMs), null, { signal: io.signal }).catch(() => null);
      }
    }
  }
}

/**
 * Only a complete file is sent, because a server that has the embedded database open writes the file itself. Its name is removed before it is
 * sent, so that a command that is killed while it sends leaves nothing.
 */
async function backUpToStdout(options: Options, io: CommandIo): Promise<void> {
  if ('isTTY' in io.stdout && io.stdout.isTTY === true) {
    throw new OperatorError('a backup is not text: redirect standard output to a file or a program', { exitCode: 2 });
  }
  const { dataDir } = readConfig();
  const hasDataDir = existsSync(dataDir);
  if (hasDataDir) removeAbandonedDrafts(dataDir, Date.now());
  const folder = makeDraftFolder(hasDataDir ? dataDir : os.tmpdir());
  let result: BackupReport;
  let complete: FileHandle;
  try {
    result = await writeBackup({ file: path.join(folder, 'mercat-backup'), force: false }, io);
    complete = await open(result.file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  await pipeline(complete.createReadStream(), io.stdout, { signal: io.signal, end: false });
  report({ ...result, file: STDOUT }, options, { ...io, stdout: io.stderr });
}

function report(
  result: BackupReport,
  { json }: Options,
  { stdout, stderr }: Pick<CommandIo, 'stdout' | 'stderr'>,
): void {
  // A running server may have made the backup. If its version is earlier, the result lacks these fields.
  const { newerMigrations = [], notRecorded = null } = result as Partial<BackupReport>;
  if (newerMigrations.length > 0) {
    stderr.write(
      `mercat: only a newer version can restore this backup: this version does not have the migrations ${newerMigrations.join(', ')} of the database\n`,
    );
  }
  if (notRecorded !== null) {
    stderr.write(`mercat: mercat status does not show this backup, because it could not be recorded: ${notRecorded}\n`);
  }
  stdout.write(json ? `${JSON.stringify(result)}\n` : describeBackup(result));
}

async function writeBackup(target: { file: string; force: boolean }, io: CommandIo): Promise<BackupReport> {
  // A backup applies no migrations.
  await using service = await connect(withPatience(io.signal), { migrations: 'ignore', bypassServer: true });
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

function describeBackup({ file, bytes, rows, tables, seconds }: BackupReport): string {
  const megabytes = (bytes / BYTES_OF_MB).toFixed(1);
  return `${rows} rows of ${Object.keys(tables).length} tables in ${file}, ${megabytes} MB, in ${seconds} s\n`;
}
