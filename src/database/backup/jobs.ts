// Runs backups for commands, in a running server or in the command's own process. A process runs one backup at a time. A backup is stopped
// when its command no longer reads its state.

import path from 'node:path';
import { OperatorError, describeError } from '../../core/errors.ts';
import { isDoneWithin } from '../../resilience/deadline.ts';
import type { BackupProgress, BackupResult } from './write.ts';
import { writeBackup } from './write.ts';
import type { Database } from '../port.ts';

/** `result` and `failure` are both null while the backup is being written. `failure` is a message for the operator. */
export type BackupState = BackupProgress & { result: BackupResult | null; failure: string | null };

type Input = Readonly<Record<string, unknown>>;

/** `backup.read` waits at most this long for the end of the backup before it returns the state. */
const READ_WAIT_MS = 200;
/**
 * A backup whose state was not read for this long is stopped, because its command was probably killed. On the embedded engine, all other
 * statements wait for a backup.
 */
const UNREAD_MS_MAX = 30_000;

export type BackupJobsOptions = {
  databases: { main: Database; indexer: Database };
  /** The version of the program. */
  service: string;
  unreadMsMax?: number;
};

export class BackupJobs {
  readonly #options: BackupJobsOptions;
  #latest: BackupJob | null = null;

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
    this.#latest = new BackupJob(this.#options, { file, force: force === true });
    return this.#latest.state;
  }

  async #read(): Promise<BackupState> {
    const job = this.#latest;
    if (!job) throw new OperatorError('the backup is lost: the server was restarted while it was being written');
    return job.read();
  }

  async #stop(): Promise<null> {
    await this.#latest?.stop();
    return null;
  }
}

class BackupJob {
  readonly state: BackupState = { table: '', rows: 0, bytes: 0, result: null, failure: null };
  readonly #unreadMsMax: number;
  readonly #stopping = new AbortController();
  #readAt = performance.now();
  readonly #ended: Promise<void>;

  constructor(
    { unreadMsMax = UNREAD_MS_MAX, ...options }: BackupJobsOptions,
    target: { file: string; force: boolean },
  ) {
    this.#unreadMsMax = unreadMsMax;
    this.#ended = this.#run(options, target);
  }

  isRunning(): boolean {
    return this.state.result === null && this.state.failure === null;
  }

  /** Waits up to READ_WAIT_MS for the end of the backup, then returns its state. */
  async read(): Promise<BackupState> {
    this.#readAt = performance.now();
    await isDoneWithin(this.#ended, READ_WAIT_MS);
    return this.state;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run({ databases, service }: BackupJobsOptions, target: { file: string; force: boolean }): Promise<void> {
    const { signal } = this.#stopping;
    const onProgress = (progress: BackupProgress) => {
      Object.assign(this.state, progress);
      if (performance.now() - this.#readAt > this.#unreadMsMax) this.#stopping.abort();
    };
    try {
      this.state.result = await writeBackup(databases, target, { service, signal, onProgress });
    } catch (error) {
      if (signal.aborted) this.state.failure = 'stopped: no backup was written';
      else if (error instanceof OperatorError) this.state.failure = error.message;
      else this.state.failure = `no backup was written: ${describeError(error)}`;
    }
  }
}
