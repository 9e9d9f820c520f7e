// `mercat restore`: writes the data of a backup into the databases that the settings name. No server may run on them. With `--only index` it
// writes the schema `indexer` alone, into the indexer database, while servers run on the primary.

import path from 'node:path';
import { Option } from '@commander-js/extra-typings';
import type { Config } from '../service/config.ts';
import { readConfig } from '../service/config.ts';
import { OperatorError } from '../platform/core/errors.ts';
import { createLog } from '../platform/core/log.ts';
import type { Schema } from '../platform/database/migrate.ts';
import type { Databases } from '../platform/database/open.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { describeRows, Progress } from './progress.ts';

export const defineRestore: DefineCommand = (restore, io) => {
  restore
    .description(
      'Write a backup into the databases that the settings name. It does not matter whether the backup was made from PostgreSQL ' +
        'or an embedded database, or from one database or two. Stop servers and workers first. The complete file is checked ' +
        'before anything is changed. Each database is restored in one transaction. If the restore fails or is killed, a database ' +
        'whose transaction is not complete stays as it was. A backup of an older version is brought up to date.\n\nWith --only index, ' +
        'only the index (listings, sales, tokens and what is derived from them) is written, into the database that INDEXER_DATABASE_URL ' +
        'names. This moves the index to another PostgreSQL database while servers serve the old index: stop what writes to the index, make a backup, ' +
        'restore it, then restart everything with INDEXER_DATABASE_URL.',
    )
    .argument('<file>', 'the backup file')
    .option('--replace', 'replace all data of the databases; without this option they must be empty')
    .addOption(new Option('--only <part>', 'write only this part of the backup').choices(['index'] as const))
    .option('--json', 'print {file, bytes, rows, tables: {name: rows}, createdAt, seconds} as one JSON value')
    .addHelpText(
      'after',
      '\nExamples:\n  DATABASE_URL=postgres://… mercat restore mercat-backup\n' +
        '  INDEXER_DATABASE_URL=postgres://… mercat restore mercat-backup --only index',
    )
    .action((file, options) => runRestore(path.resolve(file), options, io));
};

type Options = { replace?: true; only?: 'index'; json?: true };

async function runRestore(file: string, { replace, only, json }: Options, io: CommandIo): Promise<void> {
  const startedAt = performance.now();
  const { others: otherConnections, ...restored } = await restoreFile(file, { replace: replace ?? false, only }, io);
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

type Part = { replace: boolean; only: 'index' | undefined };

async function restoreFile(file: string, part: Part, io: CommandIo) {
  const progress = new Progress(io.stderr);
  try {
    return await checkAndRestore(file, part, { progress, signal: io.signal });
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
  { replace, only }: Part,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
) {
  const open = only === 'index' ? toIndexOpener(readConfig()) : toOpener(readConfig());
  const { checkBackupFile } = await import('../platform/database/backup/file.ts');
  const { verifyBackup } = await import('../platform/database/backup/format.ts');
  const bytes = checkBackupFile(file);
  const { header } = await verifyBackup(file, {
    signal,
    onBytes: (done) => progress.update({ done, total: bytes, text: 'checking the file' }),
  });
  const { restoreBackup } = await import('../platform/database/backup/restore.ts');
  const { databases, schemas } = await open();
  const startedAt = performance.now();
  try {
    const onProgress = (state: { table: string; rows: number; bytes: number }) => {
      const text = describeRows(state, performance.now() - startedAt);
      progress.update({ done: state.bytes, total: bytes, text });
    };
    const result = await restoreBackup(databases, file, { header, schemas, replace, signal, onProgress });
    return { bytes, createdAt: header.createdAt, ...result };
  } finally {
    await databases.close();
  }
}

type Opened = { databases: Pick<Databases, 'main' | 'indexer' | 'close'>; schemas: readonly Schema[] };

function toOpener(config: Config): () => Promise<Opened> {
  return async () => {
    const [{ openDatabases }, { SCHEMAS }] = [
      await import('../platform/database/open.ts'),
      await import('../platform/database/migrate.ts'),
    ];
    return { databases: await openDatabases(config, createLog(config.logLevel)), schemas: SCHEMAS };
  };
}

/** Opens the indexer database alone: a server may have the embedded primary open. */
function toIndexOpener({ indexerDatabaseUrl, logLevel }: Config): () => Promise<Opened> {
  if (indexerDatabaseUrl === null) {
    throw new OperatorError('--only index needs INDEXER_DATABASE_URL: the database that will have the index', {
      exitCode: 2,
    });
  }
  return async () => {
    const { openIndexer } = await import('../platform/database/open.ts');
    const indexer = await openIndexer(indexerDatabaseUrl, createLog(logLevel));
    return { databases: { main: indexer, indexer, close: () => indexer.close() }, schemas: ['indexer'] };
  };
}
