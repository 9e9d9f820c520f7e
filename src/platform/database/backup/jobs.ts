// Runs backups for commands, in a running server or in the command's own process. A process runs one backup at a time. A backup is stopped
// when the command that started it no longer reads the state of the backup.

import path from 'node:path';
import { describeError, OperatorError } from '../../core/errors.ts';
import type { Database } from '../port.ts';
import type { JobState } from '../watched-job.ts';
import { WatchedJob } from '../watched-job.ts';
import type { BackupProgress, BackupResult } from './write.ts';
import { writeBackup } from './write.ts';
import { insertBackup } from './record.ts';

/** `notRecorded`: why the backup could not be recorded in the database. Null if it was recorded. */
export type BackupReport = BackupResult & { notRecorded: string | null };

export type BackupState = JobState<BackupProgress, BackupReport>;

type Input = Readonly<Record<string, unknown>>;

export type BackupJobsOptions = {
  databases: { main: Database; indexer: Database };
  /** The version of the program. */
  service: string;
  /** A backup is stopped after this many milliseconds without a read of its state. On the embedded engine, all other statements wait for a backup. */
  unreadMsMax?: number;
};

export class BackupJobs {
  readonly #options: BackupJobsOptions;
  #latest: WatchedJob<BackupProgress, BackupReport> | null = null;

  /** The operations of the local socket. The input of `backup.start` has `file` and `force`. */
  readonly operations: Readonly<Record<string, (input: Input) => Promise<unknown>>> = {
    'backup.start': (input) => this.#start(input),
    'backup.read': () => this.#read(),
    'backup.stop': () => this.#stop(),
  };

  constructor(options: BackupJobsOptions) {
    this.#options = options;
  }

  /** Stops the current backup, and removes its incomplete file. */
  async close(): Promise<void> {
    await this.#stop();
  }

  async #start({ file, force }: Input): Promise<BackupState> {
    if (typeof file !== 'string' || !path.isAbsolute(file) || file.includes('\0')) {
      throw new OperatorError('the file of a backup has to be an absolute path', { exitCode: 2 });
    }
    if (this.#latest?.isRunning()) throw new OperatorError('another backup is being written: wait for its end');
    const { databases, service, unreadMsMax } = this.#options;
    const target = { file, force: force === true };
    this.#latest = new WatchedJob<BackupProgress, BackupReport>({
      initial: { table: '', rows: 0, bytes: 0 },
      run: async (control) => {
        const result = await writeBackup(databases, target, { service, ...control });
        const recorded = insertBackup(databases.main, { at: result.createdAt, bytes: result.bytes, rows: result.rows });
        // A backup of a server that accepts no writes, or that a newer version has not migrated, is complete all the same.
        const notRecorded = await recorded.then(() => null, describeError);
        return { ...result, notRecorded };
      },
      describeStop: 'stopped: no backup was written',
      describeFailure: (reason) => `no backup was written: ${reason}`,
      unreadMsMax,
    });
    return this.#latest.state;
  }

  async #read(): Promise<BackupState> {
    const job = this.#latest;
    if (!job)
      throw new OperatorError('the backup is lost: the server was restarted while the backup was being written');
    return job.read();
  }

  async #stop(): Promise<null> {
    await this.#latest?.stop();
    return null;
  }
}
