// Backups as the commands ask for them: begun, watched and stopped by name, in a running server or in the command's own process.
// One at a time. It must never go on with one that nobody waits for.

import path from 'node:path';
import { OperatorError, describeError } from '../../core/errors.ts';
import { isDoneWithin } from '../../resilience/deadline.ts';
import type { BackupProgress, BackupResult } from './write.ts';
import { writeBackup } from './write.ts';
import type { Database } from '../port.ts';

/** How a backup is doing. `failure` is what the operator has to mend. */
export type BackupState = BackupProgress & { result: BackupResult | null; failure: string | null };

export type BackupJobs = {
  /** `backup.start` {file, force}, `backup.read`, which answers at the latest after a moment, and `backup.stop`. */
  operations: Readonly<Record<string, (input: Readonly<Record<string, unknown>>) => Promise<unknown>>>;
  /** Stops the one under way; nothing of it is left behind. */
  close(): Promise<void>;
};

/** How long `backup.read` waits for the end. */
const READ_WAIT_MS = 200;
/** A backup whose command was killed is stopped: on the embedded engine everybody waits for it. */
const UNREAD_MS_MAX = 30_000;

type Job = { state: BackupState; readAt: number; ended: Promise<void>; stop: () => void };

export function createBackupJobs(
  databases: { main: Database; indexer: Database },
  { service, unreadMsMax = UNREAD_MS_MAX }: { service: string; unreadMsMax?: number },
): BackupJobs {
  let latest: Job | null = null;

  const start = async (input: Readonly<Record<string, unknown>>) => {
    const { file, force } = input;
    if (typeof file !== 'string' || !path.isAbsolute(file) || file.includes('\0')) {
      throw new OperatorError('the file of a backup has to be an absolute path', { exitCode: 2 });
    }
    if (latest && latest.state.result === null && latest.state.failure === null) {
      throw new OperatorError('another backup is being written: wait for its end');
    }
    latest = startJob(databases, { file, force: force === true }, { service, unreadMsMax });
    return latest.state;
  };

  const read = async () => {
    const job = latest;
    if (!job) throw new OperatorError('the backup is gone: the server was started again meanwhile');
    job.readAt = performance.now();
    await isDoneWithin(job.ended, READ_WAIT_MS);
    return job.state;
  };

  const stop = async () => {
    latest?.stop();
    await latest?.ended;
    return null;
  };
  return {
    operations: { 'backup.start': start, 'backup.read': read, 'backup.stop': stop },
    close: async () => void (await stop()),
  };
}

function startJob(
  databases: { main: Database; indexer: Database },
  target: { file: string; force: boolean },
  { service, unreadMsMax }: { service: string; unreadMsMax: number },
): Job {
  const stopping = new AbortController();
  const state: BackupState = { table: '', rows: 0, bytes: 0, result: null, failure: null };
  const onProgress = (progress: BackupProgress) => {
    Object.assign(state, progress);
    if (performance.now() - job.readAt > unreadMsMax) stopping.abort();
  };
  const run = async () => {
    try {
      state.result = await writeBackup(databases, target, { service, signal: stopping.signal, onProgress });
    } catch (error) {
      if (stopping.signal.aborted) state.failure = 'stopped: no backup was written';
      else if (error instanceof OperatorError) state.failure = error.message;
      else state.failure = `no backup was written: ${describeError(error)}`;
    }
  };
  const job: Job = {
    state,
    readAt: performance.now(),
    ended: Promise.resolve(),
    stop: () => stopping.abort(),
  };
  job.ended = run();
  return job;
}
